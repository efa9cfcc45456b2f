"""Figures as text."""

import re
from collections.abc import Sequence

from ..report.tables import points

_SCHEME = re.compile(r"^(openai|local|vllm|ray|hf):", re.IGNORECASE)


def percent(value: float | None, digits: int = 1) -> str:
    """A fraction in percent."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def percents(interval: Sequence[float]) -> str:
    """An interval of fractions in percent."""
    return f"{percent(interval[0])} to {percent(interval[1])}"


def point_span(interval: Sequence[float]) -> str:
    """An interval in points."""
    return f"{points(interval[0])} to {points(interval[1])}"


def real(value: float | None) -> str:
    """A number in three digits."""
    return "–" if value is None else f"{value:.3g}"


def signed(value: float | None, digits: int = 3) -> str:
    """A number with its sign."""
    return "–" if value is None else f"{value:+.{digits}f}".replace("-", "−")


def signed_span(interval: Sequence[float] | None, digits: int = 3) -> str:
    """An interval of signed numbers; empty when there is none."""
    return "" if interval is None else f"{signed(interval[0], digits)} to {signed(interval[1], digits)}"


def short_name(judge: str) -> str:
    """A judge's model alone: without scheme, address, folder, file type and way of judging."""
    model = re.split(r"@(?=https?://)", _SCHEME.sub("", judge.split("#")[0]))[0]
    return model.rstrip("/").rsplit("/", 1)[-1].removesuffix(".gguf")
