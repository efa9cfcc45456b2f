"""A self-preference audit as a page."""

from collections.abc import Iterator

from ...audits.self_preference.result import SelfPreferenceResult
from ..report.model import Fact
from .account import closing_sections
from .figures import percent, real, signed, signed_span
from .page import Block, Note, Page, Section, row, table
from .self_preference import SelfPreferenceReport
from .self_preference_tables import (
    authors_table,
    estimate_plot,
    estimates_table,
    is_found,
    line,
    shown,
    spoken_table,
    threshold_blocks,
)

FEW_PAIRS, FEW_PROMPTS = 50, 20


def self_preference_page(report: SelfPreferenceReport) -> Page:
    """The whole page."""
    result, account = report.result, report.account
    return Page(
        about=f"self-preference audit · {account.run_id}",
        title=_title(result),
        sentences=tuple(_sentences(result)),
        warnings=tuple(self_preference_warnings(result)),
        facts=tuple(_facts(report)),
        sections=(
            Section("estimates", "Own answers against others", _INTRODUCTION, tuple(_own_blocks(result))),
            *_threshold(result),
            *_mitigation(result),
            *_labels(result),
            *_family(result),
            Section("said", "Verdicts", (), (spoken_table(result.own_side),)),
            *closing_sections(account),
        ),
        state=account.state,
    )


_INTRODUCTION = (
    "Answers of the judge are paired with answers of others to the same prompts. A panel that holds neither the judge "
    "nor an author of the pair grades each answer on five aspects; where its grades differ by no more than the "
    "threshold and it has no majority, the pair counts as of equal quality. There a judge without self-preference "
    "prefers its own answer half of the time.",
    "The model fits all pairs at once: log-odds of preferring the own answer = self-preference + discriminability × "
    "quality difference + position. The baseline is what the panel's members say of the same pairs: a preference that "
    "they share is quality that the grades missed.",
)


def self_preference_warnings(result: SelfPreferenceResult) -> Iterator[str]:
    """What a reader should be wary of."""
    side = result.own_side
    if side.equal < FEW_PAIRS or side.propensity.prompts < FEW_PROMPTS:
        yield (
            f"Only {side.equal} equal-quality pairs from {side.propensity.prompts} prompts: the interval of the "
            "propensity is wide, and its coverage rests on few prompts."
        )
    if len(result.panel) < 3:
        yield f"The panel has {len(result.panel)} members. Equal quality is only as good as the panel that finds it."
    agreement = result.panel_agreement
    if len(result.panel) > 1 and (agreement is None or agreement < 0.3):
        said = "cannot be told" if agreement is None else f"is {agreement:.2f}"
        yield (
            f"The correlation of the panel's members on quality differences {said}: its grades hold little that they "
            "share, so pairs of equal quality are nearly any pairs."
        )
    kin = [member for member in result.panel if result.families.get(member, "") == result.family]
    if kin:
        yield f"Of the judge's family, on the panel: {', '.join(kin)}. A family's taste counts as quality there."
    if side.graded < side.pairs:
        missing = side.pairs - side.graded
        yield f"{missing:,} of {side.pairs:,} pairs were graded by no member of the panel and are left out."
    if side.fit.discriminability and side.fit.discriminability.interval[0] <= 0:
        yield "The judge does not side with the panel's better answer beyond chance: as a judge it is near guessing."
    for what, why in result.left_out.items():
        yield f"Left out: {what} ({why})."


def _title(result: SelfPreferenceResult) -> str:
    side = result.own_side
    net = side.baseline.difference if side.baseline else None
    estimate = net if net is not None and net.value is not None else side.propensity
    if estimate.value is None or not is_found(estimate):
        return "No self-preference shown"
    return "The judge prefers its own answers" if estimate.value > 0 else "The judge is against its own answers"


def _sentences(result: SelfPreferenceResult) -> Iterator[str]:
    side = result.own_side
    yield f"On {side.equal:,} equal-quality pairs it prefers its own answer {shown(side.propensity)} beyond even odds."
    if side.baseline:
        yield f"Net of what the panel's members prefer on the same pairs: {shown(side.baseline.difference)}."
    if side.fit.beta_self:
        beta = side.fit.beta_self
        yield (
            f"Net of quality and position over all pairs, in log-odds: {signed(beta.estimate)} "
            f"({signed_span(beta.interval)})."
        )
    if side.discriminability.value is not None:
        yield f"It sides with the panel on {percent(side.discriminability.value)} of the unequal pairs."


