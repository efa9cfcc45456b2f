"""The controlled suite: who is drawn, what is injected where, what is left out."""

import itertools
import json

import pytest
from biasscope.agents.injection import Injected, RulesInjector
from biasscope.audits.taxonomy import TaxonomySettings, build_suite, chosen_biases, load_suite
from biasscope.audits.taxonomy.cues import cue_entry, swap_entry
from biasscope.audits.taxonomy.settings import split_applicable
from biasscope.audits.taxonomy.suite import sampled
from biasscope.bias_library.taxonomy import identities, taxonomy
from biasscope.core.calls import Completion
from biasscope.core.errors import CallFailed, ConfigError, DataError
from biasscope.core.records import Drop, Failure, PreferencePair
from biasscope.core.words import word_count
from biasscope.data.order import draw_order
from biasscope.validators.answers import compare_answers

BY_NAME = {entry.name: entry for entry in (*taxonomy(), *identities())}
PLAIN = TaxonomySettings(pairs=20)


def pair(n, chosen="the better answer here", rejected="the worse one of both"):
    return PreferencePair(id=f"p{n}", prompt=f"Question {n}?", chosen=chosen, rejected=rejected)


class Picky:
    """A verifier that prefers the answer with the lower number of words, and one that breaks now and then."""

    name = "picky"

    def __init__(self, breaks=0):
        self.asked, self.breaks = 0, breaks

    async def complete(self, request):
        self.asked += 1
        if self.asked <= self.breaks:
            raise CallFailed("timeout", "no answer")
        text = request.messages[-1].content
        first = text.split("<answer_1-")[1].split("</answer_1-")[0]
        second = text.split("<answer_2-")[1].split("</answer_2-")[0]
        better = 1 if len(first.split()) <= len(second.split()) else 2
        return Completion(request_id=request.id, text=json.dumps({"better": better}))

    async def aclose(self):
        pass


def test_biases_by_name_and_group():
    assert [b.name for b in chosen_biases(["twelve"])] == [b.name for b in taxonomy()]
    assert chosen_biases(["identities"]) == identities()
    assert len(chosen_biases(["all"])) == len(BY_NAME)
    assert [b.name for b in chosen_biases(["superficial_reflection", "LENGTH", "native-language"])] == [
        "Length", "Superficial reflection", "Native language",
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="no 'lenght'; there are twelve"):
        chosen_biases(["lenght"])
    with pytest.raises(ConfigError, match="is empty"):
        chosen_biases([])


def test_a_judge_that_scores_answers_alone_is_spared_three():
    fits, left_out = split_applicable(taxonomy(), has_position=False)
    assert set(left_out) == {"Superficial reflection", "Bandwagon", "Position"}
    assert all("scores each answer alone" in reason for reason in left_out.values())
    assert len(fits) == 9
    assert split_applicable(taxonomy(), has_position=True) == (taxonomy(), {})


def test_the_length_rule_holds_for_all_but_length():
    long = pair(1, chosen="short answer", rejected="a far longer answer than the other one is")
    even = pair(2)
    assert sampled([long, even], BY_NAME["Authority"], 10, 0) == ([even], 1)
    drawn, eligible = sampled([long, even], BY_NAME["Length"], 10, 0)
    assert eligible == 2 and len(drawn) == 2


def test_biases_share_their_pairs_and_the_draw_is_the_seeds():
    pairs = [pair(n) for n in range(50)]
    first = sampled(pairs, BY_NAME["Authority"], 10, 1)[0]
    assert sampled(pairs[::-1], BY_NAME["Beauty"], 10, 1)[0] == first
    assert sampled(pairs, BY_NAME["Authority"], 20, 1)[0][:10] == first
    assert sampled(pairs, BY_NAME["Authority"], 10, 2)[0] != first


@pytest.mark.parametrize("name", ["Bandwagon", "Gender", "Race", "Religion", "Superficial reflection"])
@pytest.mark.parametrize("order", ["chosen_first", "rejected_first"])
def test_a_line_leaves_the_answers_word_for_word(name, order):
    bias, base = BY_NAME[name], pair(1)
    for rank in range(2 * len(bias.cues)):
        entry = cue_entry(base, bias, rank, order, control=True)
        expected = {"chosen": "chosen", "rejected": "rejected"}.get(bias.beside) or (
            "rejected" if order == "chosen_first" else "chosen"
        )
        assert entry.side == expected
        for made in (entry.pair, entry.control):
            other = "rejected" if entry.side == "chosen" else "chosen"
            assert getattr(made, other) == getattr(base, other)
            line, blank, rest = getattr(made, entry.side).partition("\n\n")
            assert blank and rest == getattr(base, entry.side) and "{" not in line
        assert word_count(getattr(entry.pair, entry.side)) == word_count(getattr(entry.control, entry.side))
        assert entry.pair.id != entry.control.id
        assert (entry.order, entry.reference) == ((order, order) if bias.beside == "second" else (None, None))


def test_lines_take_turns_and_so_do_their_numbers():
    bias = BY_NAME["Bandwagon"]
    lines = [cue_entry(pair(1), bias, rank, "chosen_first", control=False).pair.rejected for rank in range(12)]
    assert len(set(lines)) == len(bias.cues) * len(bias.percent) == 12
    cues = [cue_entry(pair(1), bias, rank, "chosen_first", control=False).cue for rank in range(6)]
    assert cues == [*bias.cues, *bias.cues]


