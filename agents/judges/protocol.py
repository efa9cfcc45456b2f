"""What every kind of judge has in common: the protocol, what it is shown, and how a ruling becomes a judgment."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from ...core.calls import Message, Model, Stage
from ...core.ids import content_id
from ...core.records import Judgment, Order, PreferencePair, Verdict
from ..verdicts import Outcome


class Judge(Protocol):
    """Anything that prefers one of two answers."""

    @property
    def name(self) -> str:
        """Identity in judgments and validations: the model and everything that makes it another judge."""
        ...

    @property
    def gives_reasons(self) -> bool:
        """Whether judgments carry the judge's reasoning."""
        ...

    @property
    def explains_itself(self) -> bool:
        """Whether it can be asked to go on about its verdict; see `said`."""
        ...

    @property
    def gives_probabilities(self) -> bool:
        """Whether judgments carry `p_rejected` where the endpoint has log-probabilities."""
        ...

    @property
    def gives_scores(self) -> bool:
        """Whether judgments carry `score_chosen` and `score_rejected`, so that margins can be analysed."""
        ...

    @property
    def has_position(self) -> bool:
        """Whether the order of the answers can matter. Where it cannot, one order stands for both."""
        ...

    async def judge(
        self,
        pair: PreferencePair,
        *,
        arm: str,
        rejected_text: str,
        order: Order,
        stage: Stage,
        perturbation_id: str = "",
        draw: int = 0,
    ) -> Judgment:
        """Judge the chosen answer against `rejected_text`. Raises CallFailed when there is no text to read."""
        ...

    async def said(self, shown: "Shown", judgment: Judgment) -> "Said | None":
        """What to go on from when the judge is asked to explain `judgment`; None for a judge that cannot talk.

        Raises CallFailed from the model.
        """
        ...


class Shown(NamedTuple):
    """What is put before a judge."""

    pair: PreferencePair
    rejected_text: str
    order: Order
    stage: Stage
    draw: int = 0

    @property
    def answers(self) -> tuple[str, str]:
        """Answer A and answer B."""
        return shown_answers(self.pair, self.rejected_text, self.order)


class Ruling(NamedTuple):
    """What a judge says of a pair, in the pair's terms. Fields as in Judgment."""

    verdict: Verdict
    p_rejected: float | None = None
    tie_mass: float | None = None
    score_chosen: float | None = None
    score_rejected: float | None = None
    reasoning: str = ""
    request_id: str = ""
    unread: str = ""
    """Why there is no verdict, for people who look at one reply; not stored."""


class Said(NamedTuple):
    """The conversation in which a judge gave its verdict, its reply last, with the model that can go on with it."""

    model: Model
    messages: tuple[Message, ...]
    go_on: str = "explain"
    """The template that asks for more, as it fits what the reply was about."""
    fields: Mapping[str, str] = {}


class RulingJudge(ABC):
    """A judge that needs to say no more than its ruling."""

    gives_reasons: bool = False
    explains_itself: bool = True
    gives_probabilities: bool = False
    gives_scores: bool = False
    has_position: bool = True

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    @property
    @abstractmethod
    def name(self) -> str:
        """As in Judge."""

    @abstractmethod
    async def rule(self, shown: Shown) -> Ruling:
        """The ruling; `invalid` when it cannot be read. Raises CallFailed from the model."""

    async def said(self, shown: Shown, judgment: Judgment) -> Said | None:
        """As in Judge."""
        return None

    async def judge(
        self,
        pair: PreferencePair,
        *,
        arm: str,
        rejected_text: str,
        order: Order,
        stage: Stage,
        perturbation_id: str = "",
        draw: int = 0,
    ) -> Judgment:
        """As in Judge."""
        ruling = await self.rule(Shown(pair, rejected_text, order, stage, draw))
        return Judgment(
            id=content_id("judgment", self._run_id, self.name, pair.id, arm, order, rejected_text, draw),
            run_id=self._run_id,
            pair_id=pair.id,
            arm=arm,
            order=order,
            judge=self.name,
            perturbation_id=perturbation_id,
            draw=draw,
            **{name: value for name, value in ruling._asdict().items() if name != "unread"},
        )


def shown_answers(pair: PreferencePair, rejected_text: str, order: Order) -> tuple[str, str]:
    """Answer A and answer B."""
    return (pair.chosen, rejected_text) if order == "chosen_first" else (rejected_text, pair.chosen)


def letter_of(verdict: Verdict, order: Order) -> str:
    """The letter that stands for a verdict in that order; empty for `invalid`."""
    if verdict in ("tie", "invalid"):
        return "C" if verdict == "tie" else ""
    return "A" if (verdict == "chosen") == (order == "chosen_first") else "B"


def verdict_of(value: Outcome | float | None, order: Order) -> Verdict:
    """A reading in the pair's terms; `invalid` for what is no outcome."""
    if value == "tie":
        return "tie"
    if value not in ("first", "second"):
        return "invalid"
    return "chosen" if (value == "first") == (order == "chosen_first") else "rejected"
