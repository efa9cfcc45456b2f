"""Who wrote an answer, and who counts as the same."""

import re
from collections.abc import Mapping

_LINEAGES: tuple[tuple[str, str], ...] = (
    ("gpt|davinci|^o[134]([-.]|$)|chatgpt", "openai"),
    ("claude", "anthropic"),
    ("gemini|gemma|palm|bard", "google"),
    ("llama|vicuna|guanaco|wizardlm|alpaca|koala|tulu", "llama"),
    ("qwen|qwq", "qwen"),
    ("mistral|mixtral|ministral|magistral", "mistral"),
    ("deepseek", "deepseek"),
    ("phi-?[0-9]", "phi"),
    ("smollm", "smollm"),
    ("falcon", "falcon"),
    ("mpt", "mpt"),
    ("stablelm", "stablelm"),
    ("command|aya", "cohere"),
    ("glm", "glm"),
    ("grok", "xai"),
    ("^yi[-.]", "yi"),
)


def author_of(reference: str) -> str:
    """The author's name of a model reference: `openai:gpt-4o@http://...` and `local:/x/gpt-4o.gguf` are `gpt-4o`."""
    target = reference.partition(":")[2] or reference
    name = re.split(r"@(?=https?://)", target)[0].rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"\.gguf$", "", name, flags=re.IGNORECASE) or target


def same_author(one: str, other: str) -> bool:
    """Whether two names are one author; case does not matter."""
    return one.casefold() == other.casefold()


def family_of(author: str, families: Mapping[str, str]) -> str:
    """The lineage of an author: as given, else by its name (a fine-tune counts to its base), else a family of its
    own."""
    given = {name.casefold(): family for name, family in families.items()}
    name = author.casefold()
    if name in given:
        return given[name].casefold()
    return next((family for pattern, family in _LINEAGES if re.search(pattern, name)), name)
