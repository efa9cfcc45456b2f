"""Do the two final answers differ? Exact comparison first, then a panel of models (METHOD section 5).

Exact: `validators.answers`. Where that is silent every model of the panel is asked; what more than half of the panel
says is the finding. Without such a majority the question is unsettled, and left to people.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from ...agents.verifier import same_answer
from ...core.calls import Model
from ...core.errors import CallFailed
from ...core.records import PreferencePair

Finding = Literal["same", "different", "unsettled"]


async def ask_panel(panel: Sequence[Model], pair: PreferencePair, text: str) -> dict[str, str]:
    """What each model says of the chosen answer and `text`: same, different, unsure, or that it gave no answer."""
    votes: dict[str, str] = {}
    for model in panel:
        try:
            votes[model.name] = await same_answer(model, pair.prompt, pair.chosen, text, stage="validate")
        except CallFailed as failed:
            votes[model.name] = f"no answer ({failed.kind})"
    return votes


def panel_finding(votes: Mapping[str, str]) -> Finding:
    """The finding of more than half of the panel, those without an answer included in its size."""
    counts = Counter(votes.values())
    if 2 * counts["same"] > len(votes):
        return "same"
    return "different" if 2 * counts["different"] > len(votes) else "unsettled"
