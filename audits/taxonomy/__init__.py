"""The taxonomy audit: twelve biases injected one at a time into pairs, and what that does to a judge's right verdicts
(JudgeBiasBench; docs/audits.md).

`settings` says what can be chosen, `suite` builds the injected pairs (`cues` and agents.injection write them, a
verifier or `by_rule` checks them), `exchange` reads and writes them as files, `judging` asks the judge, `measure`
counts.
"""

from .judging import judge_suite
from .measure import measure
from .result import BiasResult, TaxonomyResult
from .settings import TaxonomySettings, chosen_biases
from .suite import Suite, build_suite, load_suite, store_suite

__all__ = [
    "BiasResult",
    "Suite",
    "TaxonomyResult",
    "TaxonomySettings",
    "build_suite",
    "chosen_biases",
    "judge_suite",
    "load_suite",
    "measure",
    "store_suite",
]
