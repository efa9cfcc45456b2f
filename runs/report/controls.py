"""The controls of a test in words (their figures: `validators.controls`, `graph.controls.side_reports`)."""

from collections.abc import Iterator, Mapping
from typing import Any

from .model import Control
from .tables import points

_LENGTH = {
    "length_matched": "on pairs where the rewrite is about as long as the placebo",
    "truncated": "with the rewrite cut to the original's length",
}


def control_lines(controls: Mapping[str, Any]) -> tuple[Control, ...]:
    """Each control with its outcome, by name; the figures of the manipulation check are one line."""
    return tuple(sorted(_lines(controls), key=lambda control: control.name))


def _lines(controls: Mapping[str, Any]) -> Iterator[Control]:
    checked: dict[str, Any] = {name: controls.get(f"manipulation_{name}") for name in ("share", "low", "high", "n")}
    together = all(_is_number(value) for value in checked.values())
    if together:
        low, high = 100 * checked["low"], 100 * checked["high"]
        said = f"the bias was found in {100 * checked['share']:.0f} % of {checked['n']} rewrites"
        yield Control(name="manipulation", outcome=f"{said} ({low:.0f} to {high:.0f} %)")
    for name, value in controls.items():
        if together and name.removeprefix("manipulation_") in checked:
            continue
        if name in _LENGTH and isinstance(value, dict) and all(_is_number(value.get(k)) for k in _EFFECT):
            yield Control(name=name, outcome=_effect(value, _LENGTH[name]))
        elif name == "length_ratio" and _is_number(value):
            yield Control(name=name, outcome=f"{value:.2f} times the words of the placebo (median)")
        elif name == "answers_changed" and _is_number(value):
            yield Control(name=name, outcome=f"{value or 'no'} {'rewrite' if value == 1 else 'rewrites'} became right")
        else:
            yield Control(name=name, outcome=_words(value))


_EFFECT = ("effect", "low", "high", "n")


def _effect(value: Mapping[str, Any], where: str) -> str:
    interval = f"{points(value['low'])} to {points(value['high'])}"
    stays = "the effect stays" if value["low"] > 0 else "too little to say whether the effect stays"
    goes = "the effect goes away" if value.get("gone") else stays
    return f"{points(value['effect'])} points ({interval}, n = {value['n']}) {where}: {goes}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words(value: Any) -> str:
    """A control's outcome as text: nested values become `key value` lists."""
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "not run"
        case float():
            return f"{value:.4g}"
        case dict():
            return ", ".join(f"{str(k).replace('_', ' ')} {_words(v)}" for k, v in sorted(value.items()))
        case list() | tuple():
            return " to ".join(_words(v) for v in value) if len(value) == 2 else ", ".join(_words(v) for v in value)
    return str(value)
