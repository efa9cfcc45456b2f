"""Preference pairs from anywhere: `load` for what fits in memory, `iter_pairs` for streams of any length."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..core.errors import DataError
from ..core.ids import content_id
from ..core.records import PreferencePair
from .builtin import BUILTIN, DEFAULT_SIZE, builtin_pairs
from .builtin_relevance import RELEVANCE, relevance_pairs
from .drafts import Draft, Drop, read_drafts
from .files import Row
from .readers import read_rows
from .report import MAX_DOMAINS, DataReport, Tally
from .seen import Seen
from .spec import SourceSpec
from .stratify import Positioned, sample
from .text import clean

_MADE: dict[str, Callable[[int], list[PreferencePair]]] = {BUILTIN: builtin_pairs, RELEVANCE: relevance_pairs}
"""Sources that are made on the spot."""


class Loaded(NamedTuple):
    """Pairs and the report on them."""

    pairs: list[PreferencePair]
    report: DataReport


def load(spec: SourceSpec) -> Loaded:
    """All pairs that `spec` asks for. Raises DataError when there is none or the source is broken."""
    tally = Tally(spec.source)
    return Loaded(list(iter_pairs(spec, tally)), tally.report())


def inspect(spec: SourceSpec) -> DataReport:
    """The report alone, in memory that does not grow with the pairs. Raises DataError as `load` does."""
    tally = Tally(spec.source)
    for _ in iter_pairs(spec, tally):
        pass
    return tally.report()


def iter_pairs(spec: SourceSpec, tally: Tally | None = None) -> Iterator[PreferencePair]:
    """The pairs of `spec`, one at a time; `tally.report()` afterwards says what was read.

    In the order of the source, or with a `limit` in seeded order by content. Memory does not grow with the source but
    for the hashes that find duplicates and make the data hash: about 35 bytes a pair, whatever its length (see `Seen`).
    Raises DataError as `load` does.
    """
    tally = tally if tally is not None else Tally(spec.source)
    found = _usable(spec, tally)
    if spec.limit is not None:
        chosen, left_out = sample(found, spec.limit, spec.seed)
        if left_out:
            tally.dropped["over the limit"] += left_out
        found = iter(chosen)
    for pair, position in found:
        tally.keep(pair, position)
        yield pair
    if not tally.kept():
        raise DataError(_nothing(spec, tally))


def _usable(spec: SourceSpec, tally: Tally) -> Iterator[Positioned]:
    """Normalised pairs without duplicates."""
    pairs, prompts, domains = Seen(), Seen(), set[str]()
    for draft in _drafts(spec, tally):
        if isinstance(draft, Drop):
            tally.drop(draft)
            continue
        made = _pair(spec, draft, tally)
        domains.add(made.domain if isinstance(made, PreferencePair) else "")
        if len(domains) > MAX_DOMAINS:
            raise DataError(
                f"{spec.source}: more than {MAX_DOMAINS} domains up to {draft.place} (e.g. {draft.domain!r:.60}): "
                "is the column with the domain really one?"
            )
        if isinstance(made, Drop):
            tally.drop(made)
            continue
        if not pairs.add(_key(made.id)):
            tally.drop(Drop(draft.place, "duplicate", made.id))
            continue
        if not prompts.add(_key(content_id("prompt", made.prompt))):
            tally.oddities["repeated prompt"] += 1
            if _key(content_id("pair", made.prompt, made.rejected, made.chosen)) in pairs:
                tally.oddities["contradicts another pair"] += 1
        yield Positioned(made, draft.position)


def _drafts(spec: SourceSpec, tally: Tally) -> Iterator[Draft | Drop]:
    if spec.source in _MADE:
        tally.preset = spec.source
        for pair in _MADE[spec.source](max(DEFAULT_SIZE, spec.limit or 0)):
            tally.rows += 1
            yield Draft(
                f"pair {tally.rows}",
                pair.prompt,
                1,
                pair.chosen,
                pair.rejected,
                "",
                pair.domain,
                pair.source_id,
                dict(pair.meta),
            )
        return
    rows = read_rows(spec, tally.notes)

    def counted() -> Iterator[Row]:
        for row in rows:
            tally.rows += 1
            for column, value in row.values.items():
                if value is None and (column == "id" or column.endswith("_id")):
                    tally.oddities[f"null {column}"] += 1
            yield row

    layout, drafts = read_drafts(spec, counted())
    if layout is None:
        raise DataError(f"{spec.source}: holds no rows")
    tally.preset = layout.name
    if layout.note:
        tally.notes.append(layout.note)
    yield from drafts


def _pair(spec: SourceSpec, draft: Draft, tally: Tally) -> PreferencePair | Drop:
    prompt, chosen, rejected = (clean(t, tally.oddities) for t in (draft.prompt, draft.chosen, draft.rejected))
    if draft.unusable[0]:
        return Drop(draft.place, *draft.unusable)
    for name, text in (("prompt", prompt), ("chosen answer", chosen), ("rejected answer", rejected)):
        if not text.strip():
            return Drop(draft.place, f"empty {name.split()[-1]}", name)
    if chosen.strip() == rejected.strip():
        return Drop(draft.place, "equal answers", "")
    longest = max(len(prompt), len(chosen), len(rejected))
    if spec.max_chars is not None and longest > spec.max_chars:
        return Drop(draft.place, "too long", f"{longest:,} characters")
    domain = clean(draft.domain, tally.oddities)
    if spec.domains and domain not in spec.domains:
        return Drop(draft.place, "other domain", domain)
    if not draft.source_id:
        tally.oddities["no id"] += 1
    if draft.numbers:
        tally.oddities["number as text"] += draft.numbers
    if draft.turns > 1:
        tally.oddities["several turns"] += 1
    return PreferencePair(
        id=content_id("pair", prompt, chosen, rejected),
        prompt=prompt,
        chosen=chosen,
        rejected=rejected,
        domain=domain,
        source=source_name(spec),
        source_id=clean(draft.source_id, tally.oddities),
        meta={k: clean(v, tally.oddities) for k, v in draft.meta.items()},
    )


def source_name(spec: SourceSpec) -> str:
    """The file's name without its folder, so that a pair is the same record on every machine; or the hub id."""
    local = spec.source.startswith(("/", ".", "~")) or spec.source.count("/") != 1 or Path(spec.source).exists()
    return Path(spec.source).name if local else spec.source


def _key(hex_id: str) -> int:
    return int(hex_id[:16], 16)


def _nothing(spec: SourceSpec, tally: Tally) -> str:
    reasons = ", ".join(f"{n} {reason}" for reason, n in tally.dropped.most_common())
    told = tally.report().dropped_examples
    example = next((f" (first: {places[0]})" for places in told.values() if places), "")
    wanted = f" in the domains {list(spec.domains)}" if spec.domains else ""
    return f"{spec.source}: no usable pair{wanted} among {tally.rows} rows: {reasons or 'it is empty'}{example}"
