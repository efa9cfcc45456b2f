"""The configuration of every kind of job."""

from .audits.gate import GateConfig
from .audits.profile import ProfileConfig
from .audits.self_preference import SelfPreferenceConfig
from .audits.taxonomy import TaxonomyConfig
from .audits.transfer import TransferConfig
from .benchmark import BenchmarkConfig
from .benchmark_evaluation import EvaluationConfig
from .config import JobConfig, RunConfig
from .preferences import AugmentConfig, DpoConfig
from .treatments import TreatmentConfig

KINDS: dict[str, type[JobConfig]] = {
    "discover": RunConfig,
    "benchmark": BenchmarkConfig,
    "taxonomy": TaxonomyConfig,
    "self-preference": SelfPreferenceConfig,
    "evaluation": EvaluationConfig,
    "dpo": DpoConfig,
    "augment": AugmentConfig,
    "treatment": TreatmentConfig,
    "gate": GateConfig,
    "profile": ProfileConfig,
    "transfer": TransferConfig,
}
"""By the name that a job's config.yaml has under `kind`."""
