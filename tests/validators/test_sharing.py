import math

import numpy as np
import pytest
from biasscope.validators.bounded import p_above
from biasscope.validators.sharing import sharing

JUDGES = ("a", "b", "c")


def cases(rng: np.random.Generator, n: int, effects: tuple[float, ...], together: float = 0.6) -> list[np.ndarray]:
    """Differences of several judges on the same pairs: what is hard for one is mostly hard for the others."""
    common = rng.random(n)
    rows = []
    for effect in effects:
        own = np.where(rng.random(n) < together, common, rng.random(n))
        harm, repair = (0.12 + effect) / 2, (0.12 - effect) / 2
        harm, repair = (effect + 0.02, 0.02) if repair < 0.02 else (harm, repair)
        rows.append(np.where(own < harm, 1.0, np.where(own > 1 - repair, -1.0, 0.0)))
    return rows


def table(*rows: list[np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    return {str(k): dict(zip(JUDGES, row, strict=False)) for k, row in enumerate(rows)}


def test_each_kind() -> None:
    rng = np.random.default_rng(1)
    found = sharing(
        table(
            cases(rng, 400, (0.2, 0.2, 0.2)),
            cases(rng, 400, (0.3, 0.0, 0.0)),
            cases(rng, 400, (0.2, 0.2, 0.0)),
            cases(rng, 400, (0.0, 0.0, 0.0)),
        )
    )
    assert [(f.sharing, f.judges, f.differ) for f in found.values()] == [
        ("shared", ("a", "b", "c"), False),
        ("own", ("a",), True),
        ("some", ("a", "b"), True),
        ("not shown", (), False),
    ]


def test_p_values_worked_from_their_parts() -> None:
    rng = np.random.default_rng(2)
    a, b = cases(rng, 150, (0.1, 0.02))
    found = sharing({"x": {"a": a, "b": b}})["x"]
    small, large = sorted((p_above(a, 0), p_above(b, 0)))
    assert sorted(found.p_each) == pytest.approx([min(1, 2 * small), max(min(1, 2 * small), large)])
    assert found.p_shared == pytest.approx(max(p_above(a, 0), p_above(b, 0)))
    assert found.p_own == pytest.approx(
        min(1, 2 * min(max(p_above(a, 0), p_above((a - b) / 2, 0)), max(p_above(b, 0), p_above((b - a) / 2, 0))))
    )


def test_one_judge_alone_shares_nothing_and_missing_pairs_are_left_out() -> None:
    d = np.array([1.0] * 50 + [0.0] * 100 + [math.nan] * 20)
    found = sharing({"x": {"a": d}})["x"]
    assert (found.sharing, found.judges, found.p_own, found.p_differ) == ("some", ("a",), 1.0, 1.0)
    assert sharing({}) == {}


REPEATS = 600
SLACK = 3 * math.sqrt(0.05 * 0.95 / REPEATS)


@pytest.mark.parametrize(
    ("effects", "wrong"),
    [
        ((0.2, 0.2, 0.0), "shared"),  # one judge lacks it
        ((0.0, 0.0, 0.0), "own"),
        ((0.15, 0.15, 0.15), "own"),  # all have it
        ((0.15, 0.15, 0.15), "differ"),
        ((0.0, 0.0, 0.0), "some"),
    ],
)
def test_level_of_each_claim(effects: tuple[float, ...], wrong: str) -> None:
    """Four biases of the same kind, 200 pairs: the chance that any of them is claimed wrongly."""
    rng = np.random.default_rng(11)
    claims = 0
    for _ in range(REPEATS):
        found = sharing(table(*(cases(rng, 200, effects) for _ in range(4)))).values()
        claims += any(f.differ if wrong == "differ" else f.sharing == wrong for f in found)
    assert claims / REPEATS <= 0.06 + SLACK
