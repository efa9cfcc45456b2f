"""Judging prompts with the output conventions of well-known judges. The texts are ours, the conventions theirs.

What a judge says in one of these forms is read as strictly as our own: unclear is invalid, never a guess.
"""

from typing import Literal, NamedTuple

from .reading import Reader, by_format, by_json, by_marker, by_regex, by_reply, by_two_scores, within

Judged = Literal["pairwise", "pointwise", "pass_fail"]
Scale = tuple[float, float]


class Preset(NamedTuple):
    """A template of `prompts`, and how its replies are read by each kind of judge that can use it."""

    template: str
    readers: dict[Judged, Reader]
    scale: Scale | None = None
    max_tokens: int = 1024
    top_logprobs: int = 0
    about: str = ""


_ARENA = {"[[A>>B]]": "first", "[[A>B]]": "first", "[[A=B]]": "tie", "[[B>A]]": "second", "[[B>>A]]": "second"}


def _rating(low: float, high: float, reader: Reader) -> dict[Judged, Reader]:
    return {"pointwise": lambda completion, answers: within(reader(completion, answers), (low, high))}


PRESETS: dict[str, Preset] = {
    "mtbench": Preset(
        "preset_mtbench_pair", {"pairwise": by_format("brackets")}, about="[[A]], [[B]] or [[C]] after an explanation"
    ),
    "mtbench-single": Preset(
        "preset_mtbench_single",
        _rating(1, 10, by_format("mtbench_single_rating")),
        (1, 10),
        about="Rating: [[5]], from 1 to 10",
    ),
    "arena-hard": Preset(
        "preset_arena_hard", {"pairwise": by_marker(_ARENA)}, max_tokens=4096, about="[[A>>B]] to [[B>>A]]"
    ),
    "alpacaeval": Preset(
        "preset_alpacaeval",
        {"pairwise": by_reply({"m": "first", "M": "second"}, None)},
        max_tokens=1,
        top_logprobs=5,
        about="one token, m or M, from log-probabilities (AlpacaEval 2)",
    ),
    "alpacaeval-ranking": Preset(
        "preset_alpacaeval_ranking",
        {"pairwise": by_json("$[?@.model=='model_1'].rank", {"1": "first", "2": "second"}, None)},
        max_tokens=128,
        about="a JSON list of models with ranks (AlpacaEval 1)",
    ),
    "prometheus": Preset(
        "preset_prometheus_absolute",
        {"pointwise": by_regex(r"\[RESULT\]\s*\(?([1-5])\b(?![.,]\d)", None, (1, 5))},
        (1, 5),
        about="feedback, then [RESULT] and a number from 1 to 5",
    ),
    "prometheus-relative": Preset(
        "preset_prometheus_relative",
        {"pairwise": by_regex(r"\[RESULT\]\s*\(?([AB])\b", {"A": "first", "B": "second"}, None)},
        about="feedback, then [RESULT] and A or B",
    ),
    "judgelm": Preset(
        "preset_judgelm", {"pairwise": by_two_scores((1, 10))}, (1, 10), about="two scores on the first line"
    ),
    "llmbar": Preset(
        "preset_llmbar", {"pairwise": by_format("llmbar_label")}, max_tokens=16, about="Output (a) or Output (b) alone"
    ),
    "llmbar-cot": Preset(
        "preset_llmbar_cot",
        {"pairwise": by_format("llmbar_cot")},
        about="reasons, then: Therefore, Output (a) is better.",
    ),
    "llmbar-rating": Preset(
        "preset_llmbar_rating",
        {"pointwise": by_reply(None, (0, 9))},
        (0, 9),
        max_tokens=1,
        about="one digit from 0 to 9",
    ),
    "geval": Preset(
        "preset_geval",
        {"pointwise": by_reply(None, (1, 5))},
        (1, 5),
        max_tokens=1,
        top_logprobs=20,
        about="a digit from 1 to 5, weighted by token probabilities (G-Eval)",
    ),
    "llm-rubric": Preset(
        "preset_llm_rubric",
        {
            "pass_fail": by_json("$.pass", {"true": "pass", "false": "fail"}, None),
            "pointwise": by_json("$.score", None, (0, 1)),
        },
        (0, 1),
        max_tokens=512,
        about="a JSON object with reason, score and pass (promptfoo)",
    ),
}
