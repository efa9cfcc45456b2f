"""What a text is about, in single words: for templates that name their subject and for echoes of the question."""

import functools
import re

from .anatomy import anatomy

_WORD = re.compile(r"(?<![\w\\$/@.])[A-Za-z][a-z]{3,19}(?![\w\\$/@])")
_THING = re.compile(
    r"\b(?:the|a|an|this|each|per|every|one|its|their|his|her|whose|of)\s+([a-z]{4,19})(?=[\s.,;:?!]|$)", re.IGNORECASE
)
_NO_THING = re.compile(r"(?:[^su]s|ing|ed|ly|est|ous|ful|ive|ble|ical|er)$")
MOST = 12
NO_SUBJECT = "matter"
_COMMON = frozenset(
    """about above after again answer answers also although always among another because been before being below between
    both cannot come comes could does doing done down each either else even ever every find first following from give
    given gives goes have having hence here high holds however into itself just know last least less like made make
    makes many might more most much must need needs never next nothing once only other otherwise over please question
    rather right same says second shall should since some something still such sure take takes tell text than that
    their them then there therefore these they thing this those though three through thus time times true under until
    upon used using very want well were what when where whether which while whom whose will with within without work
    would write wrong your yours left below whole main total large small long short full good best certain correct
    current different general original possible simple single specific""".split()  # noqa: SIM905
)


@functools.lru_cache(maxsize=256)
def topic_words(text: str, question: str = "") -> tuple[str, ...]:
    """Up to 12 words, in lower case, that the question is about; without a question, the text's first two sentences."""
    words = (word.lower() for word in _WORD.findall(_source(text, question)))
    return tuple(dict.fromkeys(word for word in words if word not in _COMMON))[:MOST]


@functools.lru_cache(maxsize=256)
def subjects(text: str, question: str = "") -> tuple[str, ...]:
    """Topic words that "the" can stand before and "is" after, as far as their place and ending tell; else "matter"."""
    words = (word.lower() for word in _THING.findall(_source(text, question)))
    things = dict.fromkeys(word for word in words if word not in _COMMON and not _NO_THING.search(word))
    return tuple(things)[:MOST] or (NO_SUBJECT,)


def _source(text: str, question: str) -> str:
    if question.strip():
        return question[:5000]
    form = anatomy(text)
    return " ".join(text[s.start : s.end][:1000] for s in form.sentences[:2])
