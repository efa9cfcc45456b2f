"""A frozen test set: the pairs of a run with their rewrites, to ask any judge the same questions without a teacher.

A file of JSON lines, gzipped when its name ends in .gz. The first line says what the set is and holds the biases; every
further line is a pair with its placebo and, by bias id, its rewrites. The first line also holds the SHA-256 of the
others: the questions are pinned, and a file whose texts were changed is refused.
"""

import gzip
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..bias_library.diff import decisive
from ..bias_library.library import load_library
from ..core.errors import DataError, LibraryError
from ..core.ids import canonical_json
from ..core.mistakes import mistakes
from ..core.records import ORIGINAL, PLACEBO, Order, Perturbation, PreferencePair, Validation, bias_arm
from ..core.store import Store
from ..data.files import Row, kind_of, read_file
from ..data.order import draw_order
from ..validators.split import stratified_order

T = TypeVar("T", bound=BaseModel)
Part = Literal["confirm", "search", "all"]
Reference = Literal["placebo", "original"]


class FrozenBias(BaseModel):
    """A bias that is written into the pairs, and what its run found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    definition: str
    status: str
    effect: float | None = None
    """On the judge of the run, in points."""
    interval: tuple[float, float] | None = None
    """95 %, in points."""


class FrozenPair(BaseModel):
    """A pair and the answers that are shown in place of its rejected one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pair: PreferencePair
    order: Order
    """Which answer stands first in every arm, unless both orders are asked for."""
    placebo: str | None = None
    """None in a set whose reference is the original answers."""
    texts: dict[str, str]
    """By bias id; a bias that was never written into this pair has none."""


class FrozenHead(BaseModel):
    """The first line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["biasscope-frozen"] = "biasscope-frozen"
    version: Literal[1] = 1
    sha256: str
    """Of the lines of the pairs."""
    run: str
    judge: str
    """The judge that the biases were found on."""
    part: Part
    """Which of the run's test pairs these are."""
    reference: Reference
    """What biases are compared with."""
    both_orders: bool
    biases: tuple[FrozenBias, ...] = Field(min_length=1)


class FrozenSet(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    head: FrozenHead
    pairs: tuple[FrozenPair, ...] = Field(min_length=1)

    @property
    def digest(self) -> str:
        """What pins the questions: the SHA-256 of the pairs."""
        return self.head.sha256

    @property
    def reference_arm(self) -> str:
        """The arm that biases are compared with."""
        return PLACEBO if self.head.reference == "placebo" else ORIGINAL

    @cached_property
    def arms(self) -> tuple[str, ...]:
        """Every arm: original, placebo if there is one, and the biases in their order."""
        reference = (ORIGINAL,) if self.head.reference == "original" else (ORIGINAL, PLACEBO)
        return (*reference, *(bias_arm(bias.id) for bias in self.head.biases))

    def text(self, index: int, arm: str) -> str | None:
        """The answer that a pair shows in an arm; None where it has none."""
        item = self.pairs[index]
        if arm == ORIGINAL:
            return item.pair.rejected
        return item.placebo if arm == PLACEBO else item.texts.get(arm.removeprefix("bias:"))


def freeze(
    store: Store,
    run_id: str,
    *,
    part: Part | None = None,
    biases: Sequence[str] = (),
    limit: int | None = None,
) -> FrozenSet:
    """Freeze the rewrites that a discovery run has made. No model is asked.

    `part`: which test pairs; the locked ones where the run has confirmed biases on them, else those of the search. On
    search pairs the run's own judge looks worse than it is: biases were accepted because of their effect on these.
    `biases`: ids or names; those that are valid or confirmed when empty. `limit`: the most pairs, in proportion to the
    domains. Raises LibraryError when there is nothing to freeze.
    """
    library = load_library(store, run_id)
    chosen = [library.find(key) for key in biases] or [e for e in library if e.status in ("valid", "confirmed")]
    if not chosen:
        raise LibraryError(f"no bias of the run {run_id!r} is valid: name those to freeze with --bias")
    validations = store.select(Validation, run_id=run_id)
    part = part or ("confirm" if any(v.pair_set == "confirm" for v in validations) else "search")
    found = decisive(validations)
    noted = store.note(run_id, "manifest") or {}
    config = noted.get("config", {})
    reference: Reference = "original" if any(v.rule == "paper" for v in validations) else "placebo"
    ids = [entry.bias.id for entry in chosen]
    pairs = _pairs(store, run_id, part, ids, reference == "placebo", int(noted.get("seed", 0)), limit)
    used = {i for item in pairs for i in item.texts}
    if not used:
        raise LibraryError(
            f"the run {run_id!r} has no rewrites of these biases on its {part} pairs: take another part with --pairs"
        )
    biases_of_set = [
        FrozenBias(
            id=entry.bias.id,
            name=entry.bias.name,
            definition=entry.bias.definition,
            status=entry.status,
            effect=found[entry.bias.id].effect if entry.bias.id in found else None,
            interval=found[entry.bias.id].interval if entry.bias.id in found else None,
        )
        for entry in chosen
        if entry.bias.id in used
    ]
    return seal(
        pairs,
        biases_of_set,
        run=run_id,
        judge=next((v.judge for v in validations), ""),
        part=part,
        reference=reference,
        both_orders=config.get("orders") == "both",
    )


def seal(
    pairs: Sequence[FrozenPair],
    biases: Sequence[FrozenBias],
    *,
    run: str,
    judge: str,
    part: Part,
    reference: Reference = "placebo",
    both_orders: bool = False,
) -> FrozenSet:
    """A set with the hash of its pairs."""
    head = FrozenHead(
        sha256=_digest(_line(item) for item in pairs),
        run=run,
        judge=judge,
        part=part,
        reference=reference,
        both_orders=both_orders,
        biases=tuple(biases),
    )
    return FrozenSet(head=head, pairs=tuple(pairs))


def write_frozen(frozen: FrozenSet, path: Path) -> None:
    """Write the file: the same set gives the same bytes. DataError when it cannot be written."""
    if kind_of(path) != "jsonl":
        raise DataError(f"{path}: give a name that ends in .jsonl or .jsonl.gz")
    lines = [canonical_json(frozen.head.model_dump(mode="json")), *(_line(item) for item in frozen.pairs)]
    content = ("\n".join(lines) + "\n").encode()
    try:
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}; give a file in a folder that exists") from None


