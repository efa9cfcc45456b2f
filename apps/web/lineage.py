"""Where biases come from, as a graph in four columns: what was injected, what the teacher named after the judge's
errors, what merging made of it, and how that stands. Positions are worked out here and drawn by the template."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from ...core.records import Candidate, MergeDecision
from .site import OpenRun
from .snapshot import STATUSES, Snapshot

_ROW = 46
_COLUMNS = (0, 300, 600, 900)
WIDTH, NODE = 1120, 220
"""Width of the drawing and of a node, px."""
_TOP = 40
MOST = 40
"""Groups of candidates that are drawn, the largest first."""


@dataclass(frozen=True)
class Node:
    """A box."""

    key: str
    label: str
    note: str
    kind: str
    """injected, candidates, bias, or the status that biases ended in."""
    bias_id: str = ""
    """The page it leads to."""
    column: int = 0
    y: float = 0.0

    @property
    def x(self) -> int:
        """Left edge."""
        return _COLUMNS[self.column]


@dataclass(frozen=True)
class Edge:
    """A line from one box to the next; `weight` counts misjudgments."""

    start: Node
    end: Node
    weight: int
    note: str = ""

    @property
    def path(self) -> str:
        """The curve, as SVG."""
        x1, x2 = self.start.x + (NODE if self.start.column < 3 else 0), self.end.x
        y1, y2, bend = self.start.y + 17, self.end.y + 17, (x2 - x1) / 2
        return f"M{x1} {y1:.0f}C{x1 + bend:.0f} {y1:.0f} {x2 - bend:.0f} {y2:.0f} {x2} {y2:.0f}"

    @property
    def width(self) -> float:
        """Thickness, px."""
        return min(14.0, 1.0 + 1.4 * sqrt(self.weight))


@dataclass(frozen=True)
class Lineage:
    """The graph, and the same as lines of text."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int
    """Groups of candidates that are not drawn."""
    iterations: tuple[int, ...]
    """Those that can be chosen."""

    width: int = WIDTH
    """Of the drawing, px."""
    node_width: int = NODE

    @property
    def height(self) -> float:
        """Of the drawing, px."""
        return max((n.y for n in self.nodes), default=0.0) + _ROW + 10


@dataclass(frozen=True)
class Finds:
    """The candidates and merges of a run."""

    candidates: dict[str, Candidate]
    merges: tuple[MergeDecision, ...]


def finds(run: OpenRun) -> Finds:
    """Read once for as long as nothing is added."""

    def read() -> Finds:
        candidates = {c.id: c for c in run.store.iterate(Candidate, run_id=run.run_id)}
        return Finds(candidates, tuple(run.store.iterate(MergeDecision, run_id=run.run_id)))

    return run.kept("finds", run.counts(Candidate, MergeDecision), read)


def lineage(found: Finds, snap: Snapshot, iteration: int | None = None, bias_id: str | None = None) -> Lineage:
    """The graph of one iteration or all, or of what led to one bias and to those merged into it."""
    wanted = _family(snap, bias_id) if bias_id else None
    merges = [
        m
        for m in found.merges
        if (iteration is None or m.iteration == iteration) and (wanted is None or m.into in wanted)
    ]
    merges.sort(key=lambda m: (-len(m.candidate_ids), m.into, m.id))
    drawn = merges[:MOST]
    graph = _Graph()
    for merge in drawn:
        _add(graph, merge, [found.candidates[c] for c in merge.candidate_ids if c in found.candidates], snap)
    if bias_id and not drawn and bias_id in snap.by_id:
        _add_end(graph, bias_id, snap)
    return graph.placed(len(merges) - len(drawn), sorted({m.iteration for m in found.merges}))


def _family(snap: Snapshot, bias_id: str) -> set[str]:
    """A bias and all that became part of it."""
    family = {bias_id}
    while more := {r.id for r in snap.rows if r.entry.merged_into in family and r.id not in family}:
        family |= more
    return family


