"""The contrast discoverer: which features of the answers move the judge, by regression, without asking any model.

Comparisons are of two kinds (METHOD section 10). Between: a pair as it is, by what its two answers differ in. Within: a
rewrite of the rejected answer against the answer that it was made from, by what the rewrite changed; quality stays
the same, so these come closer to causes. Either kind has an intercept of its own, so that neither the better answer's
lead nor what any rewrite does counts as a feature.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..bias_library.features import Feature, feature_bias, measure_all, nearest_feature
from ..core.errors import LibraryError
from ..core.ids import content_id
from ..core.records import Bias, Candidate, ContrastEvidence, Judgment, PreferencePair
from ..validators.contrasts import CLIP
from ..validators.stability import Block, Stability, stability_selection

Floats = npt.NDArray[np.float64]
Response = Literal["score", "log-odds", "verdict"]
_MOST = 0.75
_VERDICTS = {"rejected": 1.0, "chosen": 0.0, "tie": 0.5}


class Seen(NamedTuple):
    """A pair with one text as its rejected answer, and what the judge said: in one order or both, once or often."""

    pair: PreferencePair
    text: str
    judgments: tuple[Judgment, ...]


class Comparison(NamedTuple):
    """One row of the regression."""

    pair: PreferencePair
    delta: Floats
    """What the preferred side would have to thank, feature by feature: rejected - chosen, or rewrite - original."""
    response: float
    """How far the judge leans to the rejected answer, or leans there more than before; NaN where it said nothing."""
    misled: Judgment | None
    """The misjudgment, where there is one (within: one that the original was not)."""
    judgment: Judgment
    position: float
    """0.5 when the rejected answer stood first, -0.5 when second, 0 for both."""


@dataclass(frozen=True)
class Finding:
    """A feature that moves the judge."""

    feature: Feature
    evidence: ContrastEvidence
    telling: Comparison
    """The misjudgment in which it shows most."""


@dataclass(frozen=True)
class Findings:
    """What the regression came to."""

    found: tuple[Finding, ...]
    """Strongest first."""
    stability: Stability
    response: Response
    names: tuple[str, ...]


class Profiles:
    """Measures of texts, each text once, on a scale on which differences are comparable: log(1 + measure)."""

    def __init__(self, features: Mapping[str, Feature]) -> None:
        self.features = features
        self._known: dict[tuple[str, str], Floats] = {}

    def of(self, text: str, question: str) -> Floats:
        """One number for each feature. Raises LibraryError for a feature that measures no finite number."""
        key = (text, question)
        if key not in self._known:
            measured = measure_all(text, question, self.features)
            values = np.array(list(measured.values()), dtype=np.float64)
            if not np.isfinite(values).all():
                name = list(measured)[int(np.flatnonzero(~np.isfinite(values))[0])]
                raise LibraryError(
                    f"{self.features[name].source}: feature {name!r} measures {measured[name]!r}: give a finite number"
                )
            self._known[key] = np.sign(values) * np.log1p(np.abs(values))
        return self._known[key]


def response_kind(seen: Sequence[Seen]) -> Response:
    """The finest scale that most judgments have; those that lack it leave."""
    judgments = [j for item in seen for j in item.judgments]
    enough = _MOST * len(judgments)
    if sum(j.score_chosen is not None and j.score_rejected is not None for j in judgments) > enough:
        return "score"
    return "log-odds" if sum(j.p_rejected is not None for j in judgments) > enough else "verdict"


def between(seen: Sequence[Seen], profiles: Profiles, response: Response) -> list[Comparison]:
    """Each pair by what its two answers differ in."""
    rows = []
    for item in seen:
        wrong = [j for j in item.judgments if j.verdict == "rejected"]
        question = item.pair.prompt
        rows.append(
            Comparison(
                item.pair,
                profiles.of(item.text, question) - profiles.of(item.pair.chosen, question),
                _lean(item.judgments, response),
                wrong[0] if wrong else None,
                item.judgments[0],
                float(np.mean([0.5 if j.order == "rejected_first" else -0.5 for j in item.judgments])),
            )
        )
    return rows


def within(
    rewrites: Sequence[Seen], originals: Mapping[str, Seen], profiles: Profiles, response: Response
) -> list[Comparison]:
    """Each rewrite against the original of its pair (by pair id), where that was judged."""
    rows = []
    for item in rewrites:
        before = originals.get(item.pair.id)
        if before is None:
            continue
        right = {j.order for j in before.judgments if j.verdict == "chosen"}
        wrong = [j for j in item.judgments if j.verdict == "rejected" and j.order in right]
        question = item.pair.prompt
        rows.append(
            Comparison(
                item.pair,
                profiles.of(item.text, question) - profiles.of(before.text, question),
                _lean(item.judgments, response) - _lean(before.judgments, response),
                wrong[0] if wrong else None,
                item.judgments[0],
                0.0,
            )
        )
    return rows


def find(
    kinds: Sequence[Sequence[Comparison]],
    features: Mapping[str, Feature],
    rng: np.random.Generator,
    *,
    response: Response,
    known: Sequence[str] = (),
    false_selections: float = 1.0,
    min_rows: int = 8,
) -> Findings:
    """Features that explain the judge's leanings, over comparisons of one or more kinds (each a block of its own).

    `known` are features found before: their share is taken out, so that what is left can show.
    """
    names = [name for name in features if name not in known]
    place = {name: k for k, name in enumerate(features)}
    open_, settled = [place[n] for n in names], [place[n] for n in known if n in place]
    blocks = [_block(rows, open_, settled) for rows in kinds if rows]
    if not blocks:
        return Findings((), _nothing(len(names)), response, tuple(names))
    made = stability_selection(blocks, rng, false_selections=false_selections, min_rows=min_rows)
    rows = [row for kind in kinds for row in kind]
    found = [_finding(features[names[k]], k, open_[k], made, rows) for k in range(len(names)) if made.chosen[k]]
    strongest = sorted(found, key=lambda f: (-abs(f.evidence.weight), f.feature.name))
    return Findings(tuple(strongest), made, response, tuple(names))


def as_candidate(
    finding: Finding,
    known: Sequence[Bias],
    features: Mapping[str, Feature],
    *,
    run_id: str,
    iteration: int,
    source: str,
) -> Candidate:
    """The bias of a judge that goes for the feature (or against it).

    In the words of the bias among `known` that the feature writes, where there is one: the same edit under two names
    would be two biases. `source` tells the rounds of a run and a log apart.
    """
    evidence, judgment = finding.evidence, finding.telling.misled or finding.telling.judgment
    bias = feature_bias(finding.feature, evidence.direction)
    if evidence.direction == "more":
        bias = next((b for b in known if nearest_feature(b.name, b.definition, features) is finding.feature), bias)
    return Candidate(
        id=content_id("candidate", run_id, "contrast", source, finding.feature.name, evidence.direction),
        run_id=run_id,
        iteration=iteration,
        name=bias.name,
        definition=bias.definition,
        manifestation=bias.manifestation,
        judgment_id=judgment.id,
        pair_id=finding.telling.pair.id,
        source_bias="",
        contrast=evidence,
    )


def _finding(feature: Feature, column: int, place: int, made: Stability, rows: Sequence[Comparison]) -> Finding:
    sign = 1.0 if made.weight[column] > 0 else -1.0
    supporting = [row for row in rows if row.misled is not None and sign * row.delta[place] > 0]
    pool = supporting or [row for row in rows if math.isfinite(row.response)]
    telling = max(pool, key=lambda row: (sign * row.delta[place], row.pair.id))
    evidence = ContrastEvidence(
        feature=feature.name,
        direction="more" if sign > 0 else "less",
        frequency=round(float(made.frequency[column]), 4),
        weight=round(float(made.weight[column]), 4),
        support=len(supporting),
        support_pairs=len({row.pair.id for row in supporting}),
        rows=made.n,
        features=int(made.considered.sum()),
        false_bound=round(made.false_bound, 3),
    )
    return Finding(feature, evidence, telling)


def _block(rows: Sequence[Comparison], open_: Sequence[int], settled: Sequence[int]) -> Block:
    deltas = np.array([row.delta for row in rows])
    position = np.array([[row.position] for row in rows])
    return Block(
        x=deltas[:, open_],
        y=np.array([row.response for row in rows]),
        group=[row.pair.id for row in rows],
        nuisance=np.hstack([position, deltas[:, settled]]),
    )


def _lean(judgments: Sequence[Judgment], response: Response) -> float:
    """The mean over orders and repetitions; NaN when one of them has no verdict."""
    return float(np.mean([_value(j, response) for j in judgments]))


def _value(judgment: Judgment, response: Response) -> float:
    if response == "score":
        if judgment.score_chosen is None or judgment.score_rejected is None:
            return math.nan
        return judgment.score_rejected - judgment.score_chosen
    if response == "log-odds":
        if judgment.p_rejected is None:
            return math.nan
        p = min(max(judgment.p_rejected, CLIP), 1 - CLIP)
        return math.log(p) - math.log1p(-p)
    return _VERDICTS.get(judgment.verdict, math.nan)


def _nothing(columns: int) -> Stability:
    zeros = np.zeros(columns)
    return Stability(zeros > 0, zeros, zeros, zeros > 0, 0, 0, 1.0, 0.0)
