import pytest
from biasscope.core.errors import DataError
from biasscope.data.labels import as_number, numbers_of, read_label
from hypothesis import given
from hypothesis import strategies as st

A = ["A", "a", " A ", "[[A]]", "(a)", "A.", "A>B", "A > B", "A>>B", "B<A", "[[A>>B]]", "first", "First", "left"]
A += ["model_a", "response_A", "Assistant A", "answer 1", "output_1", "response1", "Option one", "A≻B"]
B = ["B", "b", "[[B]]", "B>A", "A<B", "B >> A", "second", "RIGHT", "model_b", "response_b", "output_2", "response2"]
TIE = [
    "tie",
    "Tie",
    "tie (bothbad)",
    "A=B",
    "a = b",
    "[[A=B]]",
    "equal",
    "draw",
    "both",
    "neither",
    "same",
    "C",
    "[[C]]",
]


@pytest.mark.parametrize(
    ("label", "reading"), [*((x, "A") for x in A), *((x, "B") for x in B), *((x, "tie") for x in TIE)]
)
def test_words(label: str, reading: str) -> None:
    assert read_label(label) == reading


@pytest.mark.parametrize(
    "label", [None, "", " ", "?", "A or B", "A>A", "AB", "better", True, False, "yes", [], {}, "A>C", 7]
)
def test_never_a_guess(label: object) -> None:
    assert read_label(label, "1/2") is None


@pytest.mark.parametrize(
    ("value", "numbers", "reading"),
    [
        (1, "1/2", "A"),
        (2, "1/2", "B"),
        ("1", "1/2", "A"),
        (2.0, "1/2", "B"),
        (0, "1/2", None),
        (0, "0/1", "A"),
        ("1.0", "0/1", "B"),
        (2, "0/1", None),
        (1, None, None),
        (-1, "0/1", None),
    ],
)
def test_numbers(value: object, numbers: str | None, reading: str | None) -> None:
    assert read_label(value, numbers) == reading  # type: ignore[arg-type]


def test_model_names() -> None:
    models = ("gpt-4", "Llama 2")
    assert read_label("gpt-4", None, models) == "A"
    assert read_label("LLAMA 2", None, models) == "B"
    assert read_label("other", None, models) is None
    assert read_label("same", None, ("x", "x")) == "tie"
    assert read_label("b", None, ("b", "a")) is None, "a name that also reads as the other side"


def test_own_values_win() -> None:
    own = {"win": "A", "loss": "B", "true": "A", "1": "B"}
    assert [read_label(x, "1/2", own=own) for x in ("WIN", "loss", True, 1)] == ["A", "B", "A", "B"]  # type: ignore[arg-type]


def test_what_numbers_mean() -> None:
    assert numbers_of([1, 2, "tie"], "label") == "1/2"
    assert numbers_of(["0", "1", None], "label") == "0/1"
    assert numbers_of(["A", "B"], "label") is None
    with pytest.raises(DataError, match=r"columns\.labels"):
        numbers_of([1, 1, 1], "label")
    with pytest.raises(DataError, match="both 0 and 2"):
        numbers_of([0, 1, 2], "label")


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.integers())))
def test_anything_is_read_or_left(value: object) -> None:
    assert read_label(value, "1/2", ("m", "n")) in ("A", "B", "tie", None)


@given(st.sampled_from(A), st.sampled_from([" ", "\n", "\t", ""]), st.sampled_from([str.upper, str.lower]))
def test_case_and_space_do_not_matter(label: str, space: str, case: object) -> None:
    assert read_label(space + case(label) + space) == "A"  # type: ignore[operator]


@given(st.integers())
def test_only_small_whole_numbers_are_labels(n: int) -> None:
    assert as_number(n) == (n if -1 <= n <= 3 else None)
