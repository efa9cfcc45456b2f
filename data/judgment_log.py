"""Verdicts that a judge has given elsewhere, as judgments: logs of published judge runs, and your own.

Three layouts, told apart row by row by their fields:

- your own: `prompt`, `answer_a`, `answer_b` and `verdict` in the order shown (A, B, tie, 1, 2, a winner's name, or null
  for one that could not be read); also `label`, `judge`, `id`, `domain`, `score_a`, `score_b`, `repetition`;
- LLMBar's evaluators: `item`, `judge`, `method`, `swap`, and `winner` and `label` in the data set's own order (1 or 2);
- JudgeBench and position studies: `item`, `judge`, `decision_as_shown`, and `order` with `label_AB`, or
  `model_shown_A` and `model_shown_B`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import DataError
from ..core.ids import content_id
from ..core.records import ORIGINAL, Judgment, Order, PreferencePair, Verdict
from .files import Row
from .labels import Reading, read_label
from .readers import read_rows
from .spec import SourceSpec
from .text import clean

_FLIPPED: dict[Reading, Reading] = {"A": "B", "B": "A", "tie": "tie"}


class JudgmentLog(NamedTuple):
    """What a log holds."""

    judgments: tuple[Judgment, ...]
    pairs: tuple[PreferencePair, ...]
    """The pairs judged, where their texts are known: from the log, or among those given."""
    unlabelled: frozenset[str]
    """Pair ids without a known better answer: `chosen` is then only the name of one side (answer A of the log's first
    row on that pair, or the first of two model names), fit for consistency and contrasts, not for accuracy."""


class _Line(NamedTuple):
    """A row, read. Sides are as the judge saw them."""

    key: tuple[str, ...]
    """The pair, whichever side was shown first."""
    item: str
    judge: str
    verdict: Reading | None
    chosen: Reading
    """Which side is the chosen one, or stands for it."""
    labelled: bool
    draw: int | None = None
    """None: the next one of this judge on this pair in this order."""
    scores: tuple[float, float] | None = None
    texts: tuple[str, str, str] | None = None
    """Prompt, answer A and answer B."""
    domain: str = "all"


def read_judgments(path: str | Path, *, run_id: str, pairs: Sequence[PreferencePair] = ()) -> JudgmentLog:
    """All verdicts of a file as judgments of the original arm, in its order.

    `pairs`: the data set that was judged; a row's `item` or `id` finds its pair there by `source_id`, and its judgment
    then carries that pair's id. Raises DataError with file, line and reason for a row that no layout fits.
    """
    known = _by_source_id(pairs)
    judgments: dict[str, Judgment] = {}
    times: Counter[tuple[str, ...]] = Counter()
    found: dict[str, PreferencePair] = {}
    unlabelled: set[str] = set()
    sides: dict[tuple[str, ...], str] = {}
    for row in read_rows(SourceSpec(source=str(path))):
        line = _read(row, f"{path}: {row.place}", sides)
        pair = _own_pair(line) or known.get(line.item)
        pair_id = pair.id if pair else content_id("logged", *line.key)
        if pair:
            found[pair_id] = pair
        if not line.labelled:
            unlabelled.add(pair_id)
        again = (line.judge, pair_id, line.chosen)
        judgment = _judgment(line, pair_id, run_id, times[again] if line.draw is None else line.draw)
        times[again] += 1
        if judgment.id in judgments:
            raise DataError(
                f"{path}: {row.place}: a second verdict of {line.judge!r} on the same pair, order and repetition"
            )
        judgments[judgment.id] = judgment
    if not judgments:
        raise DataError(f"{path}: no rows")
    return JudgmentLog(tuple(judgments.values()), tuple(found.values()), frozenset(unlabelled))


def _judgment(line: _Line, pair_id: str, run_id: str, draw: int) -> Judgment:
    first = line.chosen == "A"
    verdict: Verdict = "invalid"
    if line.verdict is not None:
        verdict = "tie" if line.verdict == "tie" else "chosen" if line.verdict == line.chosen else "rejected"
    order: Order = "chosen_first" if first else "rejected_first"
    scores = line.scores or (None, None)
    return Judgment(
        id=content_id("judgment", run_id, line.judge, pair_id, ORIGINAL, order, "logged", draw),
        run_id=run_id,
        pair_id=pair_id,
        arm=ORIGINAL,
        order=order,
        verdict=verdict,
        judge=line.judge,
        score_chosen=scores[0 if first else 1],
        score_rejected=scores[1 if first else 0],
        draw=draw,
    )


def _read(row: Row, place: str, sides: dict[tuple[str, ...], str]) -> _Line:
    values = row.values
    if {"prompt", "answer_a", "answer_b", "verdict"} <= values.keys():
        return _own(values, place, sides)
    if {"item", "judge", "winner", "label", "swap"} <= values.keys():
        return _llmbar(values, place)
    if {"item", "judge", "decision_as_shown"} <= values.keys():
        return _as_shown(values, place)
    fields = ", ".join(sorted(map(str, values)))[:200] or "no fields"
    raise DataError(f"{place}: is no verdict: it has {fields}; a log needs prompt, answer_a, answer_b and verdict")


def _own(values: Mapping[str, Any], place: str, sides: dict[tuple[str, ...], str]) -> _Line:
    counts: Counter[str] = Counter()
    prompt, a, b = (clean(_text(values[name]), counts) for name in ("prompt", "answer_a", "answer_b"))
    key = (prompt, min(a, b), max(a, b))
    given = values.get("label")
    label = None if given is None else _side(given, place, "label")
    if label == "tie":
        raise DataError(f"{place}: label is a tie; a preference pair needs a better answer, leave the label out")
    # Without a label the side that came first in the log keeps its name when the answers come swapped.
    chosen: Reading = label or ("A" if sides.setdefault(key, a) == a else "B")
    numbers = [values.get("score_a"), values.get("score_b")]
    return _Line(
        key=key,
        item=_text(values.get("id")),
        judge=_text(values.get("judge")) or "logged",
        verdict=None if values["verdict"] is None else _side(values["verdict"], place, "verdict"),
        chosen=chosen,
        labelled=label is not None,
        draw=_draw(values, place),
        scores=None if None in numbers else (_number(numbers[0], place), _number(numbers[1], place)),
        texts=(prompt, a, b),
        domain=_text(values.get("domain")) or "all",
    )


def _llmbar(values: Mapping[str, Any], place: str) -> _Line:
    label, winner = _side(values["label"], place, "label"), values["winner"]
    verdict: Reading | None = None if winner is None else _side(winner, place, "winner")
    swapped = values["swap"] is True
    return _Line(
        key=(_text(values.get("dataset")), _text(values["item"])),
        item=_text(values["item"]),
        judge=_judge(values),
        verdict=verdict and (_FLIPPED[verdict] if swapped else verdict),
        chosen=_FLIPPED[label] if swapped else label,
        labelled=True,
        draw=_draw(values, place),
    )


def _as_shown(values: Mapping[str, Any], place: str) -> _Line:
    shown, item = values["decision_as_shown"], _text(values["item"])
    verdict = None if shown is None else _side(shown, place, "decision_as_shown")
    models = (_text(values.get("model_shown_A")), _text(values.get("model_shown_B")))
    scores = values.get("scores")
    both = (_number(scores[0], place), _number(scores[1], place)) if scores and len(scores) == 2 else None
    common: dict[str, Any] = {
        "judge": _judge(values),
        "verdict": verdict,
        "draw": _draw(values, place),
        "scores": both,
    }
    key: tuple[str, ...] = (_text(values.get("dataset")), item, _text(values.get("response_model")))
    if "label_AB" in values:
        label = _side(values["label_AB"], place, "label_AB")
        swapped = values.get("order") == "BA"
        return _Line(key=key, item=item, chosen=_FLIPPED[label] if swapped else label, labelled=True, **common)
    if not all(models):
        raise DataError(f"{place}: has neither label_AB nor model_shown_A and model_shown_B; the sides have no names")
    # The item of a position study names the models in the order shown; the pair is the same whichever came first.
    key = (_text(values.get("dataset")), item.partition(";")[0], *sorted(models))
    return _Line(key=key, item=item, chosen="A" if models[0] <= models[1] else "B", labelled=False, **common)


def _own_pair(line: _Line) -> PreferencePair | None:
    if line.texts is None:
        return None
    prompt, a, b = line.texts
    chosen, rejected = (a, b) if line.chosen == "A" else (b, a)
    return PreferencePair(
        id=content_id("pair", prompt, chosen, rejected),
        prompt=prompt,
        chosen=chosen,
        rejected=rejected,
        domain=line.domain,
        source="log",
        source_id=line.item,
    )


def _by_source_id(pairs: Iterable[PreferencePair]) -> dict[str, PreferencePair]:
    found: dict[str, PreferencePair] = {}
    for pair in pairs:
        if pair.source_id in found:
            raise DataError(f"the id {pair.source_id!r} is that of two pairs; leave out what the log does not judge")
        if pair.source_id:
            found[pair.source_id] = pair
    return found


def _side(value: Any, place: str, name: str) -> Reading:
    side = read_label(value, "1/2")
    if side is None:
        raise DataError(f"{place}: {name} = {value!r:.80} is none of A, B, tie, 1 and 2")
    return side


def _judge(values: Mapping[str, Any]) -> str:
    method = _text(values.get("method"))
    return _text(values["judge"]) + (f"#{method}" if method else "")


def _draw(values: Mapping[str, Any], place: str) -> int | None:
    given = values.get("repetition")
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise DataError(f"{place}: repetition = {given!r:.40} is no whole number from 1 on")
    return given - 1


def _number(value: Any, place: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"{place}: the score {value!r:.40} is no number") from None


def _text(value: Any) -> str:
    return "" if value is None else str(value)
