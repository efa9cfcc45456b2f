"""A prompt of one's own that could not be judged by is refused before anything is asked."""

import pytest
from biasscope.agents.engines.opening import open_engine
from biasscope.agents.judges.prompting import PromptSpec, ready
from biasscope.core.calls import Message, Request
from biasscope.core.errors import CallFailed, ConfigError
from biasscope.simulation.scripted import Reply, ScriptedServer

WORDS = {"by": "marker", "first": "[[A]]", "second": "[[B]]"}


@pytest.mark.parametrize(
    ("judged", "template", "verdict", "said"),
    [
        ("pairwise", "{{ prompt }}\n{{ answer_a }}", WORDS, "does not show answer_b"),
        ("pairwise", "{{ prompt }}\n", WORDS, "does not show answer_a and answer_b"),
        ("pass_fail", "{{ prompt }}\n", {"by": "marker", "passes": "YES", "fails": "NO"}, "does not show answer"),
        (
            "pairwise",
            "{{ answer_a }} {{ answer_b }}",
            {**WORDS, "second": "[[a]]"},
            "'[[a]]' stands for both first and second",
        ),
        ("pairwise", "{{ answer_a }} {{ answer_b }}", {**WORDS, "tie": ["[[C]]", "[[B]]"]}, "both second and tie"),
    ],
)
def test_what_cannot_be_judged_by_is_refused(judged, template, verdict, said):
    spec = PromptSpec.model_validate({"template": template, "verdict": verdict})
    with pytest.raises(ConfigError) as caught:
        ready(spec, judged)
    assert said in str(caught.value)


def test_the_question_may_be_left_out_and_a_word_said_twice_for_one_side():
    spec = PromptSpec.model_validate(
        {"template": "{{ answer_a }} {{ answer_b }}", "verdict": {**WORDS, "first": ["[[A]]", "[[A]]"]}}
    )
    assert ready(spec, "pairwise").own is not None


async def test_an_answer_nested_too_deeply_is_a_failed_call_of_a_language_model_too():
    with ScriptedServer([Reply(body=b"[" * 100_000 + b"]" * 100_000)]) as server:
        model = open_engine({"model": f"openai:m@{server.url}", "max_retries": 0})
        with pytest.raises(CallFailed) as caught:
            await model.complete(Request(model=model.name, messages=(Message(role="user", content="Q"),)))
        await model.aclose()
    assert (
        caught.value.kind == "server" and "nested too deeply" in caught.value.reason and "\n" not in caught.value.reason
    )
