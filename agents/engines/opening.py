"""Open a model with everything around it."""

from collections.abc import Mapping
from typing import Any

from ...core.calls import Model
from ...core.errors import ConfigError
from ...core.store import Store
from .budget import Budget, Budgeted
from .embedded import Embedded
from .http_endpoint import HttpEndpoint
from .limited import Breaker, Limited
from .offline import Offline
from .openai_compatible import OpenAICompatible
from .pretrained import Pretrained
from .python_callable import PythonCallable
from .reference import IN_PROCESS, ModelSpec, parse_reference
from .relevance import open_relevance
from .reward import RewardModel
from .score_endpoint import ScoreEndpoint
from .several import Several
from .stored import Stored
from .traced import Traced

DEAD_AFTER = 10


def open_engine(spec: "str | Mapping[str, Any] | ModelSpec", *, run_id: str = "", store: Store | None = None) -> Model:
    """The bare model of a reference, without cache, limits or budget. Raises ConfigError.

    Batches are kept in the store; without one they are not used.
    """
    spec = parse_reference(spec)
    match spec.scheme:
        case "embed":
            return open_relevance(spec)
        case "local":
            return Embedded(spec, run_id=run_id)
        case "hf":
            return Pretrained(spec)
        case "vllm":
            return Offline(spec)
        case "reward":
            return RewardModel(spec)
        case "score" | "rerank":
            return ScoreEndpoint(spec)
        case "python":
            return PythonCallable(spec)
        case "http" | "https":
            return HttpEndpoint(spec)
        case _:
            if spec.endpoints:
                return Several(spec, run_id=run_id)
            return OpenAICompatible(spec, run_id=run_id, store=store)


def open_model(
    spec: "str | Mapping[str, Any] | ModelSpec", *, run_id: str, store: Store, budget: Budget | None = None
) -> Model:
    """The model of a reference as a run uses it: stored, limited, within its budget, given up on when it is dead.

    Give every model of a run the same Budget. Raises ConfigError.
    """
    spec = parse_reference(spec)
    engine = open_engine(spec, run_id=run_id, store=store)
    return wrap(engine, spec, run_id=run_id, store=store, budget=budget)


def wrap(engine: Model, spec: ModelSpec, *, run_id: str, store: Store, budget: Budget | None = None) -> Model:
    """`open_model` for an engine that is open already.

    Outermost first: what is stored costs nothing and waits for nobody; the budget is asked when a call is about to go.
    """
    if budget is not None and budget.cost is not None and spec.scheme not in IN_PROCESS and spec.price_input is None:
        raise ConfigError(
            f"model {spec.model!r}: a budget in money needs prices; set price_input and price_output per million"
        )
    at_once = spec.at_once
    model: Model = Breaker(Traced(engine, run_id), max(DEAD_AFTER, 2 * at_once))
    model = Budgeted(model, budget) if budget is not None else model
    return Stored(Limited(model, at_once), store, run_id)
