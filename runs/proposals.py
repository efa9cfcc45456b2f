"""What contrasts propose from verdicts that were given elsewhere: the texts vary by themselves, nothing was written in.

A proposal goes with the verdicts and need not cause them: a better answer may also be the one with more headings. So a
run takes proposals as candidates and tests them by perturbation like all others.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..agents.contrasts import Findings, Profiles, Seen, between, find, response_kind
from ..bias_library.features import Feature
from ..core.errors import ConfigError, DataError
from ..core.ids import seed_from
from ..core.records import Judgment
from ..data.judgment_log import JudgmentLog, read_judgments
from ..data.sources import load
from ..graph.context import Context
from ..graph.contrasts import GIVEN, keep_findings, summary
from ..graph.settings import ContrastSettings
from .config import JudgmentsSpec, RunConfig


class Proposal(NamedTuple):
    """One judge of a log."""

    judge: str
    pairs: int
    judgments: int
    right: int | None
    """Verdicts for the better answer, among pairs of which it is known; None without any."""
    labelled: int
    """Right and wrong verdicts on those pairs."""
    findings: Findings


def propose(
    spec: JudgmentsSpec, features: Mapping[str, Feature], seed: int, settings: ContrastSettings
) -> list[Proposal]:
    """Features that go with the verdicts of each judge in a log (or of the one that is asked for), judges by name.

    Raises DataError when the log cannot be read or holds no verdict on a pair whose texts are known, ConfigError for a
    judge that is not in it.
    """
    pairs = load(spec.pairs).pairs if spec.pairs else []
    log = read_judgments(spec.source, run_id="log", pairs=pairs)
    by_judge: dict[str, list[Judgment]] = defaultdict(list)
    known = {pair.id for pair in log.pairs}
    for judgment in log.judgments:
        if judgment.pair_id in known:
            by_judge[judgment.judge].append(judgment)
    if not by_judge:
        raise DataError(
            f"{spec.source}: {len(log.judgments)} verdicts, none on a pair whose texts are known; give the data set "
            "that was judged with --pairs SOURCE"
        )
    if spec.judge is not None and spec.judge not in by_judge:
        raise ConfigError(f"judgments.judge: {spec.judge!r} is not in {spec.source}; there are {_names(by_judge)}")
    chosen = [spec.judge] if spec.judge is not None else sorted(by_judge)
    profiles = Profiles(features)
    return [_proposal(judge, by_judge[judge], log, profiles, seed, settings) for judge in chosen]


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """A judge's proposals as JSON, each marked as no more than that."""
    return {
        "judge": proposal.judge,
        "pairs": proposal.pairs,
        "judgments": proposal.judgments,
        "right": proposal.right,
        "labelled": proposal.labelled,
        **summary(proposal.findings, ()),
    }


async def give_proposals(context: Context, config: RunConfig) -> None:
    """Store what the configured log proposes as candidates of the first round. Raises as `propose` does, and
    ConfigError for a log of several judges of which none is named."""
    if config.judgments is None:
        return
    found = propose(config.judgments, context.features, config.seed, config.discovery.contrasts)
    if len(found) > 1:
        raise ConfigError(
            f"{config.judgments.source}: holds verdicts of {len(found)} judges; name the one that is audited with "
            f"--judged-by (judgments.judge): {_names({p.judge: p for p in found})}"
        )
    ids = await keep_findings(context, found[0].findings, 0, source="log")
    context.store.write_note(context.run_id, GIVEN, ids)


def _labelled(log: JudgmentLog, judgments: Sequence[Judgment]) -> list[Judgment]:
    return [j for j in judgments if j.pair_id not in log.unlabelled and j.verdict in ("chosen", "rejected")]


def _proposal(
    judge: str,
    judgments: Sequence[Judgment],
    log: JudgmentLog,
    profiles: Profiles,
    seed: int,
    settings: ContrastSettings,
) -> Proposal:
    pairs = {pair.id: pair for pair in log.pairs}
    said: dict[str, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        said[judgment.pair_id].append(judgment)
    seen = [Seen(pairs[id_], pairs[id_].rejected, tuple(said[id_])) for id_ in sorted(said)]
    response = response_kind(seen)
    # Where nobody knows the better answer, the two sides are only names, and quality is no intercept.
    kinds = [
        between([s for s in seen if (s.pair.id in log.unlabelled) == unlabelled], profiles, response)
        for unlabelled in (False, True)
    ]
    findings = find(
        kinds,
        profiles.features,
        np.random.default_rng(seed_from("contrasts", seed, "log", judge)),
        response=response,
        false_selections=settings.false_selections,
        min_rows=settings.min_rows,
    )
    known = _labelled(log, judgments)
    right = sum(j.verdict == "chosen" for j in known) if known else None
    return Proposal(judge, len(seen), len(judgments), right, len(known), findings)


def _names(judges: Mapping[str, Any]) -> str:
    return ", ".join(sorted(judges))
