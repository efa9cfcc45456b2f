"""Sentences, and what is code."""

import random

import pytest
from biasscope.bias_library.features import load_features, measure_all
from biasscope.bias_library.features.anatomy import anatomy
from biasscope.bias_library.features.edits import apply, place
from biasscope.bias_library.features.topics import subjects, topic_words


def sentences(text):
    return [text[s.start : s.end] for s in anatomy(text).sentences]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It is 3.5 m, e.g. here. Dr. Moss agrees.", ["It is 3.5 m, e.g. here.", "Dr. Moss agrees."]),
        ("J. Moss wrote it. So be it", ["J. Moss wrote it.", "So be it"]),
        ("- First item.\n- Second item", ["First item.", "Second item"]),
        ("1. Add 2. Then stop.\n\nDone.", ["Add 2.", "Then stop.", "Done."]),
        ("# Head\n\nA line\nthat goes on. End.", ["A line\nthat goes on.", "End."]),
        ("```\nx = 1. y.\n```\nAfter.", ["After."]),
        ("~~~\na.\n```\nb.\n~~~\nAfter.", ["After."]),
        ("Then:\n\n    x. y.\n\nAfter.", ["Then:", "After."]),
        ("$$\na. b.\n$$\nAfter.", ["After."]),
        ("答案如下。答案是 12。", ["答案如下。", "答案是 12。"]),
        ("| a. b. | c |\n> quoted. text.\n---\nAfter.", ["After."]),
        ("return x\nfor i in y:\n# note. note.\nprint(i)", []),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("...", []),
        ("", []),
    ],
)
def test_sentences(text, expected):
    assert sentences(text) == expected


def test_prose_leaves_code_out():
    form = anatomy("Before it’s here.\n```\ncode words here\n```\nAfter.")
    assert form.prose == "Before it's here.\nAfter." and form.words == 4


def test_sentences_go_between_and_never_after_the_last():
    for seed in range(20):
        edited = place("First. Second. The answer is 4.", ["New one.", "New two."], random.Random(seed))
        assert edited.startswith("First.") and edited.endswith(" The answer is 4.")
        assert edited.index("New one.") < edited.index("New two.")
    assert place("The answer is 4.", ["New."], random.Random(0)) == "New.\n\nThe answer is 4."


def test_a_closing_remark_stays_before_an_answer():
    close = [random.Random(0), "end"]
    assert place("Work.\n\n42", ["Bye."], *close) == "Work.\n\nBye.\n\n42"
    assert place("Work. So it is (B).", ["Bye."], *close) == "Work. Bye. So it is (B)."
    long_end = "Work. The town lies by the river and has been there ever since."
    assert place(long_end, ["Bye."], *close) == f"{long_end}\n\nBye."


def test_edits_at_one_place_come_in_order_and_do_not_overlap():
    assert apply("abcd", [(1, 1, "1"), (1, 1, "2"), (2, 3, "X")]) == "ab"[:1] + "12bXd"


def test_topics():
    question = "How much does the ticket for a museum cost, and is Farah's discount valid?"
    assert topic_words("", question) == ("ticket", "museum", "cost", "farah", "discount", "valid")
    assert subjects("", question) == ("ticket", "museum")
    assert subjects("", "") == ("matter",)
    assert topic_words("The river is wide. It ends at sea. Trees stand there.") == ("river", "wide", "ends")


LANGUAGES = {
    "chinese": ("第一步是看题，第二步是计算！为什么？“很好。”这是（一个旁注）42——2024年。", 25),
    "arabic": ("هذا سؤال في الرياضيات! هل الجواب واضح؟ نعم، الجواب هو 42 منذ 2024.", 12),
    "german": ("Das ist die Antwort! Warum? Er sagte „so ist es“ (übrigens nebenbei). Also 42, seit 2024.", 16),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_marks_figures_and_lengths_count_in_any_language(language):
    text, words = LANGUAGES[language]
    measured = measure_all(text, "", load_features())
    assert measured["length"] >= words
    for name in ("exclamation_marks", "rhetorical_questions", "figures", "dates"):
        assert measured[name] > 0, name
    if language != "arabic":
        assert measured["parentheticals"] > 0 and measured["quotations"] > 0
    assert sum(s.closed for s in anatomy(text).sentences) == (3 if language == "arabic" else 4)


def test_edits_of_a_text_in_another_language_are_as_dense_as_in_english():
    text = "这是一句话，说的是一件事。" * 40 + "答案是 12。"
    feature = load_features()["rhetorical_questions"]
    edited = feature.write(text, random.Random(0), "")
    assert edited.endswith("答案是 12。")
    assert edited.count("?") >= 8
