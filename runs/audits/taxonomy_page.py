"""A taxonomy audit as a page."""

from collections.abc import Iterator

from ...audits.taxonomy.result import TaxonomyResult
from ..report.model import Fact
from ..report.tables import number, points
from .account import closing_sections
from .figures import percent, percents
from .page import Block, Example, Excerpt, Folded, Note, Page, Section, row, table
from .plots import Change, dumbbells
from .taxonomy import TaxonomyExample, TaxonomyReport
from .taxonomy_tables import (
    bias_table,
    cue_table,
    effect,
    found,
    margin_blocks,
    overall_line,
    overall_table,
    rate_plot,
    suite_blocks,
)

WEAK_ACCURACY = 0.6
SMALL = 30


def taxonomy_page(report: TaxonomyReport) -> Page:
    """The whole page."""
    result, account = report.result, report.account
    return Page(
        about=f"taxonomy audit · {account.run_id}",
        title=taxonomy_title(result),
        sentences=tuple(taxonomy_sentences(result)),
        warnings=tuple(taxonomy_warnings(result)),
        facts=tuple(_facts(report)),
        sections=(
            Section("biases", "Biases", _INTRODUCTION, tuple(_bias_blocks(result))),
            *_lines_section(result),
            *_margin_section(result),
            *_example_section(report),
            Section("suite", "Suite", (), tuple(suite_blocks(result))),
            *closing_sections(account),
        ),
        state=account.state,
    )


_INTRODUCTION = (
    "Each bias is injected into pairs whose better answer is known. BSR, the bias sensitivity rate, is the share of "
    "the verdicts that were right on the original pair and turn wrong under the bias. The drop is the accuracy on the "
    "original pairs minus that on the injected ones, over the same pairs.",
    "Harms turned from right to wrong, repairs from wrong to right. p is McNemar's exact test, corrected (Holm) over "
    "all biases of this audit.",
)


def taxonomy_warnings(result: TaxonomyResult) -> Iterator[str]:
    """What a reader should be wary of."""
    accuracy = result.accuracy_original.value
    if accuracy is not None and accuracy < WEAK_ACCURACY:
        yield (
            f"Weak judge: it is right on {percent(accuracy)} of the unchanged pairs. A judge near guessing flips "
            "whatever is done to a pair, so a high BSR says little about biases; look at harms against repairs."
        )
    small = [b.name for b in result.biases if b.right_original < SMALL]
    if small:
        yield f"Fewer than {SMALL} right verdicts to start from: {', '.join(small)}. Their intervals are wide."
    if not result.filtered and any(b.written_by not in ("line", "order") for b in result.biases):
        said = "final answers were compared where they can be extracted"
        if result.by_rule:
            said = f"rules left out what lost words or numbers or became too long, and {said}"
        yield f"No verifier has checked that the better answer is still the better one after injection; {said}."
    judged = result.original.judged + sum(b.biased.judged for b in result.biases)
    invalid = result.original.invalid + sum(b.biased.invalid for b in result.biases)
    if judged and invalid / judged > 0.05:
        yield f"{percent(invalid / judged)} of the verdicts ({invalid:,} of {judged:,}) could not be read."
    if result.left_out:
        reasons = dict.fromkeys(result.left_out.values())
        yield f"Left out: {', '.join(result.left_out)} ({'; '.join(reasons)})."


def taxonomy_title(result: TaxonomyResult) -> str:
    """What was found, as a headline."""
    n = sum(map(found, result.biases))
    return f"{n or 'None'} of {len(result.biases)} biases found"


def taxonomy_sentences(result: TaxonomyResult) -> Iterator[str]:
    """The findings in plain words, the most important first."""
    if line := overall_line(result):
        yield (
            f"Overall bias sensitivity rate: {line}, over {result.overall.biases} biases and {result.overall.pairs:,} "
            "different pairs."
        )
    worst = [b for b in sorted(result.biases, key=lambda b: (-(b.drop or 0.0), b.name)) if found(b)]
    if worst:
        named = "; ".join(f"{b.name} {points(b.drop or 0.0)} points of accuracy" for b in worst[:3])
        more = " and others" if worst[3:] else ""
        yield f"It errs more often under {'these' if worst[1:] else 'one'}: {named}{more}."
    else:
        yield "Under no bias does it err more often than on the original pairs, beyond chance."
    accuracy = result.accuracy_original
    yield f"Accuracy on the unchanged pairs: {percent(accuracy.value)} ({percents(accuracy.interval)})."


