"""From a request body to the reply: which task, its answer, what goes wrong on the way, tokens counted."""

import json
import math
from typing import Any, NamedTuple

from .compiled import Compiled
from .draws import digest, generator, uniform
from .grading import defence, grade, ranking, rubric
from .judging import Reading, explanation, probabilities, read, reasoning, verdict
from .teaching import compare, discover, rewrite, same_answer, shows_more, summarise
from .wire import Asked, as_json, task, tokens

_LETTER_ONLY = 16
_CREATED = 1_750_000_000


class Said(NamedTuple):
    """An answer before it is put into the reply."""

    text: str
    finish: str = "stop"
    letters: dict[str, float] | None = None
    """Probabilities of the letters, where a letter is the answer."""
    refusal: str | None = None


def reply(world: Compiled, body: dict[str, Any]) -> dict[str, Any]:
    """The chat completion for one request body. Raises ValueError for a body without messages."""
    asked = Asked(body)
    said = _faulty(world, asked, _said(world, asked))
    if asked.max_tokens is not None and tokens(said.text) > asked.max_tokens:
        said = said._replace(text=said.text[: 4 * asked.max_tokens], finish="length")
    asked_tokens = sum(tokens(content) + 4 for _, content in asked.messages)
    answer_tokens = tokens(said.text or said.refusal or "")
    message: dict[str, Any] = {"role": "assistant", "content": said.text, "refusal": None}
    if said.refusal is not None:
        message |= {"content": None, "refusal": said.refusal}
    wanted = body.get("top_logprobs") or 0
    return {
        "id": f"chatcmpl-{digest(world.spec.seed, asked.key):016x}",
        "object": "chat.completion",
        "created": _CREATED,
        "model": str(body.get("model") or world.spec.models[0]),
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": said.finish,
                "logprobs": _logprobs(said, int(wanted)) if body.get("logprobs") else None,
            }
        ],
        "usage": {
            "prompt_tokens": asked_tokens,
            "completion_tokens": answer_tokens,
            "total_tokens": asked_tokens + answer_tokens,
        },
    }


def embeddings(world: Compiled, body: dict[str, Any]) -> dict[str, Any]:
    """Vectors of 256 numbers: hashed words, and for texts that mean a feature of the world its own direction.

    Raises ValueError without `input`, or when it is neither a text nor a list of texts.
    """
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError("'input' must be a text or a list of texts")
    used = sum(tokens(text) for text in texts)
    return {
        "object": "list",
        "model": str(body.get("model") or world.spec.models[-1]),
        "data": [
            {"object": "embedding", "index": i, "embedding": list(world.recogniser.embed(text))}
            for i, text in enumerate(texts)
        ],
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }


def _said(world: Compiled, asked: Asked) -> Said:
    fields, kind = asked.fields, task(asked)
    if kind in ("judge", "explain", "explain_other", "argue"):
        return _judged(world, asked, kind)
    if kind == "chat":
        return Said("I can compare answers, rewrite them and describe what sets them apart.")
    if kind == "grade":
        text, letters = grade(world, asked)
        return Said(text, letters=letters)
    if kind in ("rank", "defend"):
        return Said(ranking(world, asked) if kind == "rank" else defence(world, asked))
    values: dict[str, Any]
    if kind in ("rubric", "repair"):
        return Said(json.dumps(rubric(world, asked)))
    if kind in ("perturb", "placebo"):
        bias = fields["bias"] if kind == "perturb" else None
        values = {"rewritten_answer": rewrite(world, fields.get("question", ""), fields["answer"], bias)}
    elif kind == "discover":
        values = discover(world, fields, asked.key)
    elif kind == "merge_summary":
        values = summarise(world, asked.numbered("candidate"), asked.key)
    elif kind == "merge_compare":
        values = {"same_as": compare(world, fields["candidate"], asked.numbered("bias"), asked.key)}
    elif kind == "verify_answer":
        values = {"verdict": same_answer(fields["answer_a"], fields["answer_b"])}
    else:
        values = {"shows_more": shows_more(world, fields.get("bias", ""), fields["text_1"], fields["text_2"])}
    return Said(as_json(values, asked.schema))


