"""Pairs of an answer of the judge (or its family) and one of another author.

A contest is stored as a preference pair whose `chosen` is the own answer: that is a place, not a claim about quality.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, cast

from ...core.errors import DataError
from ...core.ids import content_id, seed_from
from ...core.records import PreferencePair
from ...core.store import Store
from ...data.answers import Prompt
from .authors import family_of, same_author
from .settings import SelfPreferenceSettings

Role = Literal["own", "family"]
Fits = Callable[[str, str], bool]
_SET = "contests"


@dataclass(frozen=True)
class Contest:
    """`pair.chosen` is by `own`, `pair.rejected` by `other`."""

    pair: PreferencePair

    @property
    def own(self) -> str:
        """The judge, or the sibling that stands for its family."""
        return self.pair.meta["own"]

    @property
    def other(self) -> str:
        """The author it is compared with."""
        return self.pair.meta["other"]

    @property
    def role(self) -> Role:
        """own: the judge's own answer; family: that of another model of its family."""
        return cast(Role, self.pair.meta["role"])

    @property
    def prompt_id(self) -> str:
        """The prompt: pairs of one prompt are not independent."""
        return self.pair.meta["prompt"]


def plan_contests(prompts: Sequence[Prompt], own: str, settings: SelfPreferenceSettings, seed: int) -> list[Contest]:
    """Own-other pairs, then family pairs, each set near-uniform over its pairs of authors and seeded.

    The other author of a family pair is of another family. Equal texts are no contest. Raises DataError when the judge
    has no answer that another author answers too.
    """
    family = family_of(own, settings.families)
    wanted = {name.casefold() for name in settings.others}

    def foreign(author: str) -> bool:
        return not same_author(author, own) and (not wanted or author.casefold() in wanted)

    def sibling(author: str) -> bool:
        return not same_author(author, own) and family_of(author, settings.families) == family

    own_pairs = _drawn(prompts, lambda a, b: same_author(a, own) and foreign(b), "own", settings.pairs, seed)
    if not own_pairs:
        there = sorted({author for prompt in prompts for author in prompt.answers})
        raise DataError(
            f"no prompt has an answer of the judge ({own!r}) beside one of another author; authors there: "
            f"{', '.join(there) or 'none'}. Name the judge's author with `own`, or give more answers or `authors`"
        )
    family_pairs: list[Contest] = []
    if settings.family:
        family_pairs = _drawn(
            prompts, lambda a, b: sibling(a) and foreign(b) and not sibling(b), "family", settings.pairs, seed
        )
    return own_pairs + family_pairs


def store_contests(store: Store, run_id: str, contests: Iterable[Contest]) -> None:
    """Keep them with their run."""
    store.write_pairs(run_id, _SET, [contest.pair for contest in contests])


def load_contests(store: Store, run_id: str) -> list[Contest]:
    """Those of a run, in order; empty when none are stored."""
    return [Contest(pair) for pair in store.pairs(run_id, _SET)]


def _drawn(prompts: Sequence[Prompt], fits: Fits, role: Role, most: int, seed: int) -> list[Contest]:
    """Turn and turn about between the pairs of authors, prompts in seeded order."""
    by_authors: dict[tuple[str, str], list[Contest]] = {}
    for prompt in sorted(prompts, key=lambda p: seed_from("contest", seed, p.id)):
        for own, mine in prompt.answers.items():
            for other, theirs in prompt.answers.items():
                if fits(own, other) and mine.strip() != theirs.strip():
                    by_authors.setdefault((own, other), []).append(_contest(prompt, own, other, role))
    columns = [by_authors[key] for key in sorted(by_authors)]
    turns = (contest for row in zip_longest(*columns) for contest in row if contest is not None)
    return [contest for contest, _ in zip(turns, range(most), strict=False)]


def _contest(prompt: Prompt, own: str, other: str, role: Role) -> Contest:
    return Contest(
        PreferencePair(
            id=content_id("contest", role, prompt.id, own, other, prompt.answers[own], prompt.answers[other]),
            prompt=prompt.text,
            chosen=prompt.answers[own],
            rejected=prompt.answers[other],
            domain=prompt.domain,
            meta={"role": role, "own": own, "other": other, "prompt": prompt.id},
        )
    )
