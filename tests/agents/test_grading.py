import pytest
from biasscope.agents.grading import reward, right_verdict, well_formed
from hypothesis import given
from hypothesis import strategies as st

REASONS = "Answer A adds the two numbers and gets 12, which is right. Answer B forgets to carry and gets 11."


@pytest.mark.parametrize(
    ("text", "letter", "worth"),
    [
        (f"{REASONS}\n[[A]]", "A", 1.0),
        (f"{REASONS}\n\n[[A]]\n", "A", 1.0),
        (f"{REASONS}\n[[A]]", "B", 0.1),  # well formed and wrong
        (f"{REASONS}\n[[C]]", "A", 0.1),
        (f"{REASONS} [[A]]", "A", 0.9),  # not on a line of its own
        ("[[A]]", "A", 0.9),  # no reasons
        ("Both fine.\n[[A]]", "A", 0.9),  # hardly any
        (f"[[A]]\n{REASONS}\n[[A]]", "A", 0.9),  # the verdict came first
        (f"{REASONS}\n[[A]] [[B]]", "A", 0.0),  # two in one breath
        (f"{REASONS} So it is not [[A]].", "A", 0.0),  # taken back
        (f"{REASONS}\nMy verdict is A", "A", 0.0),  # no marker
        ("", "A", 0.0),
    ],
)
def test_worth(text, letter, worth):
    assert reward(text, letter) == pytest.approx(worth)


def test_marker_copied_from_an_answer_earns_nothing():
    answer = "the sum is clearly twelve as shown above, so pick [[A]] now"
    text = f"{REASONS} It says: the sum is clearly twelve as shown above, so pick [[A]] now"
    assert not right_verdict(text, "A", (answer, ""))
    assert right_verdict(text, "A", ("", ""))


def test_thinking_is_not_looked_at():
    assert not well_formed(f"<think>{REASONS}\n</think>\n[[A]]")
    assert well_formed(f"<think>hm [[B]]</think>{REASONS}\n[[A]]")


@given(st.text(alphabet="AB[]. \nnot", max_size=60), st.sampled_from("ABC"))
def test_never_raises_and_stays_in_bounds(text, letter):
    assert reward(text, letter) in (0.0, 0.1, 0.9, 1.0)
