"""The shortcut audit of a data set of pairs: can the better answer be told from its surface (METHOD section 10)?

For every benchmark and training set that we make. Pairs stream by; only numbers are kept.
"""

import heapq
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from ..bias_library.features import load_features
from ..bias_library.features.anatomy import anatomy
from ..bias_library.features.measures import SHORTEST
from ..core.ids import seed_from
from ..data.card import Section, Table
from ..validators.clusters import cluster_rate
from ..validators.rates import Rate
from ..validators.shortcuts import MARGIN, beats_chance, classifier, picker

LIMIT = 10_000
"""Pairs that are measured (about 4 ms each); of more, a seeded sample."""
_MARKDOWN_COUNTS = ("headings", "bullets", "numbered_steps", "tables", "code_fences", "horizontal_rules")
_MARKDOWN_RATES = ("bold", "italics", "inline_code")
SURFACE = (
    "length",
    *_MARKDOWN_COUNTS,
    *_MARKDOWN_RATES,
    "all_caps",
    "paragraph_breaks",
    "urls",
    "emoji",
    "exclamation_marks",
    "citations",
    "institutions",
    "statistics",
    "hedges",
    "certainty",
    "enthusiasm",
    "positive_sentiment",
    "intensifiers",
    "first_person",
    "second_person",
    "transitions",
    "summaries",
)
"""Features of the lexicon that the classifier sees."""


class AuditPair(NamedTuple):
    """One pair as the data set shows it."""

    prompt: str
    chosen: str
    rejected: str
    group: str
    """What pairs with texts in common share: the prompt, or the pair that they are variants of."""
    chosen_first: bool | None = None
    """Whether the better answer stands first; None where the data set has no order."""


class Shortcut(BaseModel):
    """How often one shortcut finds the better answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    accuracy: float | None
    """0-1, ties count half; None when there is too little to say."""
    low: float
    high: float
    """95 %, with groups as units."""
    warn: bool
    """More than 5 points better than chance, as estimated."""


class ShortcutAudit(BaseModel):
    """The audit of one data set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pairs: int
    audited: int
    groups: int
    shortcuts: tuple[Shortcut, ...]

    def warnings(self) -> tuple[str, ...]:
        """A line for each shortcut that does well."""
        return tuple(
            f"The better answer can be told from the surface: {s.name} is right in {100 * (s.accuracy or 0):.1f} % "
            f"(95 % interval {100 * s.low:.1f} to {100 * s.high:.1f}, chance 50)."
            + ("" if s.low > 0.5 else " The interval includes chance.")
            for s in self.shortcuts
            if s.warn
        )


def audit_shortcuts(pairs: Iterable[AuditPair], *, seed: int = 0, limit: int = LIMIT) -> ShortcutAudit:
    """Measure content-blind pickers and a classifier on `pairs`; memory does not grow with their number."""
    heap: list[tuple[int, str, float, list[float], list[float]]] = []
    total = 0
    for number, pair in enumerate(pairs):
        total += 1
        rank = -seed_from("audit", seed, number)
        if len(heap) >= limit and rank <= heap[0][0]:
            continue
        first = math.nan if pair.chosen_first is None else float(pair.chosen_first)
        entry = (rank, pair.group, first, _measures(pair.chosen, pair.prompt), _measures(pair.rejected, pair.prompt))
        (heapq.heappush if len(heap) < limit else heapq.heapreplace)(heap, entry)
    kept = sorted(heap, reverse=True)
    groups = [group for _, group, *_ in kept]
    width = len(SURFACE) + len(_PICKED)
    chosen = np.array([row[3] for row in kept]).reshape(-1, width)
    rejected = np.array([row[4] for row in kept]).reshape(-1, width)
    shortcuts = [
        _shortcut(name, picker(sign * chosen[:, k], sign * rejected[:, k], groups)) for name, k, sign in _PICKERS
    ]
    shortcuts.insert(3, _shortcut("the first answer", cluster_rate([row[2] for row in kept], groups)))
    surface = slice(0, len(SURFACE))
    learnt = classifier(chosen[:, surface] - rejected[:, surface], groups, seed=seed)
    shortcuts.append(_shortcut(f"a classifier on {len(SURFACE)} surface features", learnt))
    return ShortcutAudit(pairs=total, audited=len(kept), groups=len(set(groups)), shortcuts=tuple(shortcuts))


def shortcut_section(audit: ShortcutAudit) -> Section:
    """The audit as a section of the card."""
    sample = "all" if audit.audited == audit.pairs else f"a seeded sample of {audit.audited:,} of the"
    rows = tuple(
        (
            s.name,
            "–" if s.accuracy is None else f"{100 * s.accuracy:.1f}",
            "–" if s.accuracy is None else f"{100 * s.low:.1f} to {100 * s.high:.1f}",
            "warning" if s.warn else "",
        )
        for s in audit.shortcuts
    )
    about = (
        f"How often the better answer is found without reading, over {sample} {audit.pairs:,} pairs from "
        f"{audit.groups:,} prompts. Ties count half. Intervals (95 %) take prompts as units. The classifier is a "
        f"logistic regression, cross-validated by prompt. A warning stands where a shortcut beats chance by more than "
        f"{100 * MARGIN:.0f} points."
    )
    table = Table(("Choose", "Right, %", "95 % interval", ""), rows)
    return Section("Shortcuts", (about, table))


_PICKED = ("markdown", "citations", "hedges")
_PICKERS = (
    ("the longest answer", SURFACE.index("length"), 1),
    ("the shortest answer", SURFACE.index("length"), -1),
    ("the answer with most Markdown", len(SURFACE), 1),
    ("the answer with most citations", len(SURFACE) + 1, 1),
    ("the answer with most hedges", len(SURFACE) + 2, 1),
)


def _measures(text: str, prompt: str) -> list[float]:
    """The surface features, then what the pickers count."""
    features = load_features()
    found = {name: features[name].measure(text, prompt) for name in SURFACE}
    per = max(anatomy(text).words, SHORTEST) / 100
    marks = sum(found[n] for n in _MARKDOWN_COUNTS) + per * sum(found[n] for n in _MARKDOWN_RATES)
    found["length"] = math.log1p(found["length"])
    return [*found.values(), round(marks, 6), round(per * found["citations"], 6), round(per * found["hedges"], 6)]


def _shortcut(name: str, found: Rate) -> Shortcut:
    there = found.pairs > 0
    return Shortcut(
        name=name,
        accuracy=found.rate if there else None,
        low=found.low,
        high=found.high,
        warn=beats_chance(found),
    )
