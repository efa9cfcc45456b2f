"""The biases as a table: for the terminal and as CSV."""

import csv
import io

from rich import box
from rich.table import Table
from rich.text import Text

from ...core.visible import one_line
from .model import BiasEntry, Report

STATUS_STYLE = {"confirmed": "bold green", "valid": "green", "inconclusive": "yellow", "rejected": "dim"}
DECISIONS = {
    "valid": "valid",
    "not_shown": "not shown",
    "inconclusive": "inconclusive",
    "not_injectable": "not injectable",
    "explained_by_length": "explained by length",
}
_COLUMNS = [
    "id",
    "name",
    "definition",
    "status",
    "origin",
    "iteration",
    "support",
    "part",
    "decision",
    "n",
    "missing",
    "harms",
    "repairs",
    "effect_points",
    "interval_low",
    "interval_high",
    "interval_method",
    "e_value",
    "p_value",
    "effect_vs_original_points",
    "error_reference",
    "error_bias",
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "reason",
]


def points(value: float) -> str:
    """Points with a sign; zero has none."""
    text = f"{value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def number(value: float) -> str:
    """A statistic in three digits, e-values and p-values alike."""
    if value != 0 and (abs(value) >= 1e4 or abs(value) < 1e-3):
        digits, _, power = f"{value:.1e}".partition("e")
        return f"{digits}e{int(power)}" if power else digits
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def summary_table(report: Report) -> Table:
    """Tested biases, strongest first, for a terminal of 80 columns."""
    table = Table(title=Text(one_line(report.headline.title)), title_style="bold", box=box.SIMPLE_HEAD)
    reference = "original answer" if any(b.shown and b.shown.rule == "paper" for b in report.biases) else "placebo"
    table.caption = Text(
        f"n: pairs. +/−: verdicts that the bias turned wrong / right. Points: what it adds to the {reference}'s error "
        "rate. e: evidence, 1 is none, from 20 on it is strong; p: p-value."
    )
    table.add_column("Bias", min_width=14, overflow="fold")
    table.add_column("Status", min_width=12)
    for name in ("n", "+/−", "Points [95 %]", "e or p"):
        table.add_column(name, justify="right", no_wrap=True)
    for bias in report.biases:
        if shown := bias.shown:
            table.add_row(
                Text(one_line(bias.name, 60)),
                Text(standing(bias), style=STATUS_STYLE.get(bias.status, "")),
                f"{shown.n:,}",
                f"{shown.harms}/{shown.repairs}",
                f"{points(shown.effect)} [{points(shown.interval[0])}, {points(shown.interval[1])}]",
                evidence(bias).replace(" ", ""),
            )
    return table


def contrasts_table(report: Report) -> Table | None:
    """What contrasts named, round by round, for a terminal of 80 columns; None where they did not search."""
    if not report.contrasts:
        return None
    table = Table(title="Named by contrasts", title_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("Round")
    table.add_column("Feature", min_width=14, overflow="fold")
    table.add_column("Preferred")
    for name in ("In halves", "Weight", "Misjudged"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Tested")
    for made in report.contrasts:
        name = "log" if made.iteration is None else str(made.iteration + 1)
        for found in made.found:
            table.add_row(
                name,
                Text(one_line(found.title, 60)),
                found.direction,
                f"{found.frequency:.0%}",
                f"{found.weight:+.2f}",
                f"{found.support:,}",
                "yes" if found.candidate else "no",
            )
        if not made.found:
            table.add_row(name, "none")
    bounds = ", ".join(f"{made.false_bound:.2g} of {made.features}" for made in report.contrasts)
    table.caption = Text(
        "In halves: share of random halves of the comparisons in which the feature was chosen. Misjudged: verdicts "
        f"that went that way. Named by chance, at most and on average: {bounds}"
        f"{' in each round' if len(report.contrasts) > 1 else ''}."
    )
    return table


def standing(bias: BiasEntry) -> str:
    """The status; for one that its test did not change (a seed, or what could not be written in), the decision, and
    for one that passed and that a person turned down, `declined`."""
    if bias.declined:
        return "declined"
    decision = bias.shown.decision if bias.shown else ""
    if bias.status == "seed" or decision == "not_injectable":
        return decision.replace("_", " ") or bias.status
    return bias.status


def evidence(bias: BiasEntry) -> str:
    """The e-value, or the p-value where there is no e-value."""
    shown = bias.shown
    if shown is None:
        return ""
    if shown.e_value is not None:
        return f"e = {number(shown.e_value)}"
    return "" if shown.p_value is None else f"p = {number(shown.p_value)}"


def biases_csv(report: Report) -> str:
    """One line per bias. Cells that a spreadsheet would run as a formula start with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for bias in report.biases:
        row = _row(bias)
        writer.writerow([_safe(row.get(c)) for c in _COLUMNS])
    return out.getvalue()


def _row(bias: BiasEntry) -> dict[str, object]:
    usage = bias.usage.model_dump(include={"calls", "prompt_tokens", "completion_tokens", "cost"})
    shown = bias.shown
    tested = {} if shown is None else shown.model_dump(exclude={"controls", "by_domain", "interval"}) | {
        "effect_points": shown.effect,
        "effect_vs_original_points": shown.effect_vs_original,
        "interval_low": shown.interval[0],
        "interval_high": shown.interval[1],
    }  # fmt: skip
    return bias.model_dump(include=set(_COLUMNS)) | usage | tested


def _safe(value: object) -> object:
    if not isinstance(value, str):
        return "" if value is None else value
    text = one_line(value, 2000)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
