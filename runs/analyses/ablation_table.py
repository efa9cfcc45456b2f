"""The table of an ablation as a value, and its files."""

from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ...core.errors import StoreError
from ...core.visible import markdown, one_line, percent, span, table


class Figures(BaseModel):
    """An error rate, 0-1, with its 95 % interval."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pairs: int
    judged: int
    error: float
    low: float
    high: float
    method: str


class DomainErrors(BaseModel):
    """Error rates in one domain, or `overall`, original and perturbed on the same pairs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: str
    original: Figures | None
    perturbed: Figures | None
    """All validated biases together; None where none was validated."""
    difference: float | None
    """perturbed - original, points."""
    interval: tuple[float, float] | None
    """95 %, points, over pairs."""


class VariantRow(BaseModel):
    """One variant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variant: str
    run: str
    state: str
    """finished, budget, or what a run is in that has not ended."""
    reason: str
    validated: int
    confirmed: int | None
    """None when the run has no confirmation part."""
    measured_on: str
    """confirmation: pairs that the search never saw; all: search pairs too, where found biases look too strong."""
    errors: tuple[DomainErrors, ...]
    """The last is `overall`."""
    calls: int
    """Paid by this variant."""
    cached_calls: int
    """Answered by what another variant had paid."""


class Ablation(BaseModel):
    """The table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    over: str
    variants: tuple[VariantRow, ...]


def write_ablation(found: Ablation, folder: Path) -> dict[str, Path]:
    """ablation.json and ablation.md; StoreError when they cannot be written."""
    files = {"json": folder / "ablation.json", "markdown": folder / "ablation.md"}
    try:
        files["json"].write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
        files["markdown"].write_text(ablation_markdown(found), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"the table cannot be written to {str(folder)!r}: {error.strerror or error}") from error
    return files


def ablation_markdown(found: Ablation) -> str:
    """Tables 2, 3, 4 and 7 in one: biases, and error rates by domain in percent with 95 % intervals."""
    return _page(found, markdown)


def ablation_text(found: Ablation) -> str:
    """The same page to be read as it is, in a terminal: cleaned, without Markdown's escapes."""
    return _page(found, one_line)


def _page(found: Ablation, cell: Callable[[str, int], str]) -> str:
    domains = list(dict.fromkeys(e.domain for v in found.variants for e in v.errors if e.domain != "overall"))
    shown = [*domains, "overall"] if len(domains) > 1 else ["overall"]
    columns = ("Variant", "Answers", "Validated", "Confirmed", *(cell(d, 60).capitalize() for d in shown))
    rows = []
    for v in found.variants:
        errors = {e.domain: e for e in v.errors}
        name = cell(v.variant, 120) + ("" if v.state == "finished" else f" ({cell(v.state, 120)})")
        original = [_figures(errors[d].original if d in errors else None) for d in shown]
        perturbed = [_figures(errors[d].perturbed if d in errors else None) for d in shown]
        rows.append((name, "original", "–", "–", *original))
        confirmed = "–" if v.confirmed is None else str(v.confirmed)
        rows.append((name, "perturbed", str(v.validated), confirmed, *perturbed))
    notes = [f"Ablation over {cell(found.over, 120)}: error rates in %, [95 % interval].\n"]
    if any(v.measured_on == "all" for v in found.variants):
        notes.append(
            "Some rates include the pairs that selected the biases, where they are too high: "
            f"{'; '.join(cell(v.variant, 120) for v in found.variants if v.measured_on == 'all')}.\n"
        )
    spent = [
        (cell(v.variant, 120), cell(v.run, 120), v.state, str(v.calls), str(v.cached_calls)) for v in found.variants
    ]
    cost = table(("Variant", "Run", "State", "Calls paid", "Calls shared"), spent, text=3)
    return "\n".join([*notes, table(columns, rows, text=2), cost])


def _figures(found: Figures | None) -> str:
    return "–" if found is None else f"{percent(found.error)} [{span(found.low, found.high)}]"
