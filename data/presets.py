"""The shapes of known data sets: which columns they have, what their labels mean, which domains they use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import DataError
from .labels import Numbers, Reading
from .spec import Columns, SourceSpec

_JUDGEBENCH = {
    "knowledge": "Knowledge",
    "reason": "Reasoning",
    "reasoning": "Reasoning",
    "math": "Math",
} | dict.fromkeys(("code", "coding"), "Coding")
_REWARDBENCH = (
    dict.fromkeys(("alpacaeval-easy", "alpacaeval-length", "alpacaeval-hard", "mt-bench-easy", "mt-bench-med"), "Chat")
    | dict.fromkeys(("mt-bench-hard", "llmbar-natural"), "Chat Hard")
    | dict.fromkeys(("refusals-dangerous", "refusals-offensive", "donotanswer"), "Safety")
    | {"math-prm": "Reasoning"}
)
_REWARDBENCH_PREFIXES = {"llmbar-adver-": "Chat Hard", "xstest-should-": "Safety", "hep-": "Reasoning"}


@dataclass(frozen=True)
class Layout:
    """How to read the rows of one source. Empty names are columns that it does not have."""

    name: str
    prompt: str = ""
    chosen: str = ""
    rejected: str = ""
    answer_a: str = ""
    answer_b: str = ""
    label: str = ""
    numbers: Numbers | None = None
    find_numbers: bool = False
    """Look at the first rows to learn what numbers in the label mean."""
    label_values: Mapping[str, Reading] = field(default_factory=dict)
    domain: str = ""
    id: str = ""
    subset: str = ""
    model_a: str = ""
    model_b: str = ""
    score_chosen: str = ""
    score_rejected: str = ""
    styles: tuple[str, ...] = ()
    """Chosen and rejected are lists with one answer for each of these styles."""
    note: str = ""
    domain_of: Callable[[Mapping[str, Any]], str] | None = None

    def needed(self) -> tuple[str, ...]:
        """Columns without which no row can be read."""
        columns = (self.prompt, self.chosen, self.rejected, self.answer_a, self.answer_b, self.label)
        return tuple(c for c in columns if c)


def find_layout(spec: SourceSpec, first: Mapping[str, Any]) -> Layout:
    """The layout for a source whose first row is `first`. Raises DataError when none fits."""
    if spec.columns is not None:
        layout = _mapped(spec.columns)
        _require(spec, layout, first)
        return layout
    if spec.preset == "auto":
        _refuse_other_data(spec, first)
        for layout in _known(spec):
            if set(layout.needed()) <= set(first) and _distinctive(layout, first):
                return _with_optional(layout, first)
        raise DataError(
            f"{spec.source}: no preset fits the columns {sorted(first)}: "
            "map them with columns (prompt with chosen and rejected, or prompt with answer_a, answer_b and label)"
        )
    candidates = [x for x in _known(spec) if x.name == spec.preset]
    for layout in candidates:
        if set(layout.needed()) <= set(first):
            return _with_optional(layout, first)
    _require(spec, candidates[0], first)
    return candidates[0]


def judgebench_domain(row: Mapping[str, Any]) -> str:
    """Knowledge, Reasoning, Math or Coding, from `domain` or else from `source`."""
    given = str(row.get("domain") or "").strip()
    if given:
        return _JUDGEBENCH.get(given.lower(), given)
    source = str(row.get("source") or "").lower()
    if source in ("livebench-math", "mmlu-pro-math"):
        return "Math"
    if source.startswith("mmlu-pro"):
        return "Knowledge"
    return {"livebench-reasoning": "Reasoning", "livecodebench": "Coding"}.get(source, "all")


def rewardbench_domain(row: Mapping[str, Any]) -> str:
    """Chat, Chat Hard, Safety or Reasoning, from the subset's name; else the file's own domain."""
    subset = str(row.get("subset") or "").lower()
    if subset in _REWARDBENCH:
        return _REWARDBENCH[subset]
    for prefix, domain in _REWARDBENCH_PREFIXES.items():
        if subset.startswith(prefix):
            return domain
    return str(row.get("domain") or "") or subset or "all"


def _rmbench_domain(row: Mapping[str, Any]) -> str:
    return str(row.get("domain") or "all").split("-")[0].capitalize()


def _known(spec: SourceSpec) -> list[Layout]:
    """Every known layout, the most particular first."""
    before_after = spec.responses + "_response"
    return [
        Layout(
            "judgebiasbench",
            "question",
            answer_a=before_after + "1",
            answer_b=before_after + "2",
            label="label",
            numbers="1/2",
            domain="bias",
        ),
        Layout("judgebiasbench", "question", answer_a="response1", answer_b="response2", label="label", numbers="1/2"),
        Layout(
            "edited",
            "question",
            "original_response",
            "manipulated_response",
            domain="bias_type",
            id="id",
            subset="manipulation",
            note="rejected is an edited copy of chosen with the same substance: neither is more correct than the other",
        ),
        Layout(
            "rewardbench",
            "question",
            answer_a="response_A",
            answer_b="response_B",
            label="label",
            numbers="1/2",
            id="id",
            subset="subset",
            domain_of=rewardbench_domain,
        ),
        Layout(
            "rewardbench",
            "prompt",
            "chosen",
            "rejected",
            id="id",
            subset="subset",
            model_a="chosen_model",
            model_b="rejected_model",
            domain_of=rewardbench_domain,
        ),
        Layout(
            "judgebench",
            "question",
            answer_a="response_A",
            answer_b="response_B",
            label="label",
            numbers="1/2",
            id="pair_id",
            subset="source",
            domain_of=judgebench_domain,
        ),
        Layout(
            "llmbar",
            "input",
            answer_a="output_1",
            answer_b="output_2",
            label="label",
            numbers="1/2",
            domain="subset",
            id="id",
            subset="subset",
        ),
        Layout(
            "evalbiasbench",
            "instruction",
            answer_a="response1",
            answer_b="response2",
            label="label",
            numbers="1/2",
            domain="bias",
            id="id",
        ),
        Layout(
            "rmbench",
            "prompt",
            "chosen",
            "rejected",
            id="id",
            subset="domain",
            styles=("concise", "detailed", "markdown"),
            domain_of=_rmbench_domain,
        ),
        *(
            Layout(
                "ultrafeedback",
                "prompt",
                "chosen",
                "rejected",
                id=id_column,
                subset="source",
                score_chosen=a,
                score_rejected=b,
                model_a="chosen-model",
                model_b="rejected-model",
            )
            for id_column, a, b in (
                ("id", "score_chosen", "score_rejected"),
                ("prompt_id", "score_chosen", "score_rejected"),
                ("id", "chosen-rating", "rejected-rating"),
            )
        ),
        *(
            Layout("pairs", prompt, "chosen", "rejected", domain="domain", id="id", subset="subset")
            for prompt in ("prompt", "question", "instruction", "input")
        ),
        Layout("pairs", "", "chosen", "rejected", domain="domain", id="id", subset="subset"),
    ]


def _distinctive(layout: Layout, first: Mapping[str, Any]) -> bool:
    """Whether a row is really of this data set, where several share their main columns."""
    if layout.name == "rewardbench":
        return "subset" in first and ("chosen_model" in first or "rejected_model" in first)
    if layout.name == "rmbench":
        chosen = first["chosen"]
        return isinstance(chosen, list) and len(chosen) > 1 and all(x is None or isinstance(x, str) for x in chosen)
    if layout.name == "ultrafeedback":
        return {layout.id, layout.score_chosen, layout.score_rejected} <= set(first)
    return True


def _with_optional(layout: Layout, first: Mapping[str, Any]) -> Layout:
    """The layout without optional columns that the source lacks; models that only the row can place are left out."""
    optional = ("domain", "id", "subset", "model_a", "model_b", "score_chosen", "score_rejected")
    absent = {name: "" for name in optional if getattr(layout, name) not in first}
    return Layout(**{**vars(layout), **absent})


def _mapped(columns: Columns) -> Layout:
    given = {k: v for k, v in columns.model_dump(exclude={"labels", "label_values"}).items() if v}
    return Layout(
        "columns",
        **given,
        numbers=None if columns.labels == "auto" else columns.labels,
        find_numbers=columns.labels == "auto" and bool(columns.label),
        label_values={k.strip().lower(): v for k, v in columns.label_values.items()},
    )


def _require(spec: SourceSpec, layout: Layout, first: Mapping[str, Any]) -> None:
    wanted = layout.needed()
    if spec.columns is not None:
        optional = (layout.domain, layout.id, layout.subset, layout.model_a, layout.model_b)
        wanted += tuple(c for c in optional if c)
    missing = [c for c in wanted if c not in first]
    if missing:
        way = "the column mapping names" if spec.columns else f"preset {layout.name!r} needs"
        raise DataError(f"{spec.source}: {way} {missing}, but the first row has the columns {sorted(first)}")


def _refuse_other_data(spec: SourceSpec, first: Mapping[str, Any]) -> None:
    columns = set(first)
    if {"turns", "outputs"} <= columns:
        raise DataError(
            f"{spec.source}: answers of several models without a preference (MT-bench form): it serves the "
            "self-preference audit, not pair data; give a source with a right and a wrong answer"
        )
    if {"source_parsed", "true_verdict"} <= columns or (
        "judge" in columns and columns & {"winner", "decision_as_shown", "published", "flip_rate"}
    ):
        raise DataError(
            f"{spec.source}: a log of judge verdicts or their statistics, without the answers judged: it serves "
            "checks of verdict parsing and of statistics, not pair data; give a source with both answers"
        )
