import itertools
import math
import random
import re
import time

import pytest
from biasscope.core.words import word_count
from biasscope.validators.text_controls import DIFF_WORDS, length_ratio, truncate_words, word_diff
from hypothesis import given
from hypothesis import strategies as st


def test_words() -> None:
    assert word_count("  one two\n three\t") == 3 and word_count("") == 0
    assert length_ratio("a b c", "a b") == 1.5
    assert math.isnan(length_ratio("a", " "))


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("One two. Three four five six seven eight nine ten eleven.", 5, "One two. Three four five"),
        ("a b c d e f g h i. j k l", 10, "a b c d e f g h i."),
        ("a b c d e f g h i\nj k l", 10, "a b c d e f g h i"),
        ("a b  c", 3, "a b  c"),
        ("a b  c d", 2, "a b"),
        ("a b", 0, ""),
        ("", 5, ""),
        ('He said "a b c d e f g." And more words', 9, 'He said "a b c d e f g."'),
    ],
)
def test_truncate(text: str, words: int, expected: str) -> None:
    assert truncate_words(text, words) == expected


@given(st.text(alphabet="ab .\n", max_size=200), st.integers(0, 40))
def test_truncated_is_a_beginning_and_not_too_short(text: str, words: int) -> None:
    cut = truncate_words(text, words)
    assert text.startswith(cut)
    assert word_count(cut) <= words
    if word_count(text) >= words:
        assert word_count(cut) >= math.floor(words * 0.9)


def test_diff_by_hand() -> None:
    before = "The answer is clearly four, as shown."
    after = "The answer is four, as experts have shown."
    assert word_diff(before, after) == [
        ("same", "The answer is "),
        ("removed", "clearly "),
        ("same", "four, as "),
        ("added", "experts have "),
        ("same", "shown."),
    ]
    assert word_diff("same", "same") == [("same", "same")]
    assert word_diff("", "new") == [("added", "new")]
    assert word_diff("", "") == []


words = st.lists(st.sampled_from(["a", "b", " c\n", "d ", "\u3000", "\x1c", "e\x85"]), max_size=40).map(" ".join)


@given(words, words)
def test_diff_gives_both_texts_back(before: str, after: str) -> None:
    segments = word_diff(before, after)
    assert "".join(text for tag, text in segments if tag != "removed") == after
    assert "".join(text for tag, text in segments if tag != "added") == before
    assert all(one[0] != two[0] for one, two in itertools.pairwise(segments))


@pytest.mark.parametrize("joint", [" ", "\n"])
def test_large_texts_are_quick(joint: str) -> None:
    rng = random.Random(1)
    before = joint.join(rng.choice("abcdefgh") * 3 for _ in range(25_000))
    after = joint.join(rng.choice("abcdefgh") * 3 for _ in range(25_000))
    hard = " ".join(rng.choice("ab") for _ in range(DIFF_WORDS)), " ".join(rng.choice("ab") for _ in range(DIFF_WORDS))
    started = time.process_time()
    segments = word_diff(before, after)
    word_diff(*hard)
    truncate_words(before, 20_000)
    assert time.process_time() - started < 20
    assert "".join(text for tag, text in segments if tag != "removed") == after


def test_a_changed_line_in_a_long_text_is_found() -> None:
    lines = [f"line {i} " + "word " * 20 for i in range(400)]
    changed = ["opening, quite new", *lines[1:-1], "closing, quite new"]
    segments = word_diff("\n".join(lines), "\n".join(changed))
    same = sum(len(re.findall(r"\S+", text)) for tag, text in segments if tag == "same")
    assert same > 8_000 and len(segments) <= 7
