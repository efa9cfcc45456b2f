"""The pointwise judge: both answers are scored alone, and the higher score is preferred."""

from ...core.calls import Model
from ...core.ids import content_id
from .graded import GradingJudge, outcome_masses
from .pairwise import Mode
from .presets import Scale
from .prompting import Prompted
from .protocol import Ruling
from .reading import Label, Read, Reader, by_reply, by_score_marker
from .score import compare_scores


class PointwiseJudge(GradingJudge):
    """Scores on a scale; a tie when they differ by `tie_within` or less.

    Where the score comes from token log-probabilities it is their mean (G-Eval), and P(rejected) that of the higher
    score when both are drawn.
    """

    gives_scores = True
    _kind, _judged = "pointwise", "points"

    def __init__(
        self,
        model: Model,
        run_id: str,
        *,
        mode: Mode = "reasoning",
        prompt: Prompted | None = None,
        criteria: str = "",
        planted: str | None = None,
        scale: Scale = (1, 10),
        tie_within: float = 0.0,
    ) -> None:
        super().__init__(model, run_id, mode=mode, prompt=prompt, criteria=criteria, planted=planted, scale=scale)
        self._tie_within = tie_within

    def _own_reader(self) -> Reader:
        return by_score_marker(self._scale) if self.mode == "reasoning" else by_reply(None, self._scale)

    def _marks(self) -> str:
        made = super()._marks()
        if not self._prompt and (self._scale != (1, 10) or self._criteria):
            made += f"-{content_id(self._scale, self._criteria)[:8]}"
        return made + (f"+tie-{self._tie_within:g}" if self._tie_within else "")

    def _compare(self, chosen: Read, rejected: Read) -> Ruling:
        ruling = compare_scores(mean_score(chosen), mean_score(rejected), self._tie_within)
        if not (chosen.masses and rejected.masses):
            return ruling
        pairs = [(float(c), float(r)) for c in chosen.masses for r in rejected.masses]
        wins: dict[tuple[Label, Label], str] = {
            (c, r): "chosen" if c > r else "rejected" for c, r in pairs if abs(c - r) > self._tie_within
        }
        p_rejected, tie_mass = outcome_masses(chosen.masses, rejected.masses, wins)
        return ruling._replace(p_rejected=p_rejected, tie_mass=tie_mass)


def mean_score(read: Read) -> float:
    """The score; of token probabilities their mean over the scores that are there."""
    if read.masses:
        total = sum(read.masses.values())
        return sum(float(label) * mass for label, mass in read.masses.items()) / total
    return float(read.value)  # type: ignore[arg-type]
