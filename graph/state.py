"""What the graph remembers between nodes: ids and counters, never records."""

from typing import Literal, TypedDict

StopReason = Literal["no_candidates", "nothing_new", "nothing_validated", "max_iterations"]


class State(TypedDict, total=False):
    """The loop's state. Records are in the store; a node reads them by id."""

    iteration: int
    library: list[str]
    """Bias ids of B_t, in the order in which they entered."""
    perturbed: list[str]
    """Perturbation ids of this iteration."""
    misjudged: list[str]
    """Judgment ids of this iteration's misjudgments."""
    explained: list[str]
    """Explanation ids of this iteration."""
    candidates: list[str]
    """Candidate ids of this iteration."""
    novel: list[str]
    """Bias ids that merging left as new in this iteration."""
    pending: list[str]
    """Bias ids that wait for validation."""
    decided: list[str]
    """Validation ids of this iteration."""
    admitted: list[str]
    """Bias ids that this iteration added to the library."""
    validated: list[str]
    """All bias ids found valid so far."""
    idle: int
    """Rounds in a row, up to the one before, that left the library as it was."""
    stop: StopReason | None
