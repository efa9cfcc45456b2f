"""The listwise judge: it ranks several answers, and the pair is hidden among others."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from ...core.calls import Completion, Message, Model
from ...core.errors import ConfigError
from ...core.ids import content_id, seed_from
from ...core.records import Judgment, PreferencePair, Verdict
from ...prompts import render
from .pairwise import planted_id
from .protocol import Ruling, RulingJudge, Said, Shown
from .reading import by_ranking
from .voice import Voice

Others = Callable[[PreferencePair], Sequence[str]]
"""Answers that may stand beside those of a pair."""


class ListwiseJudge(RulingJudge):
    """An LLM that ranks `n` answers at once. Which of the pair stands higher is the verdict.

    The others and the places are drawn from the pair's id: the same in every arm, with the two places swapped in the
    other order.
    """

    gives_reasons = True

    def __init__(
        self, model: Model, run_id: str, others: Others, source: str, *, n: int = 4, planted: str | None = None
    ) -> None:
        super().__init__(run_id)
        self.model = model
        self._others, self._source, self._n, self._planted = others, source, n, planted
        self._voice = Voice(model)

    @property
    def name(self) -> str:
        """Model, number of answers, and where the others come from."""
        return f"{self.model.name}#listwise-{self._n}+{self._source}{planted_id(self._planted)}"

    async def rule(self, shown: Shown) -> Ruling:
        """The pair's part of the ranking. Raises CallFailed from the model."""
        answers, first, second = self.line_up(shown)
        completion = await self._ask(shown, answers)
        ranked = by_ranking([str(k + 1) for k in range(len(answers))])(completion, answers)
        if isinstance(ranked, str):
            return Ruling("invalid", reasoning=completion.text, request_id=completion.request_id, unread=ranked)
        first_wins = ranked.index(str(first + 1)) < ranked.index(str(second + 1))
        verdict: Verdict = "chosen" if first_wins == (shown.order == "chosen_first") else "rejected"
        return Ruling(verdict, reasoning=completion.text, request_id=completion.request_id)

    async def said(self, shown: Shown, judgment: Judgment) -> Said:
        """Its ranking; it is asked why the one stands above the other."""
        answers, first, second = self.line_up(shown)
        completion = await self._ask(shown, answers)
        chosen, rejected = (first, second) if shown.order == "chosen_first" else (second, first)
        above, below = (rejected, chosen) if judgment.verdict == "rejected" else (chosen, rejected)
        reply = Message(role="assistant", content=completion.text)
        places = {"above": str(above + 1), "below": str(below + 1)}
        return Said(self.model, (*self.messages(shown, answers), reply), "explain_rank", places)

    def line_up(self, shown: Shown) -> tuple[list[str], int, int]:
        """The answers as shown, and where the pair's first and second stand, from 0."""
        draw = random.Random(seed_from("listwise", shown.pair.id, self._n))
        taken = {shown.pair.chosen, shown.pair.rejected}
        pool = [text for text in dict.fromkeys(self._others(shown.pair)) if text.strip() and text not in taken]
        answers = draw.sample(pool, min(self._n - 2, len(pool)))
        first, second = sorted(draw.sample(range(len(answers) + 2), 2))
        answers.insert(first, shown.answers[0])
        answers.insert(second, shown.answers[1])
        return answers, first, second

    def messages(self, shown: Shown, answers: Sequence[str]) -> tuple[Message, ...]:
        """What is asked."""
        numbers = [str(k + 1) for k in range(len(answers))]
        return render(
            "judge_list",
            question=shown.pair.prompt,
            answers=list(answers),
            reference=shown.pair.meta.get("reference", ""),
            planted=self._planted or "",
            example=" > ".join([*numbers[1:], numbers[0]]),
        ).messages

    async def _ask(self, shown: Shown, answers: Sequence[str]) -> Completion:
        return await self._voice.ask(self.messages(shown, answers), shown.stage, shown.draw)


def others_of(path: Path) -> tuple[Others, str]:
    """Other answers from a file of JSON lines, `{"prompt": ..., "answers": [...]}`, and a name for the source.

    A prompt that is not there gets answers to other prompts of the file. Raises ConfigError.
    """
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"judge.others: {str(path)!r} cannot be read: {error}") from None
    answers: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            answers.setdefault(str(row["prompt"]), []).extend(str(text) for text in row["answers"])
        except (ValueError, KeyError, TypeError):
            raise ConfigError(
                f'judge.others: {str(path)!r}, line {number}: write {{"prompt": "...", "answers": ["...", "..."]}}'
            ) from None
    every = [text for texts in answers.values() for text in texts]
    if not every:
        raise ConfigError(f"judge.others: {str(path)!r} holds no answers")
    return (lambda pair: answers.get(pair.prompt) or every), f"file-{content_id(answers)[:8]}"


def plain_others(pair: PreferencePair) -> Sequence[str]:
    """Short replies that fit any question and answer none, for pairs whose data has no further answers."""
    return (
        "I do not know the answer to this question.",
        "This question can be seen in several ways, and the answer depends on what is meant by it.",
        "It would need more information than is given here to say anything certain about this.",
        "The answer to this can be looked up in a good reference work on the subject.",
        f"You ask: {pair.prompt[:200]} That is a matter on which views differ, and I would rather not settle it.",
        "There is no single answer to this; some would say one thing, and others another.",
    )
