"""Which answer stands first: drawn from the pair's content, never taken from the file."""

from ..core.ids import seed_from
from ..core.records import Order


def draw_order(pair_id: str, seed: int = 0) -> Order:
    """The order of a pair, the same in every arm and on every machine; even odds over pairs and over seeds.

    Files put the right answer first by habit (RewardBench in every row), so their positions mean nothing.
    """
    return "chosen_first" if seed_from("order", pair_id, seed) & 1 else "rejected_first"


def judged_orders(pair_id: str, seed: int, both: bool) -> tuple[Order, ...]:
    """The orders in which an arm of a pair is judged: both, or the drawn one."""
    return ("chosen_first", "rejected_first") if both else (draw_order(pair_id, seed),)
