"""A judge card as a page."""

from collections.abc import Iterator
from typing import Any

from ...audits.profile.result import Profile, Share
from ..report.model import Fact
from ..report.tables import DECISIONS, number, points
from .card import CardBias, DiscoveryPart, JudgeCard, Source
from .figures import percent, percents, point_span, real, signed
from .page import Block, Cell, Note, Page, Section, Table, row, table
from .self_preference_page import (
    self_preference_sentences,
    self_preference_title,
    self_preference_warnings,
)
from .self_preference_tables import estimate_plot, estimates_table
from .taxonomy_page import taxonomy_sentences, taxonomy_title, taxonomy_warnings
from .taxonomy_tables import bias_table, overall_table, rate_plot

_TITLES = {
    "reliability": "Reliability",
    "discovery": "Discovered biases",
    "taxonomy": "Twelve biases",
    "self_preference": "Self-preference",
}
_COMMANDS = {
    "reliability": "biasscope judge profile",
    "discovery": "biasscope discover",
    "taxonomy": "biasscope audit taxonomy",
    "self_preference": "biasscope audit self-preference",
}
_ACCEPTED = ("confirmed", "valid")


def card_page(card: JudgeCard) -> Page:
    """The whole page."""
    return Page(
        about="judge card",
        title=card.judge,
        sentences=tuple(_sentences(card)),
        warnings=tuple(_warnings(card)),
        facts=tuple(Fact(label=_TITLES[name], value=_in_short(card, name)) for name in _TITLES),
        sections=(
            *_reliability(card),
            *_discovery(card),
            *_taxonomy(card),
            *_self_preference(card),
            Section("runs", "Where it comes from", (), tuple(_runs(card))),
        ),
        state=next((s.state for s in _sources(card).values() if s.state != "finished"), "finished"),
    )


def summary_table(card: JudgeCard) -> Table:
    """One line for each part."""
    sources = _sources(card)
    return table(
        "Parts",
        ("Part", "In short", "Run"),
        [
            row(_TITLES[name], _in_short(card, name), sources[name].run_id if name in sources else "")
            for name in _TITLES
        ],
        ("In short", "Run"),
    )


def _sources(card: JudgeCard) -> dict[str, Source]:
    parts = {name: getattr(card, name) for name in _TITLES}
    return {name: part.source for name, part in parts.items() if part is not None}


def _in_short(card: JudgeCard, name: str) -> str:
    if name == "reliability" and card.reliability:
        return f"right on {percent(card.reliability.result.accuracy.value)}"
    if name == "discovery" and card.discovery:
        return card.discovery.headline.title
    if name == "taxonomy" and card.taxonomy:
        return taxonomy_title(card.taxonomy.result)
    if name == "self_preference" and card.self_preference:
        return self_preference_title(card.self_preference.result)
    reason = card.missing.get(name, "not run")
    return "not run" if reason == "not run" else "no result"


def _sentences(card: JudgeCard) -> Iterator[str]:
    if card.reliability:
        found = card.reliability.result
        yield f"Right on {_rate(found.accuracy)} of the verdicts that prefer an answer, over {found.pairs:,} pairs."
    if card.discovery:
        yield from card.discovery.headline.sentences[:2]
    if card.taxonomy:
        yield from list(taxonomy_sentences(card.taxonomy.result))[:2]
    if card.self_preference:
        yield from list(self_preference_sentences(card.self_preference.result))[:2]
    if card.missing:
        yield f"Not on this card: {', '.join(_TITLES[name].lower() for name in card.missing)}."


def _warnings(card: JudgeCard) -> Iterator[str]:
    parts: tuple[tuple[str, Any], ...] = (
        ("discovery", card.discovery and card.discovery.headline.warnings),
        ("taxonomy", card.taxonomy and taxonomy_warnings(card.taxonomy.result)),
        ("self_preference", card.self_preference and self_preference_warnings(card.self_preference.result)),
    )
    for name, source in _sources(card).items():
        if source.state != "finished":
            yield f"{_TITLES[name]}: the run {source.run_id} has not ended; its figures are those so far."
    for name, said in parts:
        for warning in said or ():
            yield f"{_TITLES[name]}: {warning}"
    versions = {source.version for source in _sources(card).values()}
    if len(versions) > 1:
        yield f"The parts were made with several versions of BiasScope: {', '.join(sorted(versions))}."


def _reliability(card: JudgeCard) -> Iterator[Section]:
    if card.reliability is None:
        return
    found = card.reliability.result
    yield Section(
        "reliability",
        _TITLES["reliability"],
        ("On pairs whose better answer is known. Intervals are 95 %, over pairs.",),
        (
            table(
                "Reliability",
                ("Figure", "Value", "Pairs"),
                [row(name, cell, f"{n:,}" if n else "") for name, cell, n in _figures(found)],
            ),
        ),
    )


