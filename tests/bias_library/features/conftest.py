"""Texts of several kinds, and a look at what an edit must not change."""

import re
from pathlib import Path

import biasscope
import pytest
import yaml
from biasscope.data.builtin import builtin_pairs

FILE = Path(biasscope.__file__).parent / "benchmarks" / "feature_texts.yaml"
_TEXTS = [(row["text"], row["question"]) for row in yaml.safe_load(FILE.read_text(encoding="utf-8"))]
_TEXTS += [(pair.rejected, pair.prompt) for pair in builtin_pairs(8)]
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@pytest.fixture(scope="session")
def texts():
    """(text, question) pairs: prose, lists, Markdown, code, mathematics, German, and built-in answers."""
    return _TEXTS


@pytest.fixture(scope="session")
def keeps_numbers():
    """Whether the numbers of one text stand in another, in order."""

    def check(before, after):
        left = iter(_NUMBER.findall(after))
        return all(number in left for number in _NUMBER.findall(before))

    return check


@pytest.fixture(scope="session")
def last_sentence():
    """The last sentence of the last line that is not blank."""
    return lambda text: re.split(r"(?<=[.!?])\s+", text.rstrip().rsplit("\n", 1)[-1].strip())[-1]
