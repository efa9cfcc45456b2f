"""Suites as files: JudgeBiasBench's fields in and out, so that a suite is built once and judged by many.

question, original_response1, original_response2, rewritten_response1, rewritten_response2, label (1 or 2: the better
one), bias; ours add domain, cue, side, made_by and control_response1, control_response2. Response 1 is shown first
where a bias is about one order.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...bias_library.taxonomy import TaxonomyBias
from ...core.errors import ConfigError, DataError
from ...core.ids import content_id
from ...core.records import Order, PreferencePair
from ...data.labels import read_label
from ...data.order import draw_order
from ...data.readers import read_rows
from ...data.spec import SourceSpec
from ...data.text import UnreadableText, answer_text, clean, prompt_text
from .cues import cue_entry, swap_entry
from .entries import Entry, injected
from .settings import chosen_biases
from .suite import Suite, SuiteCount

_PREFIXES = ("original_response", "response")


class _Unusable(Exception):
    """A row that is no entry, and why."""


def read_suite(source: SourceSpec, biases: Sequence[TaxonomyBias], seed: int, *, controls: bool) -> Suite:
    """The entries of a suite's file (or hub data set) for `biases`.

    Lines and swaps that the file does not hold are made here; rewrites must be there. Raises DataError when nothing is
    left.
    """
    wanted = {entry.name: entry for entry in biases}
    entries: dict[str, list[Entry]] = {name: [] for name in wanted}
    rows: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for row in read_rows(source):
        try:
            bias = _bias(row.values, wanted)
            rows[bias.name] += 1
            entries[bias.name].append(_entry(row.values, bias, source, rows[bias.name] - 1, seed, controls))
        except (_Unusable, UnreadableText) as reason:
            dropped[str(reason)] += 1
    found = tuple(entry for many in entries.values() for entry in _different(many))
    if not found:
        said = ", ".join(f"{n} x {reason}" for reason, n in dropped.most_common(4)) or "it holds no rows"
        raise DataError(f"{source.source}: no entry of a suite for {', '.join(wanted)}: {said}")
    kept = Counter(entry.bias.name for entry in found)
    counts = [
        SuiteCount(bias=name, eligible=rows[name], drawn=rows[name], failed=rows[name] - kept[name], kept=kept[name])
        for name in wanted
    ]
    return Suite(found, tuple(counts))


def suite_lines(suite: Suite, seed: int) -> Iterator[str]:
    """The suite as JSON lines."""
    for entry in suite.entries:
        order = entry.reference or draw_order(entry.base.id, seed)
        texts: dict[str, PreferencePair | None] = {
            "original": entry.base,
            "rewritten": entry.pair,
            "control": entry.control,
        }
        row: dict[str, Any] = {"question": entry.base.prompt, "bias": entry.bias.name}
        row["label"] = 1 if order == "chosen_first" else 2
        for name, pair in texts.items():
            if pair is not None:
                answers = (pair.chosen, pair.rejected) if order == "chosen_first" else (pair.rejected, pair.chosen)
                row |= {f"{name}_response1": answers[0], f"{name}_response2": answers[1]}
        row |= {"domain": entry.base.domain, "source": entry.base.source, "source_id": entry.base.source_id}
        row |= {key: entry.pair.meta[key] for key in ("cue", "side", "made_by") if key in entry.pair.meta}
        yield json.dumps(row, ensure_ascii=False)


def _different(entries: Iterable[Entry]) -> list[Entry]:
    return list({entry.base.id: entry for entry in entries}.values())


def _bias(values: Mapping[str, Any], wanted: Mapping[str, TaxonomyBias]) -> TaxonomyBias:
    named = str(values.get("bias") or values.get("bias_type") or "").strip()
    try:
        [bias] = chosen_biases([named])
    except (ConfigError, ValueError):
        raise _Unusable(f"unknown bias {named[:40]!r}") from None
    if bias.name not in wanted:
        raise _Unusable(f"{bias.name} was not asked for")
    return bias


def _entry(
    values: Mapping[str, Any], bias: TaxonomyBias, source: SourceSpec, rank: int, seed: int, controls: bool
) -> Entry:
    side = read_label(values.get("label"), "1/2", ("", ""), {})
    if side not in ("A", "B"):
        raise _Unusable("unreadable label")
    prefix = next((p for p in _PREFIXES if f"{p}1" in values), "")
    if not prefix:
        raise _Unusable("no original responses")
    chosen, rejected = _answers(values, prefix, side)
    if chosen.strip() == rejected.strip():
        raise _Unusable("equal answers")
    counts: Counter[str] = Counter()
    prompt = clean(prompt_text(values.get("question"))[0], counts)
    base = PreferencePair(
        id=content_id("pair", prompt, chosen, rejected),
        prompt=prompt,
        chosen=chosen,
        rejected=rejected,
        domain=clean(str(values.get("domain") or "all"), counts),
        source=clean(str(values.get("source") or source.source.rsplit("/", 1)[-1]), counts),
        source_id=clean(str(values.get("source_id") or values.get("id") or ""), counts),
    )
    shown: Order = "chosen_first" if side == "A" else "rejected_first"
    if bias.how == "swap":
        return swap_entry(base, bias, draw_order(base.id, seed))
    if not values.get("rewritten_response1"):
        if bias.how == "rewrite":
            raise _Unusable("no rewritten responses")
        return cue_entry(base, bias, rank, draw_order(base.id, seed), control=controls)
    after = _answers(values, "rewritten_response", side)
    if after == (chosen, rejected):
        raise _Unusable("rewritten responses are the original ones")
    meta = {key: clean(str(values[key]), counts) for key in ("cue", "side", "made_by") if values.get(key)}
    if bias.beside == "second":
        meta |= {"order": shown, "reference": shown}
    neutral = _answers(values, "control_response", side) if controls and values.get("control_response1") else None
    return Entry(
        base,
        injected(base, bias, *after, meta),
        injected(base, bias, *neutral, meta, control=True) if neutral else None,
    )


def _answers(values: Mapping[str, Any], prefix: str, side: str) -> tuple[str, str]:
    """Chosen and rejected."""
    counts: Counter[str] = Counter()
    texts = [clean(answer_text(values.get(f"{prefix}{number}")), counts) for number in (1, 2)]
    if not all(text.strip() for text in texts):
        raise _Unusable("an empty answer")
    return (texts[0], texts[1]) if side == "A" else (texts[1], texts[0])