def _figures(found: Profile) -> Iterator[tuple[str, Cell, int | None]]:
    def of(name: str, share: Share) -> tuple[str, Cell, int]:
        return name, _cell(share), share.pairs

    yield of("Accuracy", found.accuracy)
    if found.orders:
        yield of("The same verdict in both orders", found.orders.consistency)
        yield of("Verdicts for the answer that stood first", found.orders.first)
    for name, other in (("Agreement with itself, asked again", found.retest), ("with people", found.people)):
        if other:
            yield of(name, other.agreement)
            if other.kappa is not None:
                yield "Kappa", Cell(signed(other.kappa)), other.agreement.pairs
    yield of("Ties", found.ties)
    yield of("Unreadable verdicts", found.invalid)
    yield of("Failed", found.failed)
    yield "Calls for one judgment", Cell(f"{found.spending.calls_per_judgment:.2f}"), None
    if found.spending.cost is not None:
        yield "Cost of 1,000 judgments", Cell(f"{1000 * found.spending.cost:,.4f}"), None
    if found.spending.seconds_median is not None:
        yield "Seconds for one call, median", Cell(real(found.spending.seconds_median)), None
    if c := found.confidence:
        yield "Brier score of its probabilities", Cell(real(c.brier)), None
        yield "Calibration error (ECE)", Cell(real(c.ece), f"{real(c.ece_if_calibrated)} by chance alone"), None


def _discovery(card: JudgeCard) -> Iterator[Section]:
    if card.discovery is None:
        return
    part = card.discovery
    told = (
        "Biases that were found in the judge's own errors and tested on pairs kept for it. Effects are points of error "
        "rate under the bias against the same rewrite without it, or against the original where the run says so."
    )
    yield Section("discovery", _TITLES["discovery"], (told,), tuple(_found_biases(part)))


def _found_biases(part: DiscoveryPart) -> Iterator[Block]:
    accepted = [b for b in part.biases if b.status in _ACCEPTED]
    if accepted:
        yield table(
            "Biases that were found",
            ("Bias", "Status", "Effect, points", "Pairs", "p", "e"),
            [_bias(b) for b in accepted],
            ("Status",),
        )
    rest = [b for b in part.biases if b.status not in _ACCEPTED]
    if rest:
        named = ", ".join(f"{b.name} ({points(b.effect)})" for b in rest)
        yield Note(f"Tested and not found: {named}.")
    if not part.biases:
        yield Note("No bias has been tested.")


def _bias(b: CardBias) -> tuple[Cell, ...]:
    return row(
        Cell(b.name, b.definition),
        DECISIONS.get(b.status, b.status),
        Cell(points(b.effect), point_span(b.interval)),
        f"{b.n:,}",
        "–" if b.p_value is None else number(b.p_value),
        "–" if b.e_value is None else number(b.e_value),
    )


def _taxonomy(card: JudgeCard) -> Iterator[Section]:
    if card.taxonomy is None:
        return
    result = card.taxonomy.result
    told = (
        "Each bias is injected into pairs whose better answer is known. BSR is the share of right verdicts that turn "
        "wrong; p is exact McNemar, corrected over all biases (Holm)."
    )
    yield Section(
        "taxonomy",
        _TITLES["taxonomy"],
        (told,),
        (*rate_plot(result), bias_table(result), overall_table(result)),
    )


def _self_preference(card: JudgeCard) -> Iterator[Section]:
    if card.self_preference is None:
        return
    result = card.self_preference.result
    told = (
        "Own answers against those of others where a panel finds no difference in quality; the baseline is what the "
        "panel's members prefer on the same pairs."
    )
    yield Section(
        "self-preference",
        _TITLES["self_preference"],
        (told,),
        (*estimate_plot(result), estimates_table(result)),
    )


def _runs(card: JudgeCard) -> Iterator[Block]:
    rows = [
        row(
            _TITLES[name],
            source.run_id,
            source.state,
            ", ".join(source.data) or "–",
            "–" if source.seed is None else str(source.seed),
            source.version,
            f"{source.others:,}",
        )
        for name, source in _sources(card).items()
    ]
    if rows:
        yield table(
            "Runs behind the parts",
            ("Part", "Run", "State", "Data", "Seed", "BiasScope", "Other runs"),
            rows,
            ("Run", "State", "Data"),
        )
    if card.missing:
        yield table(
            "Not on this card",
            ("Part", "Why", "Made by"),
            [row(_TITLES[name], reason, _COMMANDS[name]) for name, reason in card.missing.items()],
            ("Why", "Made by"),
        )


def _rate(share: Share) -> str:
    return f"{percent(share.value)} ({percents((share.low, share.high))})"


def _cell(share: Share) -> Cell:
    return Cell("–") if share.value is None else Cell(percent(share.value), percents((share.low, share.high)))
