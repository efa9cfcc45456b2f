import json

import numpy as np
import pytest
from biasscope.audits.replay import check_fits, read_replay, replay, write_replay
from biasscope.core.errors import BrokenMachine, CallFailed, DataError, EndpointError
from biasscope.core.job import Job
from biasscope.core.progress import Progress
from biasscope.core.records import ORIGINAL, PLACEBO, Failure, bias_arm
from biasscope.core.store import Store
from frozen_worlds import ScriptedJudge, frozen_world


@pytest.fixture(scope="module")
def frozen(easy):
    return frozen_world(easy, 6, ("authority",))


@pytest.fixture
def job(tmp_path):
    store = Store(tmp_path / "store.db")
    yield Job("job", store, 0, Progress(store, "job"), 3)
    store.close()


async def test_every_question_is_asked_once_in_the_frozen_order(frozen, job):
    judge = ScriptedJudge(lambda pair, arm, order, draw: "rejected" if arm.startswith("bias:") else "chosen")
    made = await replay(job, judge, frozen, both_orders=False, again=True)
    assert len(judge.asked) == 6 * 4 == len(set(judge.asked))
    for place, item in enumerate(frozen.pairs):
        for arm in frozen.arms:
            assert (item.pair.id, arm, item.order, 0, frozen.text(place, arm)) in judge.asked
    [arm] = [a for a in frozen.arms if a.startswith("bias:")]
    assert made.wrong == {ORIGINAL: (0.0,) * 6, PLACEBO: (0.0,) * 6, arm: (1.0,) * 6}
    assert made.verdicts == {ORIGINAL: ("c",) * 6, PLACEBO: ("c",) * 6, arm: ("r",) * 6}
    assert made.again == ("c",) * 6
    assert made.differences(frozen, frozen.head.biases[0].id).tolist() == [1.0] * 6
    assert (made.judge, made.frozen, made.both_orders) == ("scripted", frozen.digest, False)


async def test_both_orders_and_a_judge_without_position(frozen, job):
    first = ScriptedJudge(lambda pair, arm, order, draw: "chosen" if order == "chosen_first" else "rejected")
    made = await replay(job, first, frozen, both_orders=True)
    assert made.wrong[PLACEBO] == (0.5,) * 6
    assert made.verdicts[PLACEBO] == ("cr",) * 6
    assert made.both_orders
    blind = ScriptedJudge(lambda *_: "chosen", name="blind")
    blind.has_position = False
    made = await replay(job, blind, frozen, both_orders=True)
    assert len(blind.asked) == 18
    assert not made.both_orders


async def test_faults_are_counted_and_leave_no_outcome(frozen, job):
    bad = [item.pair.id for item in frozen.pairs]

    def verdict(pair, arm, order, draw):
        if arm == PLACEBO and pair.id == bad[0]:
            raise CallFailed("truncated", "cut off")
        return {bad[1]: "tie", bad[2]: "invalid"}.get(pair.id, "chosen")

    made = await replay(job, ScriptedJudge(verdict), frozen, both_orders=False, label="replay 1")
    assert made.verdicts[PLACEBO] == ("f", "t", "i", "c", "c", "c")
    assert made.wrong[PLACEBO] == (None, None, None, 0.0, 0.0, 0.0)
    assert made.counts()[PLACEBO].model_dump() == {"asked": 6, "ties": 1, "invalid": 1, "failed": 1}
    [failure] = job.store.select(Failure, run_id="job", stage="replay 1")
    assert (failure.kind, failure.subject) == ("truncated", f"{bad[0]} placebo")


async def test_a_broken_machine_stops_it(frozen, job):
    def verdict(*_):
        raise EndpointError("gone")

    with pytest.raises(BrokenMachine, match="gone"):
        await replay(job, ScriptedJudge(verdict), frozen, both_orders=False)


async def test_what_is_written_is_read_again(frozen, job, tmp_path):
    made = await replay(job, ScriptedJudge(lambda *_: "chosen"), frozen, both_orders=False, again=True)
    path = tmp_path / "replay.json"
    write_replay(made, path)
    assert read_replay(path) == made
    check_fits(made, frozen, path)
    assert "Final answer" not in path.read_text()
    assert np.isnan(made.model_copy(update={"wrong": {ORIGINAL: (None,)}}).outcomes(ORIGINAL)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d | {"version": 2}, "version: must be 1"),
        (lambda d: d | {"extra": 1}, "extra: is unknown"),
        (lambda d: {k: v for k, v in d.items() if k != "judge"}, "judge: is needed"),
        (lambda d: d | {"again": ["c"]}, "is no whole replay"),
        (lambda d: d | {"wrong": {}}, "is no whole replay"),
        (lambda d: d | {"wrong": {**d["wrong"], ORIGINAL: [7.0] * 6}}, "is no whole replay"),
    ],
)
async def test_broken_replays(frozen, job, tmp_path, change, message):
    made = await replay(job, ScriptedJudge(lambda *_: "chosen"), frozen, both_orders=False, again=True)
    path = tmp_path / "replay.json"
    write_replay(made, path)
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(DataError, match=message):
        read_replay(path)


async def test_other_files_and_other_sets(easy, frozen, job, tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_replay(tmp_path / "none.json")
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(DataError, match="is not JSON"):
        read_replay(tmp_path / "x.json")
    made = await replay(job, ScriptedJudge(lambda *_: "chosen"), frozen, both_orders=False)
    with pytest.raises(DataError, match="was made on the frozen set"):
        check_fits(made, frozen_world(easy, 5, ("authority",)), tmp_path / "b.json")
    short = made.model_copy(update={"wrong": {a: r for a, r in made.wrong.items() if a != PLACEBO}})
    with pytest.raises(DataError, match="lacks the arm 'placebo'"):
        check_fits(short, frozen, tmp_path / "b.json")
    assert bias_arm(frozen.head.biases[0].id) in made.wrong
