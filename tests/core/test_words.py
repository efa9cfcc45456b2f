"""Words in any language."""

import time

import pytest
from biasscope.core.words import WORD, word_count
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("  one two\n three\t", 3),
        ("答案是 12。", 4),
        ("他说：“好！”然后走了。", 7),
        ("かな、カナ", 4),
        ("한국어 문장 둘.", 3),
        ("و 42 جواب", 3),
        ("GPT模型", 3),
        ("。。。", 1),
    ],
)
def test_words(text, count):
    assert word_count(text) == count


@given(st.text(st.sampled_from("aé ,.!。“「字かカ中 \n1؟"), max_size=60))
def test_words_cover_all_but_white_space_once(text):
    assert "".join(WORD.findall(text)) == "".join(text.split())
    assert word_count(text) >= len(text.split())


def test_hostile_texts_take_linear_time():
    start = time.process_time()
    for unit in ("。", "a", "字", "。字", "“ ", "「a"):
        assert word_count((unit * 200_000)[:200_000]) > 0
    assert time.process_time() - start < 3
