"""Word diffs and visible text, on everyday and on hostile input."""

import random
import time

import pytest
from biasscope.core.visible import fenced, markdown, one_line, visible
from biasscope.runs.report.diff import cut, marked
from biasscope.runs.report.svg import fit
from hypothesis import given
from hypothesis import strategies as st

words = st.lists(st.sampled_from(["a", "b", "the", "x9", "\n\n", "数", "学"]), max_size=40).map(" ".join)


def side(text, kinds):
    return "".join(s.text for s in text.spans if s.kind in kinds)


@given(words, words)
def test_diff_spells_out_both_texts(before, after):
    shown = marked(before, after)
    assert side(shown, {"same", "added"}) == after
    assert side(shown, {"same", "removed"}) == before


def test_diff_marks_phrases_not_fragments():
    spans = [(s.kind, s.text) for s in marked("It is a quick look that fits.", "It is what the evidence shows.").spans]
    assert spans == [("same", "It is "), ("removed", "a quick look that fits."), ("added", "what the evidence shows.")]


def test_words_that_occur_often_are_no_obstacle():
    draw = random.Random(0)
    before = [draw.choice(["the", "of", "and", "to", "a", "in", "is", "it", "that", "for"]) for _ in range(400)]
    after = list(before)
    after[100] = after[250] = "changed"
    shown = marked(" ".join(before), " ".join(after), 10**6)
    changed = [(s.kind, s.text) for s in shown.spans if s.kind not in ("same", "cut")]
    assert changed == [
        ("removed", before[100]), ("added", "changed"), ("removed", before[250]), ("added", "changed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("word " * 20_000, "word " * 10_000 + "other " * 10_000),
        (" ".join(map(str, range(20_000))), " ".join(str(k + k % 2) for k in range(20_000))),
        ("x" * 100_000, "y" * 100_000),
        ("a b " * 700, "b a c " * 900),
    ],
)
def test_long_texts_are_diffed_quickly_and_cut_with_a_note(before, after):
    start = time.process_time()
    shown = marked(before, after)
    assert time.process_time() - start < 20
    assert sum(len(s.text) for s in shown.spans) < 10_000
    assert shown.characters == len(after)
    assert len(after) < 5_000 or any(s.kind == "cut" and "left out" in s.text for s in shown.spans)


def test_cut_keeps_both_ends():
    text = cut("start" + "." * 5000 + "end", 100)
    assert [s.kind for s in text.spans] == ["same", "cut", "same"]
    assert text.spans[0].text.startswith("start") and text.spans[2].text.endswith("end")
    assert cut("").spans == ()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\x00\x1b[31m", "⟨U+0000⟩⟨U+001B⟩[31m"),
        ("lone \ud800", "lone ⟨U+D800⟩"),
        ("tag \U000e0041", "tag ⟨U+E0041⟩"),
        ("tab\tand\r\nbreak", "tab\tand\nbreak"),
        ("👩‍🔬 é ع", "👩‍🔬 é ع"),
    ],
)
def test_hidden_characters_are_spelled_out(raw, shown):
    assert visible(raw) == shown


@given(st.text())
def test_any_text_becomes_printable_one_line_and_inert(text):
    one_line(text).encode()
    assert len(one_line(text, 20)) <= 20
    assert "\n" not in markdown(text) and "<" not in markdown(text)
    lines = fenced(text).split("\n")
    assert lines[-1] == lines[0].removesuffix("text") and lines[-1] not in lines[1:-1]


@pytest.mark.parametrize(
    ("raw", "inert"),
    [
        (
            "43.3 (95 % interval 39.4 to 47.3), cross-validated: so.",
            "43.3 (95 % interval 39.4 to 47.3), cross-validated: so.",
        ),
        ("1. not a list", "1\\. not a list"),
        ("12) nor this", "12\\) nor this"),
        ("- nor this", "\\- nor this"),
        ("[click](https://evil.example)", "\\[click\\](https\\://evil\\.example)"),
        ("www.evil.example a@b.c", "www\\.evil\\.example a\\@b\\.c"),
        ("![x](y) *b* <i>", "\\!\\[x\\](y) \\*b\\* &lt;i&gt;"),
    ],
)
def test_only_what_could_be_markup_is_escaped(raw, inert):
    assert markdown(raw) == inert


def test_fit_counts_wide_characters_twice():
    assert fit("数" * 20, 10) == "数" * 4 + "…"
    assert fit("short", 10) == "short"
