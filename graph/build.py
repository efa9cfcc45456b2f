"""The machine: sample and perturb, judge, explain, discover, merge, validate, admit, converge; then confirm."""

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from ..core.tracing import span
from .context import Context
from .nodes.admit import admit
from .nodes.confirm import confirm
from .nodes.converge import converge
from .nodes.discover import discover
from .nodes.explain import explain
from .nodes.judge import judge
from .nodes.merge import merge
from .nodes.perturb import perturb
from .nodes.validate import validate
from .routes import after_converge
from .state import State

Node = Callable[[Context, State], Awaitable[State]]

LOOP: tuple[Node, ...] = (perturb, judge, explain, discover, merge, validate, admit, converge)


def build(
    context: Context, checkpointer: BaseCheckpointSaver[Any] | None = None, *, start: State | None = None
) -> CompiledStateGraph[State]:
    """The compiled loop for one run. Every node may run twice: it writes the same rows.

    `start` stands in for what the input leaves out.
    """
    graph = StateGraph(State)
    for node in (*LOOP, confirm):
        graph.add_node(node.__name__, _with(context, node, start or State()))
    graph.add_edge(START, LOOP[0].__name__)
    for before, after in pairwise(LOOP):
        graph.add_edge(before.__name__, after.__name__)
    graph.add_conditional_edges("converge", after_converge)
    graph.add_edge("confirm", END)
    return graph.compile(checkpointer=checkpointer, name="biasscope")


class _Bound(Protocol):
    async def __call__(self, state: State) -> State: ...


def _with(context: Context, node: Node, start: State) -> _Bound:
    async def run(state: State) -> State:
        state = State(**{**start, **state})
        context.progress.iteration = state.get("iteration", 0)
        with span(f"node {node.__name__}", biasscope__iteration=context.progress.iteration):
            return await node(context, state)

    return run
