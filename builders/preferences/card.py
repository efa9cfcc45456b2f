"""The card of a training set: what it holds, what was left out and why, lengths, shortcuts, and what it is for."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...core.words import word_count
from ...data.card import Card, Section, Table, card_markdown
from ...data.contamination import prompt_key
from ..benchmark.funnel import Funnel
from ..shortcuts import AuditPair, ShortcutAudit, audit_shortcuts, shortcut_section
from .staging import Written
from .units import Row, file_names

CARD = "README.md"
STEP_NAMES = ("not like a test pair or an earlier pair", "made", "kept by the selection")
"""The steps of the funnel, as they are shown."""
TAGS = ("llm-as-a-judge", "bias", "preference", "biasscope")


@dataclass(frozen=True)
class Making:
    """How the set was made, for its card."""

    title: str
    run_id: str
    version: str
    seed: int
    licence: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    """Test sets that it was kept clear of."""
    biases: Mapping[str, tuple[str, str]]
    """Name and definition by id."""
    models: Mapping[str, str]
    """By role."""
    settings: Mapping[str, object]
    purpose: str


class Side(NamedTuple):
    """One comparison that the set teaches."""

    prompt: str
    better: str
    worse: str
    bias: str
    first: bool | None
    """Whether the better one stands first, in judging prompts."""


def sides(folder: Path, part: str) -> Iterator[Side]:
    """Every comparison in the files of a part."""
    for name in file_names(part):
        if (folder / name).exists():
            with (folder / name).open(encoding="utf-8") as handle:
                for line in handle:
                    yield from _of_row(json.loads(line))


def _of_row(row: Row) -> Iterator[Side]:
    if isinstance(row["rejected"], list) and isinstance(row["prompt"], str):
        for text, bias in zip(row["rejected"], row["biases"], strict=True):
            yield Side(row["prompt"], row["chosen"], text, bias, None)
        return
    first = row["right"] == "A" if row.get("right") else None
    yield Side(
        row["prompt"][-1]["content"], row["chosen"][0]["content"], row["rejected"][0]["content"], row["bias"], first
    )


def audit(folder: Path, part: str, seed: int) -> ShortcutAudit:
    """The shortcut audit; rows of one prompt are one group."""
    return audit_shortcuts(
        (AuditPair(s.prompt, s.better, s.worse, str(prompt_key(s.prompt)), s.first) for s in sides(folder, part)),
        seed=seed,
    )


def write_card(folder: Path, part: str, written: Written, funnel: Funnel, making: Making) -> tuple[str, ...]:
    """Write README.md; returns its warnings. `part` is the one that is audited."""
    found = audit(folder, part, making.seed)
    lengths = _lengths(folder, part)
    warnings = (*_warnings(written, making), *found.warnings())
    splits = tuple(
        (split, name)
        for split, name in zip(("train", "validation"), file_names(part), strict=True)
        if (folder / name).exists()
    )
    card = Card(
        title=making.title,
        summary=f"{sum(written.rows.values()):,} rows from {written.units.total():,} preference pairs of "
        f"{', '.join(making.sources)}. {making.purpose}",
        warnings=warnings,
        sections=(
            _files(written),
            _mixture(written, making),
            _funnel(funnel),
            lengths,
            shortcut_section(found),
            _making(making),
            _limits(),
        ),
        splits=splits,
        items=sum(written.rows.values()),
        licence=making.licence,
        sources=tuple(name for name in making.sources if name.count("/") == 1),
        tags=TAGS,
    )
    (folder / CARD).write_text(card_markdown(card, folder), encoding="utf-8")
    return warnings


def _warnings(written: Written, making: Making) -> Iterator[str]:
    if not written.units.total():
        yield "No pair is left; the reasons are under `What was left out`."
        return
    if not making.licence:
        yield "Nobody has said under which licence the source data is; ask before you share this set."
    if not making.tests:
        yield "No test set was named, so nobody knows whether test prompts are in this set."
    if not written.units["validation"]:
        yield "There is no validation part: too few prompts, or none was asked for."
    wanted, there = making.settings["original_share"], written.biases[""] / max(1, written.units.total())
    if isinstance(wanted, float) and abs(there - wanted) > 0.02:
        yield f"{100 * there:.1f} % of the pairs are as they were, where {100 * wanted:.1f} % were asked for."


def _files(written: Written) -> Section:
    rows = tuple((name, count) for name, count in sorted(written.rows.items()))
    train, validation = written.units["train"], written.units["validation"]
    counts = f"{train:,} pairs for training, {validation:,} for validation; no prompt is in both."
    return Section("Files", (counts, Table(("file", "rows"), rows)))


def _mixture(written: Written, making: Making) -> Section:
    total = max(1, written.units.total())
    rows = tuple(
        (*(making.biases.get(key, ("none: as it was", ""))), count, f"{100 * count / total:.1f}")
        for key, count in written.biases.most_common()
    )
    return Section("Biases", (Table(("bias", "definition", "pairs", "%"), rows, text=2),))


def _funnel(funnel: Funnel) -> Section:
    rows: list[tuple[str | int, ...]] = [("source pairs", funnel.pairs, "")]
    for name, step in zip(STEP_NAMES, funnel.steps, strict=True):
        rows.append((name, step.after, ", ".join(f"{count:,} {reason}" for reason, count in step.reasons.items())))
    return Section("What was left out", (Table(("step", "left over", "left out, and why"), tuple(rows)),))


def _lengths(folder: Path, part: str) -> Section:
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    for side in sides(folder, part):
        better, worse = word_count(side.better), word_count(side.worse)
        line = sums["with a bias" if side.bias else "as it was"]
        for k, value in enumerate((1, better, worse, 1.0 if better > worse else 0.5 if better == worse else 0.0)):
            line[k] += value
    rows = tuple(
        (name, f"{n:,.0f}", f"{better / n:.1f}", f"{worse / n:.1f}", f"{100 * longer / n:.1f}")
        for name, (n, better, worse, longer) in sorted(sums.items())
    )
    head = ("worse side", "comparisons", "words, better side", "words, worse side", "better side longer, %")
    return Section("Lengths", ("Means. Equal lengths count half.", Table(head, rows)))


def _making(making: Making) -> Section:
    facts = (
        f"Made by BiasScope {making.version}, run {making.run_id}, seed {making.seed}.",
        *(f"{role}: {name}" for role, name in sorted(making.models.items())),
        f"Kept clear of: {', '.join(making.tests) or 'no test set'}.",
        "Settings: " + json.dumps(making.settings, ensure_ascii=False, sort_keys=True),
    )
    return Section("How it was made", (facts, f"Licence of the source data: {making.licence or 'not stated'}."))


def _limits() -> Section:
    return Section(
        "Limits",
        (
            (
                "Worse answers with a bias are written by a program or a model. That their final answer is still wrong "
                "was checked as the settings say; where it could not be read it was not.",
                "A model that is trained on this set may learn how these rewrites look and not what they are about: "
                "test it on biases, and on rewriters, that are not in the set.",
                "Training against biases can harm judging in general: compare before and after on pairs without them.",
            ),
        ),
    )
