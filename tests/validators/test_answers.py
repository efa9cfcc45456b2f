from fractions import Fraction

import pytest
from biasscope.validators.answers import answer_change, compare_answers, extract_answer, parse_answer
from hypothesis import given
from hypothesis import strategies as st

EXTRACTED = [
    # multiple choice
    ("The answer is (B).", "B"),
    ("The answer is B.", "B"),
    ("The answer is B", "B"),
    ("I checked twice.\n\n**B**", "B"),
    ("So it must be **B**.", "B"),
    ("Answer: C", "C"),
    ("**Answer:** C", "C"),
    ("**Answer: C**", "C"),
    ("### Final Answer\nD", "D"),
    ("### Final Answer\n\n**(D)** Lima", "D"),
    ("The correct option is (A) Paris", "A"),
    ("The correct answer is option C.", "C"),
    ("Final answer: (E)", "E"),
    ("the answer is B because water boils at 100 degrees.", "B"),
    ("Reasoning here.\n(C)", "C"),
    ("Reasoning here.\nB.", "B"),
    ("The answer should be: B) 42", "B"),
    ("The answer is $\\boxed{B}$.", "B"),
    ("\\boxed{\\text{(B)}}", "B"),
    ("\\boxed{\\textbf{C}}", "C"),
    ("One might think the answer is A. The final answer is C.", "C"),
    ("Therefore, the correct answer is **(D)**.", "D"),
    ("The final answer is: $\\boxed{B}$. I hope it is correct.", "B"),
    ("The answer is: A, because it rains.", "A"),
    ("The best answer is D, as shown.", "D"),
    # yes and no
    ("Answer: Yes.", "yes"),
    ("Each is checked in turn.\n\n**yes, no,  yes**", "yes, no, yes"),
    ("So the statement is **False**.", "false"),
    # repeated letters
    ("So we write AAAAA", "A"),
    ("Therefore: **CCCCC**", "C"),
    ("The answer is DDDDD.", "D"),
    ("Answer (B) is best.\n\nBBBBB", "B"),
    ("JJJJJ", "J"),
    # numbers
    ("The answer is 1,234.50.", Fraction(12345, 10)),
    ("The answer is 42.", Fraction(42)),
    ("The answer is -7", Fraction(-7)),
    ("The answer is −7.", Fraction(-7)),
    ("Answer: 3/4", Fraction(3, 4)),
    ("Answer: 1 1/2", Fraction(3, 2)),
    ("\\boxed{\\frac{1}{2}}", Fraction(1, 2)),
    ("\\boxed{-\\dfrac{3}{4}}", Fraction(-3, 4)),
    ("The answer is $25.", Fraction(25)),
    ("Answer: 12.5%", Fraction(25, 2)),
    ("Answer: 1.5e3", Fraction(1500)),
    ("Answer: $1.5 \\times 10^{3}$", Fraction(1500)),
    ("Answer: 2 × 10^-2", Fraction(1, 50)),
    ("The answer is x = 5.", Fraction(5)),
    ("The answer is 42 apples.", Fraction(42)),
    ("The answer is approximately 3.14.", Fraction(157, 50)),
    ("Sum them up.\n17", Fraction(17)),
    ("So the total is **17**.", Fraction(17)),
    ("#### Answer: 72", Fraction(72)),
    ("The answer is .5", Fraction(1, 2)),
    ("The answer is 0", Fraction(0)),
    ("Thus the answer is \\(\\frac{3}{5}\\).", Fraction(3, 5)),
    ("**Final Answer: The answer is 12.**", Fraction(12)),
    ("Answer: 12 cm²", Fraction(12)),
    ("The answer is $1,200.", Fraction(1200)),
    # texts
    ("Final answer: Paris", "paris"),
    ("The answer is  New   York.", "new york"),
    ("\\boxed{x^{2} + \\sqrt{y}}", "x^{2} + \\sqrt{y}"),
    # nothing, or not clear
    ("", None),
    ("   \n ", None),
    ("I do not know.", None),
    ("The answer is A. No, the answer is B.", None),
    ("The answer is (A) and (C).", None),
    ("The answer is B or C.", None),
    ("The answer is not B.", None),
    ("The answer isn't B.", None),
    ("The answer is between 3 and 4", "between 3 and 4"),
    ("The answer is 3 or 4.", None),
    ("The answer is 3 to 5.", None),
    ("The answer is 3,5", None),
    ("\\boxed{B} but the answer is C.", None),
    ("AAAAA or BBBBB", None),
    ("\\boxed{unclosed", None),
    ("The answer is 1/0.", None),
    ("The answer is 5:30 PM.", None),
    ("Answer: 2^10", None),
    ("Answer: 3x + 2", None),
    ("The answer is A, I think", None),
    ("Add 2 cups of flour", None),
    ("Written by\nA. Smith", None),
    ("The answer is A cat", "a cat"),
    # how large a number is
    ("Answer: 5 million", Fraction(5_000_000)),
    ("The answer is about 2.5 billion dollars.", Fraction(2_500_000_000)),
    ("Answer: 3 dozen eggs", Fraction(36)),
    ("Answer: 25 bn", None),
    ("Answer: 1\u00a0234\u202f567", Fraction(1234567)),
    ("Answer: $1{,}234$", Fraction(1234)),
    ("Answer: \\frac12", Fraction(1, 2)),
    ("Answer: \\frac{12", "\\frac{12"),
    # more than one answer
    ("Answer: x = 3, y = 4", None),
    ("Answer: 5; 6", None),
    ("\\boxed{5} or \\boxed{6}", None),
    ("$\\boxed{5}$, $\\boxed{6}$", None),
    ("First \\boxed{5}, which we double to \\boxed{10}.", Fraction(10)),
    ("\\boxed{5!}", None),
    ("The answer is 5!", Fraction(5)),
    # answers of several lines, which the first does not say
    ("Answer:\n```python\nprint(42)\n```", None),
    ("Answer:\n1. Paris\n2. Rome", None),
    ("Answer:\n| a | b |\n|---|---|", None),
    ("The answer is as follows:\n- one\n- two", None),
    ("The answer is this list\n\n1. one\n2. two", None),
    ("Steps are:\n1. B", None),
    ("Add them.\n2) 14", None),
    # answers taken back
    ("Answer: A. I mean B.", None),
    ("The answer is 5.\n\nWait, 6 is right.", None),
    ("The answer is 5. Hmm, wait. The answer is 5.", Fraction(5)),
    ("The answer is B, or rather C.", None),
    ("\\boxed{7}. Actually, let me see.", None),
    ("The answer is 7, which is actually small.", Fraction(7)),
    ("The answer is 7. It is actually small.", Fraction(7)),
    ("The answer is C major.", "c major"),
]


