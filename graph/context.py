"""What the nodes work with. Built by the launcher, never part of the state."""

from dataclasses import dataclass

from ..agents.arms import Bench
from ..agents.engines.embedder import Embedder
from ..core.calls import Model
from .settings import LoopSettings


@dataclass(frozen=True)
class Context(Bench):
    """Everything outside the state."""

    settings: LoopSettings
    teacher_model: Model
    embedder: Embedder
