"""`biasscope discover --from-judgments` without a judge: what goes with the verdicts of a log, as proposals."""

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...bias_library.features import load_features, user_features
from ...runs.config import ProposalsConfig
from ...runs.proposals import Proposal, proposal_json, propose

NOTE = (
    "These are proposals, not findings: features that go with the verdicts on these pairs and need not cause them. "
    "Give a judge (--judge, --teacher, --target) and they are tested by writing them into answers."
)


def show_proposals(config: ProposalsConfig) -> None:
    """Print the proposals for every judge of the log and keep them as JSON in the workspace."""
    spec, workspace = config.judgments, config.workspace
    features = load_features() | (user_features(config.features) if config.features else {})
    found = propose(spec, features, config.seed, config.discovery.contrasts)
    console = Console()
    table = Table("judge", "feature", "preferred", "in halves", "weight", "misjudged")
    for proposal in found:
        for row in _rows(proposal):
            table.add_row(*(Text(cell) for cell in row))
    console.print(table)
    say = Console(highlight=False, markup=False, soft_wrap=True).print
    bounds = [p.findings.stability.false_bound for p in found]
    say(f"Of each judge's proposals at most {max(bounds):.1f} are expected to be chance.")
    say(NOTE)
    workspace.mkdir(parents=True, exist_ok=True)
    path = workspace / f"{Path(spec.source).name.partition('.')[0]}.proposals.json"
    kept = {"note": NOTE, "judges": [proposal_json(p) for p in found]}
    path.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    say(f"kept in {path}")


def _rows(proposal: Proposal) -> list[tuple[str, ...]]:
    right = "" if proposal.right is None else f", {proposal.right / proposal.labelled:.0%} right"
    head = f"{proposal.judge}\n{proposal.judgments} verdicts on {proposal.pairs} pairs{right}"
    lines: list[tuple[str, ...]] = [
        (
            f.feature.title,
            f.evidence.direction,
            f"{f.evidence.frequency:.0%}",
            f"{f.evidence.weight:+.2f}",
            str(f.evidence.support),
        )
        for f in proposal.findings.found
    ] or [("none", "", "", "", "")]
    return [(head if k == 0 else "", *line) for k, line in enumerate(lines)]
