"""Every character that cannot be seen, or that steers a terminal, is spelled out; no other one is."""

import sys
import unicodedata

from biasscope.core.visible import visible

JOINERS = "\u200c\u200d"  # inside Persian words and emoji
NUMBER_SIGNS = {c for c in map(chr, range(0x600, 0x606))} | set("\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Format characters that have a shape of their own."""


def test_all_of_unicode() -> None:
    shown = "\n\t" + JOINERS
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if (
            unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
            and char not in shown
            and char not in NUMBER_SIGNS
        ):
            assert visible(char) == f"⟨U+{code:04X}⟩", hex(code)
        elif unicodedata.category(char) not in ("Cn", "Co"):
            assert visible(char) == char, hex(code)