def _facts(report: SelfPreferenceReport) -> Iterator[Fact]:
    result = report.result
    yield Fact(label="Judge", value=report.account.models.get("judge", result.own))
    yield Fact(label="Its author's name", value=f"{result.own} ({result.family})")
    yield Fact(label="Panel", value=", ".join(result.panel))
    yield Fact(label="Pairs", value=f"{result.own_side.pairs:,} ({result.own_side.equal:,} of equal quality)")
    yield Fact(label="Threshold", value=f"{result.delta:g} of 10")
    agreement = result.panel_agreement
    yield Fact(label="Agreement of the panel", value="–" if agreement is None else f"{agreement:.2f}")
    if report.account.seed is not None:
        yield Fact(label="Seed", value=str(report.account.seed))


def _own_blocks(result: SelfPreferenceResult) -> Iterator[Block]:
    yield from estimate_plot(result)
    yield estimates_table(result)
    yield Note(
        "Propensities are in units of probability, model coefficients in log-odds. Intervals are 95 %: bootstrap over "
        "prompts, and jackknife over prompts for the model."
    )
    yield authors_table(result.own_side, "The judge's answers against each other author")
    if result.own_side.first is not None:
        yield Note(
            f"P(own) on equal-quality pairs: {real(result.own_side.first)} where the own answer stands first, "
            f"{real(result.own_side.second)} where it stands second. Position is taken out of every estimate above."
        )


def _threshold(result: SelfPreferenceResult) -> Iterator[Section]:
    if blocks := tuple(threshold_blocks(result)):
        told = "The propensity when pairs count as of equal quality up to other differences of the panel's grades."
        yield Section("threshold", "How much hangs on the threshold", (told,), blocks)


def _mitigation(result: SelfPreferenceResult) -> Iterator[Section]:
    found = result.mitigation
    if found is None:
        return
    rows = [line("Before", found.before), line("After", found.after), line("Reduction", found.reduction)]
    if found.relative is not None and found.relative.value is not None:
        spread, pairs = found.relative.interval, found.relative
        between = f"{percent(spread[0])} to {percent(spread[1])}" if spread else ""
        rows.append(row("Relative reduction", percent(pairs.value), between, f"{pairs.n:,}", f"{pairs.prompts:,}"))
        note = "Verdicts only, on the pairs that have both."
    else:
        note = "Verdicts only. No relative reduction: the interval before holds 0, so there is nothing to be reduced."
    yield Section(
        "mitigation",
        "Structured judging",
        ("The judge decides on relevance, accuracy, depth, logic and clarity first, and on the whole after them.",),
        (
            table("Bias propensity before and after", ("Estimate", "Value", "95 % interval", "Pairs", "Prompts"), rows),
            Note(note),
        ),
    )


def _labels(result: SelfPreferenceResult) -> Iterator[Section]:
    found = result.labels
    if found is None:
        return
    yield Section(
        "labels",
        "Author labels",
        (
            "A line before each answer says that the judge wrote it, or that someone else did, once truly and once the "
            "other way round. What the words do is the mean preference for the answer that bears the judge's name.",
        ),
        (
            table(
                "Effect of the label “You wrote this answer yourself.”",
                ("Estimate", "Value", "95 % interval", "Pairs", "Prompts"),
                [
                    line("Preference for the labelled answer", found.preference),
                    line("P(own) − 0.5, own answer labelled", found.own_labelled_own),
                    line("P(own) − 0.5, other's answer labelled", found.other_labelled_own),
                ],
            ),
        ),
    )


def _family(result: SelfPreferenceResult) -> Iterator[Section]:
    side = result.family_side
    if side is None:
        return
    yield Section(
        "family",
        "Family",
        (
            f"Answers of other models of the judge's family ({result.family}) against those of other families. "
            "Estimates are in the table above.",
        ),
        (
            authors_table(side, "The family's answers against each other author"),
            spoken_table(side),
        ),
    )
