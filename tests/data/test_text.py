from collections import Counter

import pytest
from biasscope.data.text import UnreadableText, answer_text, clean, prompt_text
from hypothesis import given
from hypothesis import strategies as st

any_text = st.text(st.characters(), max_size=60)


def test_every_change_is_counted() -> None:
    counts: Counter[str] = Counter()
    assert clean("a\r\nb\rc\x00d\x07e\ufffdf\ud800g\th", counts) == "a\nb\nc\ufffdd\ufffde\ufffdf\ufffdg\th"
    assert counts == dict.fromkeys(("U+FFFD", "CRLF", "bare CR", "NUL", "control character", "lone surrogate"), 1)


@given(any_text)
def test_cleaning_is_complete_and_stays(text: str) -> None:
    counts: Counter[str] = Counter()
    once = clean(text, counts)
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in once)
    assert clean(once, Counter()) == once
    assert once.encode().decode() == once
    assert (once == text) or counts
    assert len(once) == len(text) - text.count("\r\n")


def test_turns_and_messages() -> None:
    assert prompt_text("one") == ("one", 1)
    assert prompt_text(["one"]) == ("one", 1)
    assert prompt_text(["one", "two"]) == ("Turn 1:\none\n\nTurn 2:\ntwo", 2)
    chat = [{"role": r, "content": c} for r, c in (("user", "hi"), ("assistant", "yes?"), ("user", "why?"))]
    assert prompt_text(chat) == ("User: hi\n\nAssistant: yes?\n\nUser: why?", 2)
    assert prompt_text(chat[:1]) == ("hi", 1)
    assert answer_text([*chat, {"role": "assistant", "content": "so"}]) == "so"
    assert answer_text(None) == ""
    assert answer_text(12) == "12"
    for odd in ({}, True, [1, "x"], [{"text": "x"}], [[{"role": "assistant", "content": "x"}]], ["one", "two"]):
        with pytest.raises(UnreadableText):
            answer_text(odd)
    assert answer_text(["one", "two"], turns=2) == "Turn 1:\none\n\nTurn 2:\ntwo"
    assert answer_text(float("nan")) == "" and prompt_text(float("nan")) == ("", 1)


def test_the_forms_of_chat_messages() -> None:
    assert answer_text({"role": "assistant", "content": "so"}) == "so"
    assert answer_text({"from": "gpt", "value": "so"}) == "so"
    assert prompt_text([{"from": "human", "value": "hi"}]) == ("hi", 1)
    parts = [{"type": "text", "text": "so "}, {"type": "text", "text": "it is"}]
    assert answer_text([{"role": "assistant", "content": parts}]) == "so it is"
    for odd, said in (
        ([{"role": "assistant", "content": [*parts, {"type": "image_url", "image_url": "x"}]}], "list where a text"),
        ([{"role": "user", "content": "thanks"}], "of the role 'user', not of the assistant"),
        ([{"role": None, "content": "x"}], "whose role is None"),
    ):
        with pytest.raises(UnreadableText, match=said):
            answer_text(odd)