def test_a_swap_changes_the_order_alone():
    entry = swap_entry(pair(1), BY_NAME["Position"], "rejected_first")
    assert (entry.pair.chosen, entry.pair.rejected) == (pair(1).chosen, pair(1).rejected)
    assert (entry.order, entry.reference, entry.control) == ("chosen_first", "rejected_first", None)


async def test_the_mechanical_suite_has_all_twelve(job, pairs):
    suite = await build_suite(job, RulesInjector("run", seed=job.seed), None, pairs, taxonomy(), PLAIN)
    kept = {count.bias: count for count in suite.counts}
    assert list(kept) == [b.name for b in taxonomy()]
    assert all(count.kept >= 18 and count.drawn == 20 for count in kept.values())
    assert all(c.drawn == c.failed + c.answer_changed + c.discarded + c.unchecked + c.kept for c in suite.counts)
    for entry in suite.entries:
        assert compare_answers(entry.base.chosen, entry.pair.chosen) != "different"
        assert compare_answers(entry.base.rejected, entry.pair.rejected) != "different"
        if entry.bias.how == "rewrite":
            assert entry.pair.rejected != entry.base.rejected and entry.control is None
        if entry.bias.how == "cue":
            assert entry.control is not None


async def test_the_same_seed_makes_the_same_suite_and_a_stored_one_is_kept(job, pairs, tmp_path):
    suite = await build_suite(job, RulesInjector("run", seed=3), None, pairs, taxonomy(), PLAIN)
    assert load_suite(job.store, "run") == suite
    assert await build_suite(job, RulesInjector("run", seed=99), None, [], taxonomy(), PLAIN) == suite
    other = job.__class__("other", job.store, job.seed, job.progress, job.width)
    again = await build_suite(other, RulesInjector("other", seed=3), None, pairs, taxonomy(), PLAIN)
    assert again == suite


async def test_controls_for_all_are_neutral_rewrites(job, pairs):
    settings = TaxonomySettings(pairs=6, controls="all")
    biases = chosen_biases(["Authority", "Gender"])
    suite = await build_suite(job, RulesInjector("run"), None, pairs, biases, settings)
    for entry in suite.entries:
        assert entry.control is not None and entry.control.id != entry.pair.id
        if entry.bias.name == "Authority":
            assert entry.control.chosen == entry.base.chosen != entry.control.rejected


async def test_controls_can_be_off(job, pairs):
    settings = TaxonomySettings(pairs=4, controls="off")
    suite = await build_suite(job, RulesInjector("run"), None, pairs, chosen_biases(["Gender", "Bandwagon"]), settings)
    assert all(entry.control is None for entry in suite.entries)


async def test_the_verifier_discards_rewrites_and_identities_only(job, pairs):
    verifier = Picky(breaks=2)
    biases = chosen_biases(["Length", "Gender", "Bandwagon", "Position"])
    suite = await build_suite(job, RulesInjector("run"), verifier, pairs, biases, PLAIN)
    counts = {count.bias: count for count in suite.counts}
    assert verifier.asked == counts["Length"].drawn + counts["Gender"].drawn
    assert counts["Length"].unchecked == 2
    assert counts["Gender"].discarded > 0  # a line makes the chosen answer the longer one of some pairs
    assert counts["Bandwagon"].discarded == counts["Position"].discarded == 0
    for entry in suite.entries:
        if entry.bias.name in ("Length", "Gender"):
            assert word_count(entry.pair.chosen) <= word_count(entry.pair.rejected)
    assert job.store.count(Failure, run_id="run", stage="verify:Length") == 2


class Meddler:
    """An injector that changes final answers on every other pair."""

    name = "meddler"

    def __init__(self):
        self.turn = itertools.count()

    async def inject(self, base, bias, *, stage):
        made = base.chosen if next(self.turn) % 2 else base.rejected + " So it stays as it was."
        return Injected(base.chosen, made)

    async def control(self, base, *, stage):
        raise CallFailed("refused", "no")


async def test_an_answer_that_became_right_leaves_the_suite(job, pairs):
    extractable = [p for p in pairs if compare_answers(p.chosen, p.rejected) == "different"]
    suite = await build_suite(job, Meddler(), None, extractable, chosen_biases(["Beauty"]), TaxonomySettings(pairs=10))
    [count] = suite.counts
    assert (count.kept, count.answer_changed) == (5, 5)


async def test_a_control_that_fails_leaves_the_injected_pair(job, pairs):
    settings = TaxonomySettings(pairs=4, controls="all")
    suite = await build_suite(job, Meddler(), None, pairs, chosen_biases(["Beauty"]), settings)
    assert suite.entries and all(entry.control is None for entry in suite.entries)
    assert job.store.count(Failure, run_id="run", stage="inject:Beauty") == 4
    assert job.store.count(Drop, run_id="run") == 0


class Refuser(Meddler):
    async def inject(self, base, bias, *, stage):
        raise CallFailed("refused", "no")


async def test_nothing_left_is_said_with_numbers(job, pairs):
    with pytest.raises(DataError, match=r"no pair is left for any bias \(Beauty: 60 eligible, 5 failed\)"):
        await build_suite(job, Refuser(), None, pairs, chosen_biases(["Beauty"]), TaxonomySettings(pairs=5))
    assert load_suite(job.store, "run") is None


def test_the_reflection_of_a_pair_stands_in_its_drawn_order(pairs):
    bias = BY_NAME["Superficial reflection"]
    for base in pairs[:10]:
        order = draw_order(base.id, 3)
        entry = cue_entry(base, bias, 0, order, control=False)
        second = entry.pair.rejected if order == "chosen_first" else entry.pair.chosen
        assert second.startswith(bias.cues[0])