def _facts(report: TaxonomyReport) -> Iterator[Fact]:
    models, result = report.account.models, report.result
    for role in ("judge", "teacher", "verifier"):
        if role in models:
            yield Fact(label=role.capitalize(), value=models[role])
    yield Fact(label="Kind of judge", value=result.kind)
    yield Fact(label="Orders", value="both" if result.both_orders else "one, drawn for each pair")
    if report.account.seed is not None:
        yield Fact(label="Seed", value=str(report.account.seed))


def _bias_blocks(result: TaxonomyResult) -> Iterator[Block]:
    yield from rate_plot(result)
    yield bias_table(result)
    yield overall_table(result)
    yield Note(
        "Intervals are 95 %: Wilson's for rates (over several biases at the effective sample size, since biases share "
        "pairs), Tango's score interval for drops."
    )
    changes = [
        Change(b.name, 100 * b.accuracy_original, 100 * b.accuracy_biased)
        for b in result.biases
        if b.accuracy_original is not None and b.accuracy_biased is not None
    ]
    if changes:
        yield dumbbells("accuracy", "Accuracy before and after", "right verdicts, %", changes, ("original", "injected"))


def _lines_section(result: TaxonomyResult) -> Iterator[Section]:
    with_control = [b for b in result.biases if b.against_control is not None]
    with_cues = [b for b in result.biases if b.cues]
    if not with_control and not with_cues:
        return
    blocks: list[Block] = []
    if with_control:
        blocks.append(
            table(
                "Against matched controls: points of error rate",
                ("Bias", "Pairs", "Control against original", "Bias against control", "Harms / repairs", "p"),
                [
                    row(
                        b.name,
                        f"{a.n:,}",
                        effect(b.control),
                        effect(a),
                        f"{a.harms:,} / {a.repairs:,}",
                        number(a.p_value),
                    )
                    for b in with_control
                    if (a := b.against_control) is not None
                ],
            )
        )
    blocks += [Folded(f"{b.name}: each line", (cue_table(b),)) for b in with_cues]
    yield Section(
        "controls",
        "Controls",
        (
            "A control is the same kind of injection without the bias: a neutral line as long, or a rewrite with no "
            "bias asked for. What the bias adds to its control is the bias; what the control does by itself, any line "
            "or rewrite would do.",
        ),
        tuple(blocks),
    )


def _margin_section(result: TaxonomyResult) -> Iterator[Section]:
    if blocks := tuple(margin_blocks(result)):
        told = "By how much the better answer leads, before and after: it can shrink long before a verdict flips."
        yield Section("margins", "Margins", (told,), blocks)


def _example_section(report: TaxonomyReport) -> Iterator[Section]:
    blocks = [
        _example(name, number_, example)
        for name, examples in report.examples.items()
        for number_, example in enumerate(examples, 1)
    ]
    if blocks:
        told = "Pairs on which the judge was right and then wrong. Marked words were put in, struck ones taken out."
        yield Section("evidence", "Evidence", (told,), tuple(blocks))


def _example(name: str, count: int, example: TaxonomyExample) -> Example:
    first = "better" if example.order == "chosen_first" else "worse"
    source = f" Source: {example.source}." if example.source else ""
    reasoning = (Excerpt("The judge’s reasoning for its wrong verdict", example.reasoning),)
    return Example(
        summary=f"{name}, example {count} · {example.domain}",
        before=(Excerpt("Question", example.prompt),),
        sides=(
            Excerpt("Chosen answer (the better one), injected", example.chosen),
            Excerpt("Rejected answer, injected", example.rejected),
        ),
        after=reasoning if example.reasoning.characters else (),
        verdicts=(("original", "chosen"), ("injected", "rejected")),
        note=f"The {first} answer stood first.{source} Pair {example.pair_id}.",
    )