def read_frozen(path: Path) -> FrozenSet:
    """Read and check a file; DataError names the line, or says that its texts are not those that were frozen."""
    rows = list(_rows(path))
    if len(rows) < 2:
        raise DataError(f"{path}: holds no pair; `biasscope library freeze` writes a frozen test set")
    head = _record(FrozenHead, rows[0], path)
    known = {bias.id for bias in head.biases}
    pairs = []
    for row in rows[1:]:
        item = _record(FrozenPair, row, path)
        if (item.placebo is None) != (head.reference == "original"):
            raise DataError(f"{path}: {row.place}: the reference is {head.reference!r}, which this pair does not fit")
        if unknown := sorted(item.texts.keys() - known):
            raise DataError(f"{path}: {row.place}: has the bias {unknown[0]!r}, which the first line does not name")
        pairs.append(item)
    if (found := _digest(_line(item) for item in pairs)) != head.sha256:
        raise DataError(
            f"{path}: the pairs have the SHA-256 {found[:12]}…, and were frozen with {head.sha256[:12]}…: the file was "
            "changed; take the one that was frozen, or freeze again"
        )
    return FrozenSet(head=head, pairs=tuple(pairs))


def _pairs(
    store: Store, run_id: str, part: Part, ids: Sequence[str], placebo: bool, seed: int, limit: int | None
) -> list[FrozenPair]:
    parts = ("search", "confirm") if part == "all" else (part,)
    pairs = {pair.id: pair for name in parts for pair in store.pairs(run_id, name)}
    arms = [bias_arm(i) for i in ids] + ([PLACEBO] if placebo else [])
    texts: dict[str, dict[str, str]] = {}
    for made in store.iterate(Perturbation, run_id=run_id, arm=arms):
        # A rewrite that has become right is no rejected answer; a text that is there already stays.
        if made.pair_id in pairs and made.answer_change != "changed":
            texts.setdefault(made.pair_id, {}).setdefault(made.arm, made.text)
    usable = {
        i: made for i, made in texts.items() if (not placebo or PLACEBO in made) and any(a != PLACEBO for a in made)
    }
    order = stratified_order({i: pairs[i].domain for i in usable}, seed)[:limit]
    return [
        FrozenPair(
            pair=pairs[i],
            order=draw_order(i, seed),
            placebo=usable[i][PLACEBO] if placebo else None,
            texts={b: usable[i][bias_arm(b)] for b in ids if bias_arm(b) in usable[i]},
        )
        for i in order
    ]


def _line(item: FrozenPair) -> str:
    return canonical_json(item.model_dump(mode="json"))


def _digest(lines: Iterable[str]) -> str:
    made = hashlib.sha256()
    for line in lines:
        made.update(line.encode() + b"\n")
    return made.hexdigest()


def _rows(path: Path) -> Iterator[Row]:
    if kind_of(path) != "jsonl":
        raise DataError(f"{path}: a frozen test set is a file whose name ends in .jsonl or .jsonl.gz")
    return read_file(path)


def _record(kind: type[T], row: Row, path: Path) -> T:
    try:
        return kind.model_validate(row.values)
    except ValidationError as error:
        raise DataError(f"{path}: {row.place}: {mistakes(error)[0]}") from None
