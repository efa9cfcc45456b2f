"""A model that answers from a queue and remembers what it was asked."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from biasscope.core.calls import Completion, Request
from biasscope.core.ids import content_id
from biasscope.core.records import Bias, PreferencePair


class QueueModel:
    """Answers in turn: a text, a JSON value, a Completion, or an exception to raise."""

    def __init__(self, *answers: Any, name: str = "queue") -> None:
        self.name = name
        self.answers = list(answers)
        self.history: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.history.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer.model_copy(update={"request_id": request.id})
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Completion(request_id=request.id, text=text)

    async def aclose(self) -> None:
        self.answers.clear()

    @property
    def last(self) -> Sequence[str]:
        """The contents of the last request's messages."""
        return [message.content for message in self.history[-1].messages]


@pytest.fixture
def queue_model():
    return QueueModel


@pytest.fixture
def pair():
    return PreferencePair(
        id="pair-1",
        prompt="What is 12 times 12?",
        chosen="Twelve times twelve is 144.",
        rejected="It is 12 times 10 plus 12 times 2, so the answer is 134.",
    )


@pytest.fixture
def bias():
    name, definition = "Authority", "Prefers answers that name experts or institutions as support."
    return Bias(id=content_id(name), name=name, definition=definition, manifestation="Names a body.", origin="seed")
