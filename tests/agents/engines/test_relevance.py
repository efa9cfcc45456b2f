"""The relevance score: cosines, embedded together, stored like every call."""

import asyncio

import numpy as np
import pytest
from biasscope.agents.engines.opening import open_engine, wrap
from biasscope.agents.engines.reference import parse_reference
from biasscope.agents.engines.relevance import BATCH, RelevanceScorer
from biasscope.agents.judges.score import ScoreJudge, score, score_request
from biasscope.core.errors import BrokenMachine, CallFailed, ConfigError
from biasscope.data.builtin_relevance import KINDS, relevance_pairs


class Letters:
    """Embeds a text as the counts of a, b and c in it, and remembers its batches."""

    name = "letters"

    def __init__(self, broken=0):
        self.batches, self.broken, self.closed = [], broken, False

    async def embed(self, texts):
        self.batches.append(list(texts))
        await asyncio.sleep(0.001)
        if self.broken:
            self.broken -= 1
            raise BrokenMachine("no memory")
        rows = np.array([[t.count(c) for c in "abc"] for t in texts], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    async def aclose(self):
        self.closed = True


async def test_the_score_is_the_cosine():
    scorer = RelevanceScorer(Letters())
    value, request_id = await score(scorer, "aab", "ab", stage="judge")
    assert value == pytest.approx(3 / np.sqrt(10), abs=1e-5)
    assert request_id == score_request(scorer, "aab", "ab", stage="judge").id
    assert (await score(scorer, "aa", "bb", stage="judge"))[0] == 0.0
    await scorer.aclose()


async def test_what_is_in_flight_is_embedded_together_and_once():
    embedder = Letters()
    scorer = RelevanceScorer(embedder)
    answers = ["a" * (k % 7) + "b" * (k % 11) for k in range(200)]
    found = await asyncio.gather(*(score(scorer, "abc", answer, stage="judge") for answer in answers))
    texts = [text for batch in embedder.batches for text in batch]
    assert len(texts) == len(set(texts)) == len(set(answers)) + 1
    assert max(map(len, embedder.batches)) <= BATCH and len(embedder.batches) < 5
    alone = RelevanceScorer(Letters())
    assert [value for value, _ in found][:30] == [
        (await score(alone, "abc", answer, stage="judge"))[0] for answer in answers[:30]
    ]
    await alone.aclose()
    await scorer.aclose()
    assert embedder.closed


async def test_a_failed_batch_fails_its_own_requests_only():
    scorer = RelevanceScorer(Letters(broken=1))
    with pytest.raises(BrokenMachine):
        await score(scorer, "abc", "a", stage="judge")
    assert (await score(scorer, "abc", "a", stage="judge"))[0] == pytest.approx(1 / np.sqrt(3), abs=1e-5)
    await scorer.aclose()


async def test_a_caller_that_gives_up_takes_nothing_away():
    scorer = RelevanceScorer(Letters())
    gone = asyncio.create_task(score(scorer, "abc", "a", stage="judge"))
    await asyncio.sleep(0)
    stays = asyncio.create_task(score(scorer, "abc", "a", stage="judge"))
    await asyncio.sleep(0)
    gone.cancel()
    assert (await stays)[0] > 0
    await scorer.aclose()


async def test_other_requests_are_refused(queue_model):
    scorer = RelevanceScorer(Letters())
    request = score_request(scorer, "q", "a", stage="judge")
    with pytest.raises(CallFailed, match="one question and one answer"):
        await scorer.complete(request.model_copy(update={"messages": request.messages[:1]}))


async def test_scores_are_stored_and_not_asked_twice(store, pair):
    embedder = Letters()
    spec = parse_reference("embed:relevance")
    assert spec.max_concurrency == BATCH
    model = wrap(RelevanceScorer(embedder), spec, run_id="run", store=store)
    judge = ScoreJudge(model, "run")
    given = {"rejected_text": "abc", "order": "chosen_first", "stage": "judge"}
    first = await judge.judge(pair, arm="original", **given)
    calls = len(embedder.batches)
    again = await judge.judge(pair, arm="placebo", **given)
    assert len(embedder.batches) == calls
    assert (first.score_chosen, first.score_rejected) == (again.score_chosen, again.score_rejected)
    assert judge.name == "embed:relevance@letters#score"
    await model.aclose()


@pytest.mark.parametrize("reference", ["embed:", "embed:similarity"])
def test_other_scores_are_refused(reference):
    with pytest.raises(ConfigError, match="write embed:relevance"):
        open_engine(reference)


@pytest.mark.model
async def test_the_packaged_embedder_is_right_on_the_relevance_pairs():
    judge = ScoreJudge(open_engine("embed:relevance"), "run")
    pairs = relevance_pairs(400)
    judgments = await asyncio.gather(
        *(
            judge.judge(pair, arm="original", rejected_text=pair.rejected, order="chosen_first", stage="judge")
            for pair in pairs
        )
    )
    right = {kind: [] for kind in KINDS}
    for pair, judgment in zip(pairs, judgments, strict=True):
        right[pair.domain].append(judgment.verdict == "chosen")
    assert np.mean([r for found in right.values() for r in found]) >= 0.85
    assert all(np.mean(found) > 0.6 for found in right.values()), {k: np.mean(v) for k, v in right.items()}
