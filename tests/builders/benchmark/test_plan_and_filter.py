"""Which bias goes into which pair, the filter's rule, and the panel's."""

import itertools
from collections import Counter

import pytest
from biasscope.bias_library.bias import make_bias
from biasscope.builders.benchmark.hardness import Shown, is_misled, meets, misled_judges, needed
from biasscope.builders.benchmark.plan import plan_variants
from biasscope.builders.benchmark.sameness import panel_finding
from biasscope.core.job import Job
from biasscope.core.progress import Progress
from biasscope.core.records import Judgment, PreferencePair
from biasscope.core.store import Store
from hypothesis import given
from hypothesis import strategies as st


def pair(k):
    return PreferencePair(id=f"{k:024x}", prompt=f"Q{k}", chosen="right", rejected="wrong")


def bias(k):
    return make_bias(f"bias {k}", f"The judge prefers feature number {k}.", origin="imported")


class ScriptedJudge:
    """A judge that says what its script says for each order, and keeps what it was asked."""

    gives_reasons = explains_itself = gives_probabilities = gives_scores = False

    def __init__(self, name, verdicts, has_position=True):
        self.name, self.verdicts, self.has_position, self.asked = name, verdicts, has_position, []

    async def judge(self, pair, *, arm, rejected_text, order, stage, perturbation_id="", draw=0):
        self.asked.append(order)
        return Judgment(
            id=f"{self.name}{order}",
            run_id="r",
            pair_id=pair.id,
            arm=arm,
            order=order,
            verdict=self.verdicts[order],
            judge=self.name,
        )


@pytest.fixture
def job(tmp_path):
    store = Store(tmp_path / "store.db")
    yield Job("r", store, 0, Progress(store, "r"), 4)
    store.close()


@given(pairs=st.integers(1, 40), biases=st.integers(1, 12), each=st.integers(1, 15), seed=st.integers(0, 3))
def test_every_pair_gets_different_biases_and_every_bias_as_many_pairs(pairs, biases, each, seed):
    made = plan_variants([pair(k) for k in range(pairs)], [bias(k) for k in range(biases)], each, seed)
    each = min(each, biases)
    assert Counter(v.pair.id for v in made) == {pair(k).id: each for k in range(pairs)}
    assert len({(v.pair.id, v.bias.id) for v in made}) == len(made)
    used = Counter(v.bias.id for v in made)
    assert max(used.values()) - min((used[bias(k).id] for k in range(biases)), default=0) <= 1


def test_the_plan_depends_on_ids_and_seed_only():
    pairs, biases = [pair(k) for k in range(20)], [bias(k) for k in range(6)]
    first = {(v.pair.id, v.bias.id) for v in plan_variants(pairs, biases, 3, 0)}
    assert first == {(v.pair.id, v.bias.id) for v in plan_variants(pairs[::-1], biases[::-1], 3, 0)}
    assert first != {(v.pair.id, v.bias.id) for v in plan_variants(pairs, biases, 3, 1)}


def shown(k=0):
    return Shown(pair(k), "bias:b", "wrong, with style")


@pytest.mark.parametrize(
    ("verdicts", "misled", "calls"),
    [
        (("rejected", "rejected"), True, 2),
        (("rejected", "chosen"), False, 2),
        (("chosen", "rejected"), False, 1),
        (("tie", "rejected"), False, 1),
        (("rejected", "invalid"), False, 2),
    ],
)
async def test_misled_means_in_both_orders_and_the_second_is_asked_only_then(job, verdicts, misled, calls):
    first = "chosen_first"
    for k in range(20):
        judge = ScriptedJudge("j", {})
        one = shown(k)
        judge.verdicts = dict.fromkeys(("chosen_first", "rejected_first"), "chosen")
        await is_misled(job, judge, one)
        first = judge.asked[0]
        other = "rejected_first" if first == "chosen_first" else "chosen_first"
        judge = ScriptedJudge("j", {first: verdicts[0], other: verdicts[1]})
        assert (await is_misled(job, judge, one))[0] is misled
        assert len(judge.asked) == calls


async def test_a_judge_without_position_is_asked_once(job):
    judge = ScriptedJudge("j", dict.fromkeys(("chosen_first", "rejected_first"), "rejected"), has_position=False)
    assert await is_misled(job, judge, shown()) == (True, "")
    assert len(judge.asked) == 1


@pytest.mark.parametrize("rule", ["any", "majority", "all"])
async def test_the_rule_over_judges_whatever_they_say(job, rule):
    for says in itertools.product(("rejected", "chosen"), repeat=3):
        judges = [
            ScriptedJudge(f"j{k}", dict.fromkeys(("chosen_first", "rejected_first"), v)) for k, v in enumerate(says)
        ]
        misled, others = await misled_judges(job, judges, shown(), rule)
        wrong = says.count("rejected")
        expected = {"any": wrong >= 1, "majority": wrong >= 2, "all": wrong == 3}[rule]
        assert meets(rule, len(misled), 3) is expected
        if expected:
            assert len(misled) == wrong and len(others) == 3 - wrong
    assert [needed(rule, n) for n in (1, 2, 3, 4)] == {
        "any": [1, 1, 1, 1], "majority": [1, 2, 2, 3], "all": [1, 2, 3, 4]
    }[rule]  # fmt: skip


async def test_no_judge_is_asked_when_the_rule_cannot_be_met_any_more(job):
    judges = [ScriptedJudge(n, dict.fromkeys(("chosen_first", "rejected_first"), "chosen")) for n in "abc"]
    await misled_judges(job, judges, shown(), "all")
    assert [len(j.asked) for j in judges] == [1, 0, 0]
    await misled_judges(job, judges, shown(), "majority")
    assert [len(j.asked) for j in judges] == [2, 1, 0]


@pytest.mark.parametrize(
    ("votes", "finding"),
    [
        (["same"], "same"),
        (["different"], "different"),
        (["unsure"], "unsettled"),
        ([], "unsettled"),
        (["same", "different"], "unsettled"),
        (["same", "same", "different"], "same"),
        (["different", "different", "no answer (timeout)"], "different"),
        (["different", "unsure", "no answer (timeout)"], "unsettled"),
        (["same", "same", "different", "different"], "unsettled"),
    ],
)
def test_more_than_half_of_the_panel_decides(votes, finding):
    assert panel_finding({str(k): vote for k, vote in enumerate(votes)}) == finding
