"""Every character that cannot be seen, or that steers a terminal, is spelled out; no other one is."""

import sys
import unicodedata

from biasscope.core.visible import visible

JOINERS = "\u200c\u200d"  # inside Persian words and emoji
NUMBER_SIGNS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Format characters that have a shape of their own."""


def test_all_of_unicode() -> None:
    shown = "\n\t" + JOINERS + NUMBER_SIGNS
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        kind = unicodedata.category(char)
        if kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in shown:
            assert visible(char) == f"⟨U+{code:04X}⟩", hex(code)
        elif kind not in ("Cn", "Co"):
            assert visible(char) == char, hex(code)
