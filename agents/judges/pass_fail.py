"""The pass/fail judge: each answer passes or not."""

from typing import Literal

from ...core.calls import Model
from ...core.ids import content_id
from .graded import GradingJudge, outcome_masses
from .pairwise import Mode
from .prompting import Prompted
from .protocol import Ruling
from .reading import Label, Read, Reader, by_marker, by_reply

BothPass = Literal["wrong", "tie"]
_MARKED: dict[str, Label] = {"[[PASS]]": "pass", "[[FAIL]]": "fail"}
_WORDS: dict[str, Label] = {"Yes": "pass", "No": "fail"}


class PassFailJudge(GradingJudge):
    """Right when the chosen answer passes and the rejected one does not.

    A judge of this kind is fooled when an answer that is known to be worse gets through, whatever becomes of the other:
    so `both_pass` is wrong by default. With `tie` such a pair has no outcome. When both fail it is a tie.
    """

    _kind, _judged = "pass_fail", "pass"

    def __init__(
        self,
        model: Model,
        run_id: str,
        *,
        mode: Mode = "reasoning",
        prompt: Prompted | None = None,
        criteria: str = "",
        planted: str | None = None,
        both_pass: BothPass = "wrong",
    ) -> None:
        super().__init__(model, run_id, mode=mode, prompt=prompt, criteria=criteria, planted=planted)
        self._wins: dict[tuple[Label, Label], Literal["chosen", "rejected"]] = {
            ("pass", "fail"): "chosen",
            ("fail", "pass"): "rejected",
        }
        if both_pass == "wrong":
            self._wins["pass", "pass"] = "rejected"

    def _own_reader(self) -> Reader:
        return by_marker(_MARKED) if self.mode == "reasoning" else by_reply(_WORDS, None)

    def _marks(self) -> str:
        made = super()._marks()
        if not self._prompt and self._criteria:
            made += f"-{content_id(self._criteria)[:8]}"
        return made + ("" if ("pass", "pass") in self._wins else "+both-tie")

    def _compare(self, chosen: Read, rejected: Read) -> Ruling:
        assert chosen.value is not None and rejected.value is not None
        ruling = Ruling(self._wins.get((chosen.value, rejected.value), "tie"))
        if not (chosen.masses and rejected.masses):
            return ruling
        p_rejected, tie_mass = outcome_masses(chosen.masses, rejected.masses, self._wins)
        return ruling._replace(p_rejected=p_rejected, tie_mass=tie_mass)