def _add(graph: "_Graph", merge: MergeDecision, members: Sequence[Candidate], snap: Snapshot) -> None:
    names = Counter(c.name for c in members)
    shown = names.most_common(1)[0][0] if names else "candidates"
    others = f", {len(names)} wordings" if len(names) > 1 else ""
    group = graph.node(f"group:{merge.id}", shown, f"{_count(len(members), 'misjudgment')}{others}", "candidates", 1)
    for source, weight in sorted(Counter(c.source_bias for c in members).items()):
        label = snap.name(source) if source else "no bias injected"
        injected = graph.node(f"source:{source}", label, "", "injected", 0, source if source in snap.by_id else "")
        graph.edge(injected, group, weight)
    how = "new" if merge.novel else f"known, by {merge.decided_by}"
    if merge.similarity is not None:
        how += f", nearest at {merge.similarity:.2f}"
    bias = _add_end(graph, merge.into, snap)
    graph.edge(group, bias, max(1, len(members)), how)


def _add_end(graph: "_Graph", bias_id: str, snap: Snapshot) -> Node:
    """A bias, the one it was merged into, and how that stands."""
    row = snap.by_id.get(bias_id)
    if row is None:
        return graph.node(f"bias:{bias_id}", bias_id, "no longer in the library", "bias", 2)
    support = _count(row.entry.support.misjudgments, "misjudgment")
    node = graph.node(f"bias:{bias_id}", row.entry.bias.name, support, "bias", 2, bias_id)
    standing = snap.library.resolve(bias_id)
    if standing != bias_id:
        end = graph.node(f"into:{standing}", f"part of {snap.name(standing)}", "merged", "merged", 3, standing)
    else:
        status = row.entry.status
        end = graph.node(f"status:{status}", status, "", status, 3)
    graph.edge(node, end, max(1, row.entry.support.misjudgments))
    return node


class _Graph:
    """Nodes and edges as they are met."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._edges: dict[tuple[str, str], tuple[int, str]] = {}

    def node(self, key: str, label: str, note: str, kind: str, column: int, bias_id: str = "") -> Node:
        return self._nodes.setdefault(key, Node(key, label, note, kind, bias_id, column))

    def edge(self, start: Node, end: Node, weight: int, note: str = "") -> None:
        before, said = self._edges.get((start.key, end.key), (0, ""))
        fixed = start.column == 2
        self._edges[start.key, end.key] = (weight if fixed else before + weight, note or said)

    def placed(self, left_out: int, iterations: Iterable[int]) -> Lineage:
        nodes: dict[str, Node] = {}
        rank: dict[str, float] = {}
        into = defaultdict(list)
        out_of = defaultdict(list)
        for start, end in self._edges:
            into[end].append(start)
            out_of[start].append(end)
        columns = [[n for n in self._nodes.values() if n.column == k] for k in range(4)]
        rank |= {n.key: k for k, n in enumerate(columns[1])}
        for place, near in ((0, out_of), (2, into), (3, into)):
            columns[place] = sorted(columns[place], key=lambda n: _place(n, near[n.key], rank))
            rank |= {n.key: k for k, n in enumerate(columns[place])}
        columns[1].sort(key=lambda n: (_place(n, out_of[n.key], rank), rank[n.key]))
        tallest = max((len(c) for c in columns), default=0)
        for column in columns:
            shift = (tallest - len(column)) * _ROW / 2
            nodes |= {n.key: replace(n, y=_TOP + shift + k * _ROW) for k, n in enumerate(column)}
        edges = tuple(
            Edge(nodes[start], nodes[end], weight, note) for (start, end), (weight, note) in self._edges.items()
        )
        labelled = tuple(self._with_notes(nodes, edges))
        by_key = {n.key: n for n in labelled}
        edges = tuple(replace(e, start=by_key[e.start.key], end=by_key[e.end.key]) for e in edges)
        return Lineage(labelled, edges, left_out, tuple(iterations))

    def _with_notes(self, nodes: dict[str, Node], edges: Sequence[Edge]) -> Iterator[Node]:
        """What is injected says how many misjudgments it led to, an outcome how many biases it is of."""
        for node in nodes.values():
            if node.kind == "injected":
                total = sum(e.weight for e in edges if e.start.key == node.key)
                yield replace(node, note=_count(total, "misjudgment"))
            elif node.column == 3 and node.kind in STATUSES and not node.note:
                yield replace(node, note=_count(sum(e.end.key == node.key for e in edges), "bias", "biases"))
            else:
                yield node


def _place(node: Node, near: Sequence[str], rank: dict[str, float]) -> float:
    known = [rank[key] for key in near if key in rank]
    if node.column == 3 and node.kind in STATUSES:
        return 1000.0 * STATUSES.index(node.kind)
    return sum(known) / len(known) if known else 1e9


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"