def _judged(world: Compiled, asked: Asked, kind: str) -> Said:
    fields = asked.fields
    reading = read(world, fields.get("question", ""), fields["answer_a"], fields["answer_b"])
    if kind in ("explain_other", "argue"):
        given = fields["verdict"].strip().strip("[]").upper()[-1:]
        given = given if given in ("A", "B", "C") else "A"
        if kind == "argue":
            return Said(f"{reasoning(world, reading, given, asked.key)}\n\n[[{given}]]")
        return Said(explanation(world, reading, given, asked.key))
    letters = probabilities(world, reading)
    letter = _letter(world, reading, letters, asked)
    if kind == "explain":
        # The judge stands by what it said, as far as its own words still show it.
        spoken = next(content for role, content in asked.messages if role == "assistant")
        for mark in ("A", "B", "C"):
            if f"[[{mark}]]" in spoken or spoken.strip() == mark:
                letter = mark
        return Said(explanation(world, reading, letter, asked.key))
    if asked.max_tokens is not None and asked.max_tokens <= _LETTER_ONLY:
        return Said(letter, letters=letters)
    if asked.body.get("logprobs") and "[[A]]" not in asked.last:
        return Said(letter, letters=letters)
    if len(asked.messages) > 2 and asked.messages[-2][0] == "assistant":
        return Said(f"[[{letter}]]" if "[[A]]" in asked.last else letter)
    return Said(f"{reasoning(world, reading, letter, asked.key)}\n\n[[{letter}]]")


def _letter(world: Compiled, reading: Reading, letters: dict[str, float], asked: Asked) -> str:
    if asked.temperature <= 0:
        return verdict(world, reading)
    most = max(letters.values())
    hot = {letter: (p / most) ** (1 / asked.temperature) for letter, p in letters.items()}
    drawn = generator(world.spec.seed, "sampled", asked.key)
    return drawn.choices(list(hot), weights=list(hot.values()))[0]


def _faulty(world: Compiled, asked: Asked, said: Said) -> Said:
    rates = world.spec.rates
    chance = uniform(world.spec.seed, "fault", asked.key)
    if chance < rates.refusals:
        sorry = "I'm sorry, but I can't help with that."
        return Said("", refusal=sorry) if asked.schema else Said(sorry)
    if chance < rates.refusals + rates.malformed:
        if said.text.startswith("{"):
            return Said(said.text[: max(len(said.text) * 2 // 3, 1)])
        return Said(said.text.replace("[[", "").replace("]]", "")[: len(said.text) // 2] or "Hmm")
    if chance < rates.refusals + rates.malformed + rates.truncated:
        return Said(said.text[: len(said.text) // 2], finish="length")
    return said


def _logprobs(said: Said, top: int) -> dict[str, Any]:
    if said.letters is None:
        # Only a bare letter has alternatives; of other answers each word is certain.
        parts = said.text.split(" ")
        words = [part + " " * (i < len(parts) - 1) for i, part in enumerate(parts)]
        return {"content": [_token(word, 0.0, [] if not top else [(word, 0.0)]) for word in words], "refusal": None}
    ranked = sorted(((letter, math.log(p)) for letter, p in said.letters.items()), key=lambda one: -one[1])
    return {"content": [_token(said.text, dict(ranked)[said.text], ranked[:top])], "refusal": None}


def _token(text: str, logprob: float, others: list[tuple[str, float]]) -> dict[str, Any]:
    def one(token: str, value: float) -> dict[str, Any]:
        return {"token": token, "logprob": value, "bytes": list(token.encode("utf-8", "replace"))}

    return {**one(text, logprob), "top_logprobs": [one(*other) for other in others]}
