"""The teacher argues for a verdict: reasoning for judges to be trained on."""

from ..core.calls import Model, Request
from ..core.errors import CallFailed
from ..prompts import render
from .grading import right_verdict, well_formed


async def argue(model: Model, question: str, answers: tuple[str, str], letter: str, *, max_tokens: int = 1024) -> str:
    """A comparison of answer A and answer B that ends in `letter`, in the form that judges are asked for.

    Raises CallFailed, of kind `unparsable` when it ends otherwise.
    """
    prompt = render("argue_verdict", question=question, answer_a=answers[0], answer_b=answers[1], letter=letter)
    request = Request(
        model=model.name, messages=prompt.messages, max_tokens=max_tokens, role="teacher", stage="explain"
    )
    completion = await model.complete(request)
    text = completion.text.strip()
    if not right_verdict(text, letter, answers) or not well_formed(text):
        raise CallFailed("unparsable", f"the comparison does not end in [[{letter}]] after reasons", text, request.id)
    return text
