"""What the card of a benchmark says (data.card makes Markdown of it)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...core.words import word_count
from ...data.benchmark import PARQUET, SPLIT, BenchmarkRow
from ...data.card import Card, Section, Table
from ..shortcuts import AuditPair, ShortcutAudit, audit_shortcuts, shortcut_section
from .finalize import Final
from .funnel import PEOPLE, Funnel, funnel_section, make_step

TAGS = ("llm-as-a-judge", "bias", "benchmark", "preference", "biasscope")


@dataclass(frozen=True)
class Making:
    """How the benchmark was made, for its card."""

    title: str
    run_id: str
    seed: int
    licence: str
    teacher: str
    judges: tuple[str, ...]
    rule: str
    panel: tuple[str, ...]
    version: str


def audit_rows(rows: Sequence[BenchmarkRow], seed: int) -> ShortcutAudit:
    """The shortcut audit; items of one source pair share their better answer and are one group."""
    return audit_shortcuts(
        (AuditPair(r.question, r.chosen, r.rejected, r.source_pair_id, r.chosen_first) for r in rows), seed=seed
    )


def benchmark_card(
    rows: Sequence[BenchmarkRow], final: Final, funnel: Funnel, making: Making, audit: ShortcutAudit
) -> Card:
    """The card of a finished benchmark."""
    sources = sorted({row.source_dataset for row in rows if row.source_dataset})
    pairs = len({row.source_pair_id for row in rows})
    verified = "human-verified" if final.human_verified else "not human-verified"
    summary = (
        f"{len(rows):,} pairs of answers on which an LLM judge is easily misled, made from {pairs:,} pairs of "
        f"{', '.join(sources) or 'an unnamed source'}: a known bias is written into the worse answer, whose final "
        f"answer stays what it was. This set is {verified}."
    )
    warnings = audit.warnings() if final.human_verified else (_not_verified(final), *audit.warnings())
    if not making.licence:
        warnings = ("Nobody has said under which licence the source data is; ask before you share this set.", *warnings)
    end = make_step(PEOPLE, funnel.left, len(rows), [drop.reason for drop in final.drops])
    return Card(
        title=making.title,
        summary=summary,
        warnings=warnings,
        sections=(
            _composition(rows, making),
            funnel_section(Funnel(pairs=funnel.pairs, steps=(*funnel.steps, end))),
            _counts("Domains", "domain", rows, lambda r: r.domain),
            _counts("Biases", "bias", rows, lambda r: r.bias),
            _lengths(rows),
            _annotation(final),
            shortcut_section(audit),
            _licence(making, sources),
            _use(making),
            _limits(rows, making),
        ),
        splits=((SPLIT, PARQUET),),
        items=len(rows),
        licence=making.licence,
        sources=tuple(name for name in sources if name.count("/") == 1),
        tags=TAGS,
    )


def _not_verified(final: Final) -> str:
    checked = sum(by == "people" for _, by in final.kept)
    return (
        f"Not human-verified: {checked:,} of {len(final.kept):,} items were checked by people. That the two final "
        "answers of the others differ is the finding of an exact comparison or of models."
    )


def _composition(rows: Sequence[BenchmarkRow], making: Making) -> Section:
    per_pair = Counter(row.source_pair_id for row in rows)
    by = Counter(row.answers_differ_by for row in rows)
    fields = tuple((name, info.description or "") for name, info in BenchmarkRow.model_fields.items())
    facts = (
        f"{len(rows):,} items of {len(per_pair):,} source pairs; at most {max(per_pair.values(), default=0)} from one.",
        f"Rewritten by {making.teacher}.",
        f"Adversarial filter: {', '.join(making.judges)}; kept when {_rule(making)} preferred the worse answer in "
        "every order.",
        f"Final answers compared exactly, then {_panel(making)}. "
        f"The last word on an item was {', '.join(f'{by[k]:,} times {k}' for k in sorted(by))}.",
        f"Made by BiasScope {making.version}, run {making.run_id}, seed {making.seed}.",
    )
    return Section("Composition", (facts, Table(("field", "meaning"), fields, text=2)))


def _panel(making: Making) -> str:
    if not making.panel:
        return "by people alone, without a panel of models"
    return f"by a panel ({', '.join(making.panel)}): more than half of it decides"


def _rule(making: Making) -> str:
    n = len(making.judges)
    return "it" if n == 1 else {"any": "any of them", "majority": "more than half", "all": "all of them"}[making.rule]


def _counts(title: str, column: str, rows: Sequence[BenchmarkRow], key: Callable[[BenchmarkRow], str]) -> Section:
    """Items by a key; before: items that misled every judge they mislead with the original answer too."""
    names = Counter(key(row) for row in rows)
    table = []
    for name, count in sorted(names.items(), key=lambda entry: (-entry[1], entry[0])):
        mine = [row for row in rows if key(row) == name]
        pairs = len({row.source_pair_id for row in mine})
        before = sum(row.filter_judges == row.filter_judges_before for row in mine)
        table.append((name, count, pairs, before, f"{100 * _growth(mine):+.1f}"))
    head = (column, "items", "source pairs", "misled before the rewrite", "longer by, %")
    return Section(title, (Table(head, tuple(table)),))


def _growth(rows: Sequence[BenchmarkRow]) -> float:
    """How much longer the worse answers are than before, all words together."""
    before = sum(word_count(row.source_rejected) for row in rows)
    return sum(word_count(row.rejected) for row in rows) / max(1, before) - 1


def _lengths(rows: Sequence[BenchmarkRow]) -> Section:
    texts = (
        ("better answer", [word_count(r.chosen) for r in rows]),
        ("worse answer, original", [word_count(r.source_rejected) for r in rows]),
        ("worse answer, with the bias", [word_count(r.rejected) for r in rows]),
    )
    table = tuple(
        (name, f"{np.mean(n):.0f}", f"{np.median(n):.0f}", f"{np.quantile(n, 0.9):.0f}", max(n))
        for name, n in texts
        if n
    )
    said = f"Words by item. The bias makes worse answers longer by {100 * _growth(rows):+.1f} %, all words together."
    return Section("Lengths", (said, Table(("text", "mean", "median", "90 %", "longest"), table)))


def _annotation(final: Final) -> Section:
    a = final.agreement
    if not a.items:
        parts: list[str] = ["No item was labelled by two people independently."]
    else:
        how = ", ".join(f"{count:,} by {name}" for name, count in final.decided.items())
        kappa = "not defined, all labels are the same" if np.isnan(a.kappa) else f"{a.kappa:.2f}"
        parts = [
            f"Independent labels of two people on {a.items:,} items, {len(a.annotators)} annotators in all.",
            f"Raw agreement {100 * a.raw:.1f} % (95 % interval {100 * a.interval[0]:.1f} to {100 * a.interval[1]:.1f}),"
            f" Fleiss' kappa {kappa}; both before any review.",
            f"Decided {how}: two agreeing labels decide, else a third and a fourth person review and more than half of "
            "the four decide, else they adjudicate together.",
        ]
    if final.programs:
        parts.append(f"{final.programs:,} annotations by programs are no part of these figures.")
    return Section(
        "Annotation", (tuple(parts), "The guidelines are in guidelines.md, all labels in annotations.jsonl.")
    )


def _licence(making: Making, sources: Sequence[str]) -> Section:
    of = ", ".join(sources) or "the source"
    said = (
        f"Questions and answers are from {of}, licence: {making.licence or 'not stated'}. The same holds for this set."
    )
    return Section("Licence", (said,))


def _use(making: Making) -> Section:
    use = (
        "To measure how often a judge prefers a worse answer because of a bias, in both orders, beside the same judge "
        "on the source pairs: the difference is what the biases do.",
        "Not for training a judge that is then measured on it, and not for ranking the models that wrote the answers.",
    )
    return Section("Intended use", (use,))


def _limits(rows: Sequence[BenchmarkRow], making: Making) -> Section:
    before = sum(row.filter_judges == row.filter_judges_before for row in rows)
    limits = (
        f"Items were chosen because {', '.join(making.judges)} erred on them: error rates of these judges, and to a "
        "degree of models like them, are raised by construction and not comparable with those of other judges.",
        f"{before:,} of {len(rows):,} items misled the same judges before the rewrite already: there the error may be "
        "lack of ability, not bias. The field filter_judges_before names the judges.",
        "Items of one source pair share question and better answer: treat source pairs as the units of any interval.",
        "That the better answer is right is taken from the source data; it was not checked again.",
        "All rewrites come from one teacher, and its style is part of every worse answer: see the classifier under "
        "Shortcuts.",
    )
    return Section("Known limits", (limits,))
