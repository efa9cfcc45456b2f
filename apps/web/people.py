"""Who may do what: named reviewers in a file, each with a role and the hash of a token."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from ...bias_library.bias import clean
from ...core.errors import ConfigError
from ...runs.folder import command_in

Role = Literal["viewer", "annotator", "admin"]
Right = Literal["see", "annotate", "decide"]
RIGHTS: dict[Role, frozenset[Right]] = {
    "viewer": frozenset({"see"}),
    "annotator": frozenset({"annotate"}),
    "admin": frozenset({"see", "annotate", "decide"}),
}
"""An annotator sees the queue and nothing else: who has read the library would not be blind."""
FILE = "reviewers.json"
_OURS = "biasscope"
_NAME_LIMIT = 60


class Reviewer(BaseModel):
    """Somebody who may use the app."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    role: Role
    token_sha256: str = ""
    """Empty for the one person of an app without logins."""

    def may(self, right: Right) -> bool:
        """Whether the role has this right."""
        return right in RIGHTS[self.role]


def load(path: Path) -> dict[str, Reviewer]:
    """The reviewers of a file by name; none when there is no file. ConfigError says what is wrong with it."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        found = [Reviewer.model_validate(item) for item in listed]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, ValidationError) as error:
        raise ConfigError(
            f"{path}: is no list of reviewers ({str(error).splitlines()[0]}); mend it or make a new one with "
            + f"`{command_in(path.parent, 'reviewers add NAME')}`"
        ) from None
    return {reviewer.name: reviewer for reviewer in found}


def add(path: Path, name: str, role: str) -> str:
    """Add a reviewer, or give one a new token and role; returns the token, which is kept nowhere."""
    if role not in get_args(Role):
        raise ConfigError(f"--role {role!r}: is none of {', '.join(get_args(Role))}")
    token = secrets.token_urlsafe(32)
    reviewer = Reviewer(name=reviewer_name(name), role=role, token_sha256=_hash(token))
    known = load(path)
    if twin := [n for n in known if n.casefold() == reviewer.name.casefold() and n != reviewer.name]:
        raise ConfigError(f"{reviewer.name!r} would be taken for {twin[0]!r}; choose another name")
    _write(path, {**known, reviewer.name: reviewer})
    return token


def remove(path: Path, name: str) -> None:
    """Take a reviewer's access away; what was decided stays. ConfigError when there is none of that name."""
    known = load(path)
    if name not in known:
        raise ConfigError(f"no reviewer {name!r} in {path}; there are {', '.join(known) or 'none'}")
    _write(path, {n: r for n, r in known.items() if n != name})


def by_token(known: Mapping[str, Reviewer], token: str) -> Reviewer | None:
    """Whose token it is."""
    given = _hash(token.strip())
    return next((r for r in known.values() if secrets.compare_digest(r.token_sha256, given)), None)


def reviewer_name(name: str) -> str:
    """The name under which somebody decides; ConfigError for one that cannot be."""
    cleaned = clean(name)
    if not 0 < len(cleaned) <= _NAME_LIMIT or cleaned.casefold() == _OURS:
        raise ConfigError(
            f"{name[:80]!r} cannot be a reviewer's name; give one of 1 to {_NAME_LIMIT} characters other than {_OURS!r}"
        )
    return cleaned


def _hash(token: str) -> str:
    """Tokens are long random numbers, so a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _write(path: Path, reviewers: Mapping[str, Reviewer]) -> None:
    partial = path.with_name(path.name + ".partial")
    text = json.dumps([r.model_dump() for r in reviewers.values()], indent=2, ensure_ascii=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.touch(mode=0o600)
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from None
