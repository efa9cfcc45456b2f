"""A transfer as a page: the matrix as heat map and table, and what is shared."""

from collections.abc import Iterator, Sequence

from ...audits.transfer import Cell as Effect
from ...audits.transfer import TransferBias, TransferJudge, TransferReport
from ..report.model import Fact
from ..report.tables import number, points
from .figures import percent, percents, short_name
from .heat import HeatCell, heat_map
from .page import Block, Cell, Note, Page, Section, Table, row, table

WEAK_ACCURACY = 0.6
MANY_LOST = 0.05


def transfer_page(found: TransferReport) -> Page:
    """The whole page."""
    shared, own = (sum(b.sharing == kind for b in found.biases) for kind in ("shared", "own"))
    return Page(
        about=f"transfer · {found.run_id}",
        title=f"{shared} of {_many(len(found.biases), 'bias', 'biases')} shared by all {len(found.judges)} judges, "
        f"{own} one judge's own",
        sentences=tuple(f"{bias.name}: {sharing_sentence(found, bias)}" for bias in found.biases[:_SENTENCES]),
        warnings=tuple(transfer_warnings(found)),
        facts=tuple(_facts(found)),
        sections=tuple(_sections(found)),
    )


def transfer_warnings(found: TransferReport) -> Iterator[str]:
    """What a reader should be wary of."""
    for k, judge in enumerate(found.judges):
        name = judge_label(found, k)
        if judge.accuracy is None:
            yield f"{name} gave no verdict on any unperturbed pair."
            continue
        if judge.accuracy < WEAK_ACCURACY:
            yield (
                f"{name} is right on {percent(judge.accuracy)} of the unperturbed pairs: it is not far from guessing, "
                "so what moves its verdicts says little about biases."
            )
        if (lost := (judge.invalid + judge.failed) / max(1, judge.asked)) > MANY_LOST:
            yield f"{percent(lost)} of what {name} was asked gave no verdict; its effects speak for the rest only."
    if found.part != "confirm" and found.found_on in [j.judge for j in found.judges]:
        yield (
            "The biases were accepted for their effect on these pairs and on "
            f"{short_name(found.found_on)}, which looks worse here than it is; other judges do not."
        )


def sharing_sentence(found: TransferReport, bias: TransferBias) -> str:
    """What the tests say about one bias."""
    who = _and([judge_label(found, k) for k in bias.judges])
    said = {
        "shared": "shown for every judge",
        "own": f"own to {who}: shown for it, and larger than for each other judge",
        "some": f"shown for {who}; not shown that others lack it",
        "not shown": "shown for no judge",
    }[bias.sharing]
    return f"{said}. " + ("The judges differ in it." if bias.differ else "It is not shown that the judges differ.")


def judge_label(found: TransferReport, k: int) -> str:
    """A judge's number and its model."""
    return f"{k + 1} {short_name(found.judges[k].judge)}"


def matrix(found: TransferReport) -> Table:
    """The effects in points, the biases with the largest first."""
    columns = ("Bias", *(judge_label(found, k) for k in range(len(found.judges))), "Shared")
    rows = [
        row(bias.name, *(_effect(cell) for cell in bias.cells), Cell(_kind(found, bias), _p(bias)))
        for bias in _sorted(found)
    ]
    return table("Effect in points of error rate", columns, rows, ("Shared",))


_SENTENCES = 6
_METHOD = (
    "Every judge has read the same texts, so effects are compared pair by pair. An effect is the error rate with the "
    "bias written into the worse answer, less the error rate with {reference}. Intervals are 95 %, each cell by "
    "itself; * marks effects that are shown, by Holm's correction over all cells. Shared: shown for every judge "
    "(intersection-union test). Own: shown for one judge, and larger than for each other one. Each of the two, and "
    "that the judges differ, is corrected over the biases by itself, at level {alpha:g}. That a bias is not shown for "
    "a judge does not say that the judge lacks it: look at the interval."
)


