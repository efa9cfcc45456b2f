"""Who is compared with whom."""

from collections import Counter

import pytest
from biasscope.audits.self_preference import SelfPreferenceSettings, load_contests, plan_contests, store_contests
from biasscope.audits.self_preference.asking import THEIRS, YOURS, eligible, labelled
from biasscope.audits.self_preference.authors import author_of, family_of, same_author
from biasscope.core.errors import DataError
from biasscope.data.answers import Prompt

ALL = SelfPreferenceSettings()


def prompts(n, *authors):
    return [Prompt(f"q{k}", f"Question {k}?", "d", {a: f"{a} says {k}" for a in authors}) for k in range(n)]


@pytest.mark.parametrize(
    ("reference", "author"),
    [
        ("openai:gpt-4o", "gpt-4o"),
        ("openai:gpt-4o@http://host:8000/v1", "gpt-4o"),
        ("openai:Qwen/Qwen2.5-7B-Instruct@https://gate/v1", "Qwen2.5-7B-Instruct"),
        ("local:/models/qwen2.5-1.5b-q4_k_m.GGUF", "qwen2.5-1.5b-q4_k_m"),
        ("local:org/repo/file.gguf", "file"),
        ("local:smollm2", "smollm2"),
    ],
)
def test_the_author_of_a_reference(reference, author):
    assert author_of(reference) == author


@pytest.mark.parametrize(
    ("author", "family"),
    [
        ("gpt-4", "openai"),
        ("o3-mini", "openai"),
        ("Claude-instant-v1", "anthropic"),
        ("palm-2-chat-bison-001", "google"),
        ("vicuna-7b-v1.3", "llama"),
        ("guanaco-65b", "llama"),
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", "qwen"),
        ("stablelm-tuned-alpha-7b", "stablelm"),
        ("our-own-model", "our-own-model"),
    ],
)
def test_families_by_name(author, family):
    assert family_of(author, {}) == family


def test_a_given_family_goes_first_and_case_does_not_matter():
    assert family_of("Vicuna-7b", {"vicuna-7B": "LMSYS"}) == "lmsys"
    assert same_author("GPT-4", "gpt-4")


def test_own_answers_meet_each_other_author_evenly():
    found = plan_contests(prompts(30, "me", "a", "b", "c"), "me", SelfPreferenceSettings(pairs=31), 0)
    assert len(found) == 31
    assert set(Counter(c.other for c in found).values()) <= {10, 11}
    assert all(c.own == "me" and c.pair.chosen.startswith("me says") and c.role == "own" for c in found)
    assert len({c.pair.id for c in found}) == 31


def test_the_draw_is_the_seeds_and_not_the_orders():
    many = prompts(30, "me", "a", "b")
    settings = SelfPreferenceSettings(pairs=10)
    assert plan_contests(many, "me", settings, 1) == plan_contests(many[::-1], "me", settings, 1)
    assert plan_contests(many, "me", settings, 1) != plan_contests(many, "me", settings, 2)


def test_the_family_meets_other_families_and_never_the_judge():
    many = prompts(4, "llama-70b", "vicuna-7b", "gpt-4", "claude-v1")
    found = plan_contests(many, "llama-70b", ALL, 0)
    family = [c for c in found if c.role == "family"]
    assert {(c.own, c.other) for c in family} == {("vicuna-7b", "gpt-4"), ("vicuna-7b", "claude-v1")}
    assert {c.other for c in found if c.role == "own"} == {"vicuna-7b", "gpt-4", "claude-v1"}
    without = plan_contests(many, "llama-70b", SelfPreferenceSettings(family=False), 0)
    assert {c.role for c in without} == {"own"}


def test_only_named_others_and_no_equal_texts():
    many = prompts(3, "me", "a", "b")
    many.append(Prompt("same", "Q?", "d", {"me": "equal ", "a": " equal"}))
    found = plan_contests(many, "me", SelfPreferenceSettings(others=("A",)), 0)
    assert {c.other for c in found} == {"a"} and len(found) == 3


def test_a_judge_that_answered_nothing_is_said_with_the_authors():
    with pytest.raises(
        DataError, match=r"no answer of|no prompt has an answer of the judge \('x'\).*authors there: a, b"
    ):
        plan_contests(prompts(2, "a", "b"), "x", ALL, 0)


def test_they_come_back_from_the_store(job):
    found = plan_contests(prompts(5, "me", "a"), "me", ALL, 0)
    store_contests(job.store, "run", found)
    assert load_contests(job.store, "run") == found
    assert load_contests(job.store, "other") == []


def test_nobody_speaks_about_what_it_wrote():
    [contest] = plan_contests(prompts(1, "me", "a"), "me", ALL, 0)
    assert not eligible("ME", contest) and not eligible("a", contest) and eligible("b", contest)


def test_labels_stand_before_the_answers_and_are_as_long():
    [contest] = plan_contests(prompts(1, "me", "a"), "me", ALL, 0)
    shown = labelled(contest.pair, THEIRS, YOURS)
    assert shown.chosen == f"{THEIRS}\n\n{contest.pair.chosen}"
    assert shown.rejected == f"{YOURS}\n\n{contest.pair.rejected}"
    assert shown.id == contest.pair.id
    assert len(THEIRS.split()) == len(YOURS.split())
