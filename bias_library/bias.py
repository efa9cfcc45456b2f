"""One bias: its wording made clean, and its content id."""

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


def normalised(text: str) -> str:
    """What makes two wordings the same to the letter: compatible characters folded, case and final stops dropped."""
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
    """The text that is embedded when biases are compared; the form is chosen by `benchmarks/merging.py`."""
    return f"{name}: {definition}"