def _sections(found: TransferReport) -> Iterator[Section]:
    biases = _sorted(found)
    reference = "a neutral rewrite" if found.reference == "placebo" else "the original answer"
    method = _METHOD.format(reference=reference, alpha=found.alpha)
    blocks: list[Block] = []
    if biases:
        cells = [[_heat(cell) for cell in bias.cells] for bias in biases]
        labels = [judge_label(found, k) for k in range(len(found.judges))]
        blocks.append(
            heat_map("transfer", "Effect of each bias on each judge", [b.name for b in biases], labels, cells)
        )
    blocks += [matrix(found), Note(method)]
    yield Section("matrix", "Effects", (), tuple(blocks))
    yield Section("judges", "Judges", (), (_judges(found.judges),))
    yield Section("biases", "Biases", (), (_biases(found),))
    left_out = tuple(
        f"{judge_label(found, k)}: {line}" for k, judge in enumerate(found.judges) for line in judge.left_out
    )
    if left_out:
        yield Section("left-out", "Left out", left_out)


def _facts(found: TransferReport) -> Iterator[Fact]:
    yield Fact(label="Judges", value=f"{len(found.judges)}")
    yield Fact(label="Biases", value=f"{len(found.biases)}")
    yield Fact(label="Pairs", value=f"{found.pairs:,} ({found.part})")
    yield Fact(label="Found on", value=found.found_on or "–")
    yield Fact(label="Frozen set", value=found.frozen[:12])


def _judges(judges: Sequence[TransferJudge]) -> Table:
    rows = [
        row(
            f"{k}",
            Cell(j.judge, f"served by {', '.join(j.served_by)}" if j.served_by else ""),
            Cell(percent(j.accuracy), percents(j.accuracy_interval) if j.accuracy is not None else ""),
            ("both" if j.both_orders else "one") + (", probabilities" if j.probabilities else ""),
            *(f"{n:,}" for n in (j.asked, j.ties, j.invalid, j.failed)),
        )
        for k, j in enumerate(judges, 1)
    ]
    columns = ("No.", "Judge", "Accuracy", "Orders", "Asked", "Ties", "Unreadable", "Failed")
    return table("Judges; accuracy on the unperturbed pairs", columns, rows, ("Judge", "Orders"))


def _biases(found: TransferReport) -> Table:
    rows = []
    for bias in _sorted(found):
        where = Cell("–")
        if bias.found is not None:
            where = Cell(points(bias.found), _span(bias.found_interval) if bias.found_interval else "")
        rows.append(row(bias.name, bias.definition, where, *map(number, (bias.p_shared, bias.p_own, bias.p_differ))))
    columns = ("Bias", "Definition", "Where it was found", "p shared", "p own", "p differ")
    return table("Biases, with what their own run found", columns, rows, ("Definition",))


def _sorted(found: TransferReport) -> list[TransferBias]:
    return sorted(found.biases, key=lambda b: (-max((c.effect or 0.0 for c in b.cells), default=0.0), b.name, b.id))


def _effect(cell: Effect) -> Cell:
    if cell.effect is None:
        return Cell("–")
    return Cell(points(cell.effect) + (" *" if cell.shown else ""), _span(cell.interval))


def _heat(cell: Effect) -> HeatCell:
    shown = "–" if cell.effect is None else points(cell.effect)
    return HeatCell(cell.effect, shown, _span(cell.interval) if cell.n else "", cell.shown)


def _kind(found: TransferReport, bias: TransferBias) -> str:
    if bias.sharing == "own":
        return f"own to {judge_label(found, bias.judges[0])}"
    return bias.sharing + ("; judges differ" if bias.differ else "")


def _p(bias: TransferBias) -> str:
    p = {"shared": bias.p_shared, "own": bias.p_own}.get(bias.sharing)
    return "" if p is None else f"p = {number(p)}"


def _span(interval: Sequence[float]) -> str:
    return f"{points(interval[0])} to {points(interval[1])}"


def _and(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)


def _many(n: int, one: str, more: str) -> str:
    return f"{n} {one if n == 1 else more}"
