"""The same findings mean different things for a judge and a teacher."""

import pytest
from biasscope.agents.engines.probe import ProbeReport
from biasscope.agents.fitness import fitness
from biasscope.agents.judges.specs import PairwiseSpec
from biasscope.agents.opening import TeacherSpec

DEAD = ProbeReport(reference="openai:m", reason="no answer: is the endpoint running?")
PLAIN = ProbeReport(reference="openai:m", reachable=True, notes=("no JSON answer: there is none in it",))
FULL = ProbeReport(reference="openai:m", reachable=True, structured="json_schema", logprobs=True, context=4096)


def judge(mode: str) -> PairwiseSpec:
    return PairwiseSpec.model_validate({"model": "openai:m", "mode": mode})


TEACHER = TeacherSpec(model="openai:m")


@pytest.mark.parametrize(
    ("role", "spec", "report", "works", "says"),
    [
        ("judge", judge("reasoning"), PLAIN, "yes", ("reasons and verdicts as text", "context unknown")),
        (
            "judge",
            judge("verdict"),
            PLAIN,
            "in part",
            ("verdicts as bare letters: no log-probabilities, so the tests have less power", "context unknown"),
        ),
        ("judge", judge("verdict"), FULL, "yes", ("verdicts as probabilities", "context of 4,096 tokens")),
        (
            "teacher",
            TEACHER,
            PLAIN,
            "no",
            (
                "a teacher names, words and compares biases in JSON, which this model did not give",
                "context unknown",
                "no JSON answer: there is none in it",
            ),
        ),
        ("teacher", TEACHER, FULL, "yes", ("structured output by json_schema", "context of 4,096 tokens")),
        ("verifier", TEACHER, FULL, "yes", ("structured output by json_schema", "context of 4,096 tokens")),
        ("teacher", TEACHER, DEAD, "no", ("no answer: is the endpoint running?",)),
        (
            "",
            TEACHER,
            PLAIN,
            "yes",
            (
                "as judge: verdicts as text, no log-probabilities",
                "as teacher or verifier: no, it did not give JSON",
                "context unknown",
                "no JSON answer: there is none in it",
            ),
        ),
    ],
)
def test_what_findings_mean(role, spec, report, works, says):
    assert fitness(role, spec, report) == (works, says)


def test_a_verifier_without_json_and_an_embedder():
    assert fitness("verifier", TEACHER, PLAIN).works == "no"
    assert fitness("embedder", TEACHER, ProbeReport(reference="e", reachable=True, dimensions=3)) == (
        "yes",
        ("vectors of 3",),
    )
