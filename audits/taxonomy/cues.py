"""Injections that leave the answers word for word: a line beside one of them, or another order. All deterministic."""

from ...bias_library.taxonomy import TaxonomyBias
from ...core.records import Order, PreferencePair
from .entries import Entry, injected


def flipped(order: Order) -> Order:
    """The other order."""
    return "rejected_first" if order == "chosen_first" else "chosen_first"


def swap_entry(base: PreferencePair, bias: TaxonomyBias, order: Order) -> Entry:
    """The same answers in the other order, against the drawn `order`."""
    return Entry(base, injected(base, bias, base.chosen, base.rejected, {"order": flipped(order), "reference": order}))


def cue_entry(base: PreferencePair, bias: TaxonomyBias, rank: int, order: Order, *, control: bool) -> Entry:
    """A line before one answer, with a blank line between; the control has a neutral one as long.

    `rank` is the pair's place in the bias's sample: cues take turns by it, and so do the numbers that fill them.
    `order` is the pair's drawn one; a cue beside the second answer holds for it alone.
    """
    turn = rank % len(bias.cues)
    filling = {"percent": bias.percent[rank // len(bias.cues) % len(bias.percent)]} if bias.percent else {}
    if bias.beside == "second":
        side, placed = ("rejected" if order == "chosen_first" else "chosen"), {"order": order, "reference": order}
    else:
        side, placed = str(bias.beside), {}
    meta = {"cue": bias.cues[turn], "side": side, **placed}

    def with_line(line: str, is_control: bool) -> PreferencePair:
        texts = {"chosen": base.chosen, "rejected": base.rejected}
        texts[side] = f"{line.format(**filling)}\n\n{texts[side]}"
        return injected(base, bias, texts["chosen"], texts["rejected"], meta, control=is_control)

    neutral = with_line(bias.controls[turn], True) if control else None
    return Entry(base, with_line(bias.cues[turn], False), neutral)
