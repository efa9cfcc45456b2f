"""What treatments changed, as a table: originals, biases known to the treatment and others, and general pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from ..core.records import Bias
from ..core.visible import markdown, percent, span, table
from ..validators.rates import Rate
from ..validators.treatments import Change, change, sensitivity
from .treatments import Item, Scores

Flags = npt.NDArray[np.bool_]
GROUPS = ("original pairs", "biases known to the treatment", "other biases", "general pairs")
_SENSITIVITY = (
    "Bias sensitivity: of the pairs that are right as they were, the share that is wrong with the bias, in percent "
    "(ties count half)."
)
_HEAD = (
    *("judged", "pairs", "texts", "error before, %", "after, %", "change, points", "95 % interval", "ties, %"),
    "no verdict",
)


class ChangeRow(BaseModel):
    """One line: what was judged, error rates in [0, 1] and their difference."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: str
    items: int
    pairs: int
    missing: int
    before: float | None
    after: float | None
    difference: float | None
    low: float
    high: float
    method: str
    ties_before: float | None
    ties_after: float | None


class Sensitivity(BaseModel):
    """Of the items that are right as they were, the share that is wrong with the bias."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    what: str
    items: int
    rate: float | None
    low: float
    high: float


class TreatmentReport(BaseModel):
    """One treatment against the judge as it was."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    treatment: str
    groups: tuple[ChangeRow, ...]
    biases: tuple[ChangeRow, ...]
    sensitivity_before: tuple[Sensitivity, ...]
    sensitivity_after: tuple[Sensitivity, ...]
    warnings: tuple[str, ...]


def report(
    treatment: str, items: Sequence[Item], before: Scores, after: Scores, known: Mapping[str, Bias]
) -> TreatmentReport:
    """The comparison. `known`: the biases, by id, that the treatment was told of or trained on."""
    groups = {name: np.array([_group(item, known) == name for item in items], dtype=bool) for name in GROUPS}
    changes = {name: _change(items, before, after, mask) for name, mask in groups.items() if mask.any()}
    biases = {item.bias.id: item.bias for item in items if item.bias}
    by_bias = {
        bias.name: _change(items, before, after, np.array([item.bias == bias for item in items], dtype=bool))
        for bias in sorted(biases.values(), key=lambda bias: (bias.id not in known, bias.name))
    }
    return TreatmentReport(
        treatment=treatment,
        groups=tuple(_row(name, found) for name, found in changes.items()),
        biases=tuple(_row(f"{name}{_mark(name, biases, known)}", found) for name, found in by_bias.items()),
        sensitivity_before=_sensitivities(items, before, groups),
        sensitivity_after=_sensitivities(items, after, groups),
        warnings=tuple(_warnings(changes)),
    )


def reports_markdown(title: str, facts: Sequence[str], reports: Sequence[TreatmentReport]) -> str:
    """All comparisons as a page."""
    lines = [f"# {markdown(title)}", "", *(f"- {markdown(fact, 1000)}" for fact in facts), ""]
    for found in reports:
        lines += [f"## {markdown(found.treatment)}", ""]
        lines += [f"> **Note.** {markdown(warning, 1000)}\n" for warning in found.warnings]
        lines += [_changes_table(found.groups), _SENSITIVITY, "", _sensitivity_table(found)]
        lines += ["By bias (* known to the treatment):", "", _changes_table(found.biases)]
    return "\n".join(lines)


def _changes_table(rows: Sequence[ChangeRow]) -> str:
    cells = [
        (
            markdown(row.what),
            f"{row.pairs:,}",
            f"{row.items:,}",
            percent(row.before),
            percent(row.after),
            "–" if row.difference is None else f"{100 * row.difference:+.1f}",
            span(row.low, row.high),
            f"{percent(row.ties_before)} / {percent(row.ties_after)}",
            f"{row.missing:,}",
        )
        for row in rows
    ]
    return table(_HEAD, cells)


def _sensitivity_table(found: TreatmentReport) -> str:
    head = ("biases", "before", "95 % interval", "after", "95 % interval")
    cells = []
    for one, two in zip(found.sensitivity_before, found.sensitivity_after, strict=True):
        cells.append((one.what, percent(one.rate), span(one.low, one.high), percent(two.rate), span(two.low, two.high)))
    return table(head, cells)


def _group(item: Item, known: Mapping[str, Bias]) -> str:
    if item.bias is None:
        return GROUPS[3] if item.general else GROUPS[0]
    return GROUPS[1] if item.bias.id in known else GROUPS[2]


def _change(items: Sequence[Item], before: Scores, after: Scores, mask: Flags) -> Change:
    pairs = [item.pair.id for item, keep in zip(items, mask, strict=True) if keep]
    return change(before[mask], after[mask], pairs)


def _sensitivities(items: Sequence[Item], scores: Scores, groups: Mapping[str, Flags]) -> tuple[Sensitivity, ...]:
    as_they_were = (groups[GROUPS[0]][k] for k in range(len(items)))
    originals = {item.pair.id: s for item, s, keep in zip(items, scores, as_they_were, strict=True) if keep}
    found = []
    for name in GROUPS[1:3]:
        mask = groups[name]
        if mask.any():
            chosen = [item for item, keep in zip(items, mask, strict=True) if keep]
            pairs = [item.pair.id for item in chosen]
            rate: Rate = sensitivity([originals[pair] for pair in pairs], scores[mask], pairs)
            found.append(Sensitivity(what=name, items=rate.n, rate=_number(rate.rate), low=rate.low, high=rate.high))
    return tuple(found)


def _warnings(changes: Mapping[str, Change]) -> list[str]:
    said = []
    for name in (GROUPS[3], GROUPS[0]):
        if name in changes and changes[name].worse:
            found = changes[name]
            said.append(
                f"Worse on {name}: {100 * found.difference:+.1f} points (95 % interval {span(found.low, found.high)}). "
                "The treatment harms judging that has nothing to do with bias."
            )
    told, others = changes.get(GROUPS[1]), changes.get(GROUPS[2])
    if told and others and told.better and others.worse:
        said.append(
            f"The bias moved: fewer errors under the biases that the treatment knows ({100 * told.difference:+.1f} "
            f"points), more under the others ({100 * others.difference:+.1f} points)."
        )
    return said


def _mark(name: str, biases: Mapping[str, Bias], known: Mapping[str, Bias]) -> str:
    return " *" if any(bias.name == name and bias.id in known for bias in biases.values()) else ""


def _row(what: str, found: Change) -> ChangeRow:
    values = {name: _number(value) if isinstance(value, float) else value for name, value in asdict(found).items()}
    return ChangeRow(what=what, **values)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
