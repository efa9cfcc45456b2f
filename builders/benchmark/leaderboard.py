"""An evaluation as Markdown: the leaderboard, then every judge by domain and by bias."""

from collections.abc import Sequence

from ...core.visible import markdown, percent, span, table
from .scores import Evaluation, Figure, JudgeScore, Part

_MARK = "†"


def leaderboard(found: Evaluation) -> str:
    """The table of judges, best first, those that took part in choosing the items last and marked."""
    columns = (
        "Judge",
        "Error, %",
        "95 % interval",
        "On the source pairs, %",
        "Difference, points",
        "95 % interval",
        "Wrong in both orders, %",
        "Position decides, %",
        "No verdict",
    )
    rows = [_row(score) for score in found.judges]
    notes = [
        f"{found.items:,} items from {found.pairs:,} source pairs; "
        + ("human-verified." if found.human_verified else "not human-verified.")
        + " Error: share of valid verdicts that prefer the worse answer, both orders; 50 % is chance. Intervals take"
        " source pairs as units. The difference compares every item with the pair that it was made from."
    ]
    if any(score.chose_items for score in found.judges):
        notes.append(f"{_MARK} The items were chosen because this judge erred on them: not comparable with the others.")
    return f"{table(columns, rows)}\n" + "\n\n".join(notes) + "\n"


def evaluation_markdown(found: Evaluation, plot: str | None = None) -> str:
    """The whole page; `plot` is the path of the difference plot beside it."""
    parts = [f"# Judges on {markdown(found.benchmark)}", leaderboard(found).rstrip()]
    if plot:
        parts.append(f"![Error rates on the source pairs and on the benchmark]({plot})")
    for score in found.judges:
        parts.append(f"## {markdown(score.judge)}" + (f" {_MARK}" if score.chose_items else ""))
        parts.append("Verdicts: " + ", ".join(f"{count:,} {name}" for name, count in score.verdicts.items()) + ".")
        parts.append(_parts("Domain", score.by_domain).rstrip())
        parts.append(_parts("Bias", score.by_bias).rstrip())
    return "\n\n".join(parts) + "\n"


def _row(score: JudgeScore) -> tuple[str, ...]:
    p = score.overall
    silent = sum(count for name, count in score.verdicts.items() if name not in ("chosen", "rejected"))
    return (
        markdown(score.judge) + (f" {_MARK}" if score.chose_items else ""),
        percent(p.error.value),
        _interval(p.error),
        percent(p.source.value),
        _points(p.difference),
        _interval(p.difference),
        percent(score.wrong_in_both),
        percent(score.inconsistent),
        str(silent),
    )


def _parts(what: str, parts: Sequence[Part]) -> str:
    columns = (what, "Items", "Error, %", "95 % interval", "Source, %", "Difference, points", "95 % interval")
    rows = [
        (
            markdown(p.name, 120),
            str(p.error.items),
            percent(p.error.value),
            _interval(p.error),
            percent(p.source.value),
            _points(p.difference),
            _interval(p.difference),
        )
        for p in parts
    ]
    return table(columns, rows)


def _points(figure: Figure) -> str:
    return "–" if figure.value is None else f"{100 * figure.value:+.1f}"


def _interval(figure: Figure) -> str:
    return "–" if figure.value is None else span(figure.low, figure.high)
