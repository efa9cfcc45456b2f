"""From a judge's answers to its profile. Pairs are the units of every interval: two orders of one are no two facts."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ...agents.judges.protocol import letter_of
from ...agents.outcomes import wrong_in_order
from ...core.calls import Completion
from ...core.records import Judgment, PreferencePair, Verdict
from ...data.order import draw_order
from ...validators.agreement import cohen_kappa, cohen_kappa_interval
from ...validators.calibration import calibration
from ...validators.rates import rate_over_pairs
from .asking import Answers
from .people import Labels
from .result import Confidence, ConfidenceBin, Domain, Orders, People, Retest, Share, Spending, share

BINS = 10
NO_VALUE = math.nan


def accuracy(answers: Answers, pairs: Sequence[PreferencePair]) -> Share:
    """Right, of the verdicts that preferred an answer."""
    return share(rate_over_pairs([_right(j) for j in _given(answers, pair)] for pair in pairs))


def right(answers: Answers) -> Share:
    """Right, of everything asked."""
    return _of_all(answers, lambda j: j is not None and j.verdict == "chosen")


def verdict_share(answers: Answers, verdict: Verdict) -> Share:
    """One verdict, of everything asked."""
    return _of_all(answers, lambda j: j is not None and j.verdict == verdict)


def failed_share(answers: Answers, kind: str | None = None) -> Share:
    """Failures (of one kind), of everything asked."""
    wanted = {place for place, failure in answers.failures.items() if kind is None or failure.kind == kind}
    return share(
        rate_over_pairs([float((pair.id, o) in wanted) for o in answers.orders(pair)] for pair in answers.pairs)
    )


def failure_kinds(answers: Answers) -> dict[str, int]:
    """Failures by kind, the most frequent first."""
    return dict(Counter(failure.kind for failure in answers.failures.values()).most_common())


def domains(answers: Answers) -> tuple[Domain, ...]:
    """Accuracy and consistency by domain, in the order of their names."""
    by_name: dict[str, list[PreferencePair]] = {}
    for pair in answers.pairs:
        by_name.setdefault(pair.domain, []).append(pair)
    return tuple(
        Domain(
            domain=name,
            pairs=len(pairs),
            accuracy=accuracy(answers, pairs),
            consistency=_consistency(answers, pairs) if answers.both else None,
        )
        for name, pairs in sorted(by_name.items())
    )


def orders(answers: Answers) -> Orders | None:
    """What the place does; None for a judge without a position."""
    if not answers.both:
        return None
    kept: Counter[str] = Counter()
    for pair in answers.pairs:
        letters = [_letter(j) for j in _given(answers, pair)]
        if len(letters) == 2 and letters[0] == letters[1]:
            kept.update(letters[:1])
    first = ([_letter_is(j, "A") for j in _given(answers, pair)] for pair in answers.pairs)
    twice = ([float([j.verdict for j in _given(answers, pair)] == ["chosen", "chosen"])] for pair in answers.pairs)
    return Orders(
        consistency=_consistency(answers, answers.pairs),
        right_twice=share(rate_over_pairs(twice)),
        first=share(rate_over_pairs(first)),
        first_kept=kept["A"],
        second_kept=kept["B"],
    )


def retest(answers: Answers) -> Retest | None:
    """The same question twice; None when nothing was asked again."""
    if not answers.asked_again:
        return None
    both = [
        (_letter(then), _letter(now))
        for pair in answers.pairs
        if (then := answers.drawn(pair)) and (now := answers.again.get(pair.id)) and _readable(then) and _readable(now)
    ]
    kappa, low, high = _kappa([a for a, _ in both], [b for _, b in both])
    agreement = share(rate_over_pairs([float(a == b)] for a, b in both))
    return Retest(agreement=agreement, kappa=kappa, kappa_low=low, kappa_high=high)


def people(answers: Answers, labels: Labels) -> People:
    """The judge's settled verdicts against the most frequent label of people.

    Kappa is taken over A, B and tie as they stand in the drawn order, which is how both were shown the answers: over
    chosen and rejected nearly all labels would be one category, and kappa says little then.
    """
    most, ours, theirs = labels.most, [], []
    for pair in answers.pairs:
        verdict, order = _settled(answers, pair), draw_order(pair.id, answers.seed)
        if pair.id in most and verdict is not None:
            ours.append(letter_of(verdict, order))
            theirs.append(letter_of(most[pair.id], order))
    kappa, low, high = _kappa(ours, theirs)
    return People(
        pairs=len(ours),
        annotators=labels.annotators,
        split=len(labels.by_pair) - len(most),
        agreement=share(rate_over_pairs([float(a == b)] for a, b in zip(ours, theirs, strict=True))),
        kappa=kappa,
        kappa_low=low,
        kappa_high=high,
        between_people=labels.between_people,
    )


def confidence(answers: Answers) -> Confidence | None:
    """Calibration of the probability in the drawn order, one value for each pair; None with too few."""
    drawn = [j for pair in answers.pairs if (j := answers.drawn(pair)) and j.p_rejected is not None]
    p = np.array([wrong_in_order(j) for j in drawn])
    bins = min(BINS, p.size // 2)
    if bins < 2:
        return None
    found = calibration(np.maximum(p, 1 - p), (p < 0.5).astype(np.float64), bins)
    return Confidence(
        n=found.n,
        mean=float(np.maximum(p, 1 - p).mean()),
        right=float((p < 0.5).mean()),
        brier=found.brier,
        brier_low=found.brier_interval[0],
        brier_high=found.brier_interval[1],
        ece=found.ece,
        ece_if_calibrated=found.ece_if_calibrated,
        rms=found.rms,
        rms_low=found.rms_interval[0],
        rms_high=found.rms_interval[1],
        bins=tuple(
            ConfidenceBin(n=b.n, confidence=b.confidence, right=b.right, low=b.low, high=b.high) for b in found.bins
        ),
    )


def spending(calls: Iterable[Completion], judgments: int) -> Spending:
    """Means over `judgments` of all calls made for them, and how long calls took."""
    made = list(calls)
    seconds = np.array([call.seconds for call in made])
    costs = [call.cost for call in made]
    known = [cost for cost in costs if cost is not None]
    n = max(1, judgments)
    return Spending(
        calls=len(made),
        calls_per_judgment=len(made) / n,
        prompt_tokens=sum(call.prompt_tokens for call in made) / n,
        completion_tokens=sum(call.completion_tokens for call in made) / n,
        cost=sum(known) / n if made and len(known) == len(costs) else None,
        seconds_median=float(np.median(seconds)) if made else None,
        seconds_p95=float(np.quantile(seconds, 0.95)) if made else None,
    )


def _given(answers: Answers, pair: PreferencePair) -> Iterator[Judgment]:
    return (j for order in answers.orders(pair) if (j := answers.first.get((pair.id, order))))


def _of_all(answers: Answers, holds: Callable[[Judgment | None], bool]) -> Share:
    return share(
        rate_over_pairs(
            [float(holds(answers.first.get((pair.id, order)))) for order in answers.orders(pair)]
            for pair in answers.pairs
        )
    )


def _consistency(answers: Answers, pairs: Sequence[PreferencePair]) -> Share:
    values = []
    for pair in pairs:
        given = list(_given(answers, pair))
        if len(given) == 2 and all(map(_readable, given)):
            values.append([float(given[0].verdict == given[1].verdict)])
    return share(rate_over_pairs(values))


def _settled(answers: Answers, pair: PreferencePair) -> Verdict | None:
    """The verdict of both orders together: theirs where they agree, a tie where they do not; None where one is not
    there."""
    given = list(_given(answers, pair))
    if len(given) < len(answers.orders(pair)) or not all(map(_readable, given)):
        return None
    verdicts = {j.verdict for j in given}
    return verdicts.pop() if len(verdicts) == 1 else "tie"


def _right(judgment: Judgment) -> float:
    return NO_VALUE if judgment.verdict in ("tie", "invalid") else float(judgment.verdict == "chosen")


def _letter(judgment: Judgment) -> str:
    return letter_of(judgment.verdict, judgment.order)


def _letter_is(judgment: Judgment, letter: str) -> float:
    return NO_VALUE if _letter(judgment) not in ("A", "B") else float(_letter(judgment) == letter)


def _readable(judgment: Judgment) -> bool:
    return judgment.verdict != "invalid"


def _kappa(first: Sequence[str], second: Sequence[str]) -> tuple[float | None, float, float]:
    kappa = cohen_kappa(first, second)
    return (None if math.isnan(kappa) else kappa), *cohen_kappa_interval(first, second)
