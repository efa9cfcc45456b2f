"""One bias: its wording made clean, and its content id."""

import functools
import re
import unicodedata
from collections.abc import Iterable

from ..core.errors import LibraryError
from ..core.ids import content_id
from ..core.records import Bias, Origin

NAME_LIMIT = 200
TEXT_LIMIT = 4000


def clean(text: str) -> str:
    """One line in NFC: control and format characters gone, lone surrogates as U+FFFD, runs of white space as one."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    spaced = " ".join(whole.split())
    visible = "".join(c for c in spaced if unicodedata.category(c) not in ("Cc", "Cf"))
    return unicodedata.normalize("NFC", " ".join(visible.split()))


@functools.lru_cache(maxsize=4096)
def normalised(text: str) -> str:
    """What makes two wordings the same to the letter: compatible characters folded, case and final stops dropped.

    Remembered: a lexicon's wordings are compared with every bias again and again.
    """
    return clean(unicodedata.normalize("NFKC", clean(text)).casefold()).rstrip(" .;:!")


def bias_id(name: str, definition: str) -> str:
    """The content id over normalised name and definition."""
    return content_id("bias", normalised(name), normalised(definition))


def make_bias(
    name: str, definition: str, manifestation: str = "", *, origin: Origin, parents: Iterable[str] = ()
) -> Bias:
    """A bias from untrusted wording; LibraryError when a name or definition is empty or far too long."""
    name, definition, manifestation = clean(name), clean(definition), clean(manifestation)
    for field, text, limit in (("name", name, NAME_LIMIT), ("definition", definition, TEXT_LIMIT)):
        if not normalised(text):
            raise LibraryError(f"a bias needs a {field}; got {text!r}: give it one")
        if len(text) > limit:
            raise LibraryError(f"the {field} of a bias has {len(text)} characters ({text[:40]!r}…): keep it to {limit}")
    return Bias(
        id=bias_id(name, definition),
        name=name,
        definition=definition,
        manifestation=manifestation[:TEXT_LIMIT].rstrip(),
        origin=origin,
        parents=tuple(sorted(set(parents))),
    )


def bias_text(name: str, definition: str) -> str:
    """The text that is embedded when biases are compared: `name: definition` without the words that all biases share.

    "The judge prefers answers that ..." stands in nearly every definition and would be most of what an embedder sees:
    without it the packaged one ranks a bias's double first half as often again (benchmarks/merging.py).
    """
    return f"{_telling(name)}: {_telling(definition)}"


def _telling(text: str) -> str:
    words = [w for w in _WORD.findall(text) if w.casefold().removesuffix("'s") not in _SHARED]
    return " ".join(words) or text


_WORD = re.compile(r"[\w%&'’-]+")
_SHARED = frozenset(
    """the a an that which when is are it its of to in and or for by more than made make makes be as on one with even
    although though if whether not judge judges evaluator evaluators verdict bias effect preference preferences prefer
    prefers preferred favour favours favoured favor favors favored reward rewards rewarded rating ratings rate rates
    rated score scores scored grade grades higher better best win wins like likes liked answer answers response
    responses text""".split()  # noqa: SIM905
)
