"""Base pairs with negatives that show biases, for scorers, and judging prompts on them, for judges.

METHOD section 7.
"""

from dataclasses import dataclass

from ...agents.arguing import argue
from ...agents.judges.pairwise import conversation
from ...agents.judges.protocol import letter_of, shown_answers
from ...core.calls import Model
from ...core.errors import CallFailed
from ...core.ids import content_id
from ...core.records import Bias, Perturbation, PreferencePair
from ...core.words import word_count
from ...data.order import draw_order
from .candidates import Planned
from .rewriting import Refused, Studio, biased_answer
from .settings import AugmentSettings
from .units import COLD_START, JUDGING, NEGATIVES, Row, Unit, conversation_rows, longer_side, provenance, said


@dataclass(frozen=True)
class Augmenter:
    """Makes units."""

    studio: Studio
    settings: AugmentSettings
    advocate: Model | None
    """Writes the reasoning of the cold start; None: there is none."""

    async def unit(self, planned: Planned) -> Unit | Refused:
        """A row of negatives and a judging prompt for each of them. Refused when no bias could be written in.

        Raises CallFailed when that was so for the last of its biases.
        """
        pair = planned.pair
        made: list[tuple[Bias | None, Perturbation | None, str]] = [(None, None, pair.rejected)]
        problem: Refused | CallFailed | None = None
        for bias in planned.biases:
            try:
                found = await biased_answer(self.studio, pair, bias, self.settings.length)
            except CallFailed as failed:
                problem = failed
                continue
            if isinstance(found, Refused):
                problem = found
            else:
                made.append((bias, found, found.text))
        if planned.biases and len(made) == 1:
            if isinstance(problem, CallFailed):
                raise problem
            return problem or Refused("no bias was written in")
        negatives: Row = {
            "prompt": pair.prompt,
            "chosen": pair.chosen,
            "rejected": [text for *_, text in made],
            "biases": [shown.name if shown else "" for shown, *_ in made],
            "pair_id": pair.id,
            "domain": pair.domain,
            "source": pair.source,
            "source_id": pair.source_id,
        }
        rows: dict[str, list[Row]] = {NEGATIVES: [negatives], JUDGING: []} | ({COLD_START: []} if self.advocate else {})
        for shown, perturbation, text in made:
            row, answers = self._judging(pair, shown, perturbation, text)
            rows[JUDGING].append(row)
            if self.advocate and planned.nth < self.settings.cold_start and shown == planned.bias:
                rows[COLD_START] += await self._reasoned(self.advocate, pair, row, answers)
        lengths = [word_count(text) for *_, text in made[1:]] or [word_count(pair.rejected)]
        longer = longer_side(word_count(pair.chosen), sum(lengths) // len(lengths))
        return Unit(pair, tuple(shown.id for shown, *_ in made if shown), longer, rows)

    def _judging(
        self, pair: PreferencePair, bias: Bias | None, made: Perturbation | None, text: str
    ) -> tuple[Row, tuple[str, str]]:
        order = draw_order(content_id("judging", pair.id, text), self.studio.seed)
        answers = shown_answers(pair, text, order)
        row: Row = {
            "prompt": conversation_rows(conversation(pair, text, order, mode="reasoning")),
            "right": letter_of("chosen", order),
            "answer_a": answers[0],
            "answer_b": answers[1],
            **provenance(pair, bias, made),
        }
        return row, answers

    async def _reasoned(self, advocate: Model, pair: PreferencePair, row: Row, answers: tuple[str, str]) -> list[Row]:
        """The cold start's row; none when the teacher gives no usable reasoning, which takes nothing else with it."""
        try:
            text = await argue(advocate, pair.prompt, answers, row["right"])
        except CallFailed:
            return []
        return [
            {"prompt": row["prompt"], "completion": said("assistant", text), "bias": row["bias"], "pair_id": pair.id}
        ]
