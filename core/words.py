"""Words of a text in any language: how long an answer is, wherever that is asked."""

import re

_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKS = "\u3001-\u3003\u3008-\u3020\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65…—“”‘’"
WORD = re.compile(rf"[{_MARKS}]*+[{_HAN}][{_MARKS}]*|[^\s{_HAN}]+")
"""A stretch without white space; in Chinese and Japanese, which put none between words, a character with its marks."""


def word_count(text: str) -> int:
    """Number of words: stretches without white space, and characters of Chinese and Japanese."""
    return sum(1 for _ in WORD.finditer(text))
