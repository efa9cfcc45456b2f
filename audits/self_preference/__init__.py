"""The self-preference audit: does a judge favour its own answers where a panel finds no difference
(docs/audits.md).

`settings` says what can be chosen, `authors` who counts as whom, `contests` pairs own answers with others, `asking`
has panel and judge speak, `measure` counts.
"""

from .asking import Roles, ask
from .contests import Contest, load_contests, plan_contests, store_contests
from .measure import measure
from .result import SelfPreferenceResult
from .settings import SelfPreferenceSettings

__all__ = [
    "Contest",
    "Roles",
    "SelfPreferenceResult",
    "SelfPreferenceSettings",
    "ask",
    "load_contests",
    "measure",
    "plan_contests",
    "store_contests",
]