@pytest.mark.parametrize(("text", "expected"), EXTRACTED)
def test_extract(text: str, expected: str | Fraction | None) -> None:
    answer = extract_answer(text)
    if expected is None:
        assert answer is None
    elif isinstance(expected, Fraction):
        assert answer is not None and answer.kind == "number" and answer.number == expected
    else:
        assert answer is not None and answer.text == expected and answer.number is None


COMPARED = [
    ("The answer is (B).", "Experts agree. Answer: B", "same"),
    ("The answer is (B).", "BBBBB", "same"),
    ("The answer is (B).", "CCCCC", "different"),
    ("Answer: 1/2", "Answer: 0.5", "same"),
    ("Answer: 1,000", "The answer is 1000 dollars.", "same"),
    ("Answer: 50%", "Answer: 0.5", "same"),
    ("Answer: 50%", "Answer: 50", "unknown"),
    ("Answer: 5 km", "Answer: 5000 m", "unknown"),
    ("Answer: 5 apple", "Answer: 6 apples", "different"),
    ("Answer: 3.14", "Answer: 3.1416", "unknown"),
    ("Answer: 1/3", "Answer: 0.333", "unknown"),
    ("Answer: 1000", "Answer: 1001", "different"),
    ("Answer: 1e3", "Answer: 1000", "same"),
    ("Answer: -2", "Answer: 2", "different"),
    ("Answer: Paris", "The answer is paris.", "same"),
    ("Answer: Paris", "Answer: London", "unknown"),
    ("Answer: B", "Answer: 7", "unknown"),
    ("Answer: yes", "Answer: No.", "different"),
    ("Answer: yes", "Answer: false", "unknown"),
    ("Answer: yes", "Answer: B", "unknown"),
    ("**yes, no**", "**yes, yes**", "different"),
    ("**yes, no**", "**yes, no, no**", "unknown"),
    ("Answer: 3x", "Answer: 3", "unknown"),
    ("Answer: 5 m", "Answer: 5 m", "same"),
    ("Answer: $10", "Answer: 10 dollars", "same"),
    ("no answer", "Answer: 7", "unknown"),
    ("same text", "same text ", "same"),
    ("", "", "unknown"),
    ("Answer: 5 million", "Answer: 5", "different"),
    ("Answer: 5 million", "Answer: 5,000,000", "same"),
    ("Answer:\n```\nprint(1)\n```", "Answer:\n```\nprint(2)\n```", "unknown"),
    ("Answer: x=3, y=4", "Answer: x=3, y=5", "unknown"),
    ("\\boxed{42}", "The answer is **42**.", "same"),
    ("\\boxed{\\frac{2}{4}}", "\\boxed{0.5}", "same"),
]


@pytest.mark.parametrize(("a", "b", "expected"), COMPARED)
def test_compare(a: str, b: str, expected: str) -> None:
    assert compare_answers(a, b) == expected
    assert compare_answers(b, a) == expected


@pytest.mark.parametrize(
    ("original", "chosen", "rewritten", "expected"),
    [
        ("Answer: A", "Answer: B", "As experts say: the answer is A.", "same"),
        ("Answer: A", "Answer: B", "As experts say: the answer is B.", "changed"),
        ("Answer: A", "Answer: B", "As experts say: the answer is C.", "changed"),
        ("Answer: A", "Answer: B", "As experts say.", "unknown"),
        ("A poem.", "A better poem.", "A rewritten poem.", "unknown"),
        ("Answer: 3.14", "Answer: 3.1416", "Answer: 3.1416", "unknown"),
        ("Answer: Rome", "Answer: Paris", "Answer: Paris", "unknown"),
    ],
)
def test_answer_change(original: str, chosen: str, rewritten: str, expected: str) -> None:
    assert answer_change(original, chosen, rewritten) == expected


@given(st.text(max_size=300))
def test_any_text_is_safe_and_equal_to_itself(text: str) -> None:
    answer = extract_answer(text)
    assert answer is None or answer.text
    assert compare_answers(text, text) == ("same" if text.strip() else "unknown")
    parse_answer(text)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_whole_numbers_compare_as_numbers(a: int, b: int) -> None:
    expected = "same" if a == b else "different"
    assert compare_answers(f"The answer is {a:,}.", f"\\boxed{{{b}}}") == expected


@pytest.mark.parametrize(
    "text", ["answer is " * 20_000, "{" * 100_000, "\\boxed{" * 20_000, "A" * 100_000, "\ud800 (" * 40_000]
)
def test_hostile_texts_are_quick(text: str) -> None:
    assert compare_answers(text, "Answer: B") == "unknown" or text.startswith("A")
