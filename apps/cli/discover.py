"""`biasscope discover` and `biasscope resume`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ...core.errors import ConfigError
from ...core.visible import one_line
from ...runs.config import ProposalsConfig, load_config
from ...runs.folder import RunFolder, find_run
from ...runs.jobs import change, locked
from ...runs.launch import Approval, Outcome, run
from .lazy import load
from .live import live
from .options import DEFAULT_WORKSPACE, OwnWorkspace, Settings, Workspace
from .proposals import show_proposals
from .starting import how_to_decide, say, start, stop_inconclusive
from .summary import show_report

Reference = Annotated[str | None, typer.Option(metavar="REF", help="openai:MODEL[@URL], local:, local:/path/x.gguf")]
CONTINUE = {
    "benchmark": ".benchmark:resume_build",
    "evaluation": ".benchmark:resume_evaluation",
    "dpo": ".dpo:resume_dpo",
    "augment": ".dpo:resume_augment",
    "treatment": ".mitigate:resume_treatments",
    "gate": ".gate:continue_gate",
    "profile": ".judge_profile:continue_profile",
    "transfer": ".transfer:continue_transfer",
    "taxonomy": ".audit:continue_taxonomy",
    "self-preference": ".audit:continue_self_preference",
}
"""How `resume` goes on with jobs of other kinds."""
KINDS = "...runs.kinds:KINDS"
"""Their configurations, which a discovery need not wait for."""
Source = Annotated[str | None, typer.Option(metavar="SOURCE", help="File, hub data set or `builtin`.")]


def discover(
    config: Annotated[Path | None, typer.Argument(metavar="[CONFIG.yaml]", help="Configuration of the run.")] = None,
    set_: Settings = None,
    judge: Reference = None,
    teacher: Reference = None,
    verifier: Reference = None,
    embedder: Reference = None,
    target: Source = None,
    test: Source = None,
    from_judgments: Annotated[
        Path | None,
        typer.Option(
            "--from-judgments",
            metavar="FILE",
            help="Verdicts from elsewhere: contrasts propose biases from them; without a judge that is all.",
        ),
    ] = None,
    pairs: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="The pairs that --from-judgments judges, if it lacks texts.")
    ] = None,
    judged_by: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this judge's verdicts of --from-judgments.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own features, a .yaml or .py file.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Most pairs from each source, stratified by domain.")] = None,
    profile: Annotated[str | None, typer.Option(help="rigorous (default) or paper.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything that is drawn.")] = None,
    approve: Annotated[
        bool | None, typer.Option("--approve", help="Stop before biases are admitted and wait for a decision.")
    ] = None,
    workspace: OwnWorkspace = None,
) -> None:
    """Find the biases of a judge: perturb, let it err, name, validate, repeat."""
    given: dict[str, Any] = {
        "judge": judge,
        "teacher": teacher,
        "verifier": verifier,
        "embedder": embedder,
        "target": target,
        "test": test,
        "profile": profile,
        "name": name,
        "seed": seed,
        "approve": approve,
        "workspace": str(workspace) if workspace else None,
        "target.limit": limit,
        "features": str(features) if features else None,
        "judgments.source": str(from_judgments) if from_judgments else None,
        "judgments.pairs": pairs,
        "judgments.judge": judged_by,
    }
    if limit is not None and test is not None:
        given["test.limit"] = limit
    if config is None and judge is None and from_judgments is not None:
        show_proposals(load_config(None, set_ or (), _of_a_log(given), kind=ProposalsConfig))
        return
    if config is None and judge is None:
        raise ConfigError("nothing to audit: give a CONFIG.yaml, or --judge, --teacher and --target")
    made = load_config(config, set_ or (), {k: v for k, v in given.items() if v is not None})
    console = Console()

    def drive(folder: RunFolder) -> Outcome:
        with live(console) as listener:
            return run(folder, listener=listener)

    show(console, start(made, console, drive))


def _of_a_log(given: dict[str, Any]) -> dict[str, Any]:
    """What was given for a log alone; ConfigError for what belongs to a run, which would have no effect."""
    there = {key: value for key, value in given.items() if value is not None}
    if "judgments.pairs" in there and "target.limit" in there:
        there["judgments.pairs.limit"] = there.pop("target.limit")
    fields = ProposalsConfig.model_fields
    lost = [f"--{key.rpartition('.')[2]}" for key in there if key.partition(".")[0] not in fields]
    if lost:
        raise ConfigError(
            f"{', '.join(lost)}: of no use to --from-judgments without a judge, which proposes and starts no run; "
            f"leave {'it' if len(lost) == 1 else 'them'} out, or give --judge"
        )
    return there


def resume(
    run_name: Annotated[str, typer.Argument(metavar="RUN", help="Name or folder of a run, or `latest`.")],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A larger budget, or how models are reached; kept (docs/resume.md).",
        ),
    ] = None,
    approve: Annotated[
        list[str] | None, typer.Option(help="Bias to admit, by id or name, or `all`; the others are rejected.")
    ] = None,
    reject_all: Annotated[bool, typer.Option("--reject-all", help="Admit none of those that wait.")] = False,
    author: Annotated[str, typer.Option(envvar="USER", help="Who decides.")] = "unknown",
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> None:
    """Go on with a run that was stopped, ran out of budget or waits for approval."""
    folder = find_run(run_name, workspace, kind=None)
    if folder.kind != "discover":
        if approve or reject_all:
            raise ConfigError(
                f"{folder.run_id!r} is of the kind {folder.kind!r}, in which no bias waits for a decision"
            )
        if folder.kind not in CONTINUE:
            raise ConfigError(f"{folder.config}: kind {folder.kind!r} is none of {', '.join(['discover', *CONTINUE])}")
        with locked(folder):
            change(folder, set_ or (), kind=load(KINDS)[folder.kind])
        load(CONTINUE[folder.kind])(folder)
        return
    approval = None
    if approve and reject_all:
        raise ConfigError("--approve and --reject-all exclude each other; give one of them")
    if approve or reject_all:
        approval = Approval(tuple(approve or ()), author, reason)
    console = Console()
    with live(console) as listener:
        outcome = run(folder, listener=listener, approval=approval, changes=tuple(set_ or ()))
    show(console, outcome)


def show(console: Console, outcome: Outcome) -> None:
    """The summary table, how the run stands and where the report is."""
    if outcome.files:
        show_report(console, outcome.files)
    if outcome.state == "budget":
        stop_inconclusive(console, outcome.folder, outcome.reason)
    if outcome.state == "waiting":
        say(console, f"{one_line(outcome.reason, 2000)}; {how_to_decide(outcome.folder)}")
