"""Pairwise results of a leaderboard: who was compared with whom, and who won."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..core.errors import DataError
from ..core.mistakes import short
from .files import read_file

_FIRST, _SECOND, _TIES = {"model_a", "a"}, {"model_b", "b"}, {"tie", "tie (bothbad)", "both_bad", "c"}
_HINT = "a row has model_a, model_b and winner (model_a, model_b, tie, or the winner's name)"


class Leaderboard(NamedTuple):
    """Results by model."""

    models: tuple[str, ...]
    """In the order of their names."""
    wins: npt.NDArray[np.float64]
    """models x models: how often the row's model beat the column's, a tie as half a win for both."""
    battles: int


def read_leaderboard(path: Path) -> Leaderboard:
    """Read results from a .jsonl, .csv or .parquet file; DataError names the line.

    Columns as in the published arena data: model_a, model_b, winner; `count`, where it is there, says for how many
    battles the row stands.
    """
    battles: dict[tuple[str, str], float] = {}
    total = 0
    for row in read_file(path):
        where = f"{path}: {row.place}"
        first, second = (_model(row.values.get(key), key, where) for key in ("model_a", "model_b"))
        if first == second:
            raise DataError(f"{where}: model_a and model_b are both {short(first)}; a model does not meet itself")
        count = _count(row.values.get("count"), where)
        share = _won(row.values.get("winner"), first, second, where)
        battles[first, second] = battles.get((first, second), 0.0) + count * share
        battles[second, first] = battles.get((second, first), 0.0) + count * (1 - share)
        total += count
    if not battles:
        raise DataError(f"{path}: holds no result; {_HINT}")
    models = sorted({model for pair in battles for model in pair})
    at = {model: k for k, model in enumerate(models)}
    wins = np.zeros((len(models), len(models)))
    for (winner, loser), value in battles.items():
        wins[at[winner], at[loser]] = value
    return Leaderboard(tuple(models), wins, total)


def _model(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{where}: {key} is {short(value)}, not the name of a model; {_HINT}")
    return value.strip()


def _count(value: Any, where: str) -> int:
    if value is None or value == "":
        return 1
    try:
        count = int(value)
    except (TypeError, ValueError):
        count = 0
    if count < 1 or isinstance(value, bool) or (isinstance(value, float) and value != count):
        raise DataError(f"{where}: count is {short(value)}; give a whole number from 1 on")
    return count


def _won(value: Any, first: str, second: str, where: str) -> float:
    """The share of the win that is model_a's."""
    said = value.strip() if isinstance(value, str) else ""
    if said in (first, second):
        return float(said == first)
    if (plain := said.casefold()) in _FIRST | _SECOND:
        return float(plain in _FIRST)
    if plain in _TIES:
        return 0.5
    raise DataError(f"{where}: winner is {short(value)}; {_HINT}")
