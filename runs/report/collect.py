"""From the store to the report. Reads only; nothing of the present (time, place, machine) enters."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.calls import Usage
from ...core.errors import UserError
from ...core.progress import stage_words
from ...core.records import Explanation, Failure
from ...core.store import Store
from ..planned import Plan
from .biases import bias_entries, rounded
from .contrasts import contrast_rounds
from .diff import cut
from .examples import named_from, with_examples
from .funnel import funnels, growth
from .headline import cut_line, headline
from .model import DataSummary, Fact, FailureExample, FailureGroup, Report
from .planned import planned_rows
from .tallies import Tallies, error_table, read_tallies, verdict_rows

RULES = "rules"
_SECRETS = ("key", "token", "secret", "password", "authorization")


def collect(store: Store, run_id: str) -> Report:
    """Everything the store knows about a run, in a fixed order: the same content gives the same report.

    Raises UserError when the store holds nothing of that run.
    """
    tallies = read_tallies(store, run_id)
    domains = _test_domains(store, run_id)
    target = set(store.pair_ids(run_id, "target"))
    manifest, outcome = _dict(store.note(run_id, "manifest")), _dict(store.note(run_id, "outcome"))
    if not (tallies.verdicts or domains or target or manifest):
        known = ", ".join(repr(r) for r in store.run_ids()) or "none"
        raise UserError(f"run {run_id!r} is not in this store; runs here: {known}")
    entries, seeds = bias_entries(store, run_id, tallies)
    named = named_from(store, run_id)
    biases = [
        with_examples(store, run_id, b, tallies, domains, named.get(b.id, ())) if b.accepted else b for b in entries
    ]
    usage = [rounded(u) for u in store.usage(run_id)]
    failures = failure_groups(store, run_id)
    verdicts = verdict_rows(tallies, set(domains))
    whole, rounds = funnels(store, run_id, tallies, target)
    ended = [not e.truncated for e in store.iterate(Explanation, run_id=run_id)]
    confirmation = len(store.pair_ids(run_id, "confirm"))
    facts = list(_facts(manifest, tallies, len(target), len(domains), confirmation))
    return Report(
        run_id=run_id,
        headline=headline(
            biases,
            verdicts,
            failures,
            usage,
            facts,
            outcome,
            confirmation,
            (*cut_line(len(ended), ended.count(False)), *_left_out(store, run_id)),
        ),
        biases=tuple(biases),
        seeds=tuple(seeds),
        errors=error_table(tallies, domains, [b.id for b in biases if b.accepted]),
        funnel=whole,
        iterations=rounds,
        growth=growth(rounds),
        contrasts=contrast_rounds(store, run_id, [r.iteration for r in rounds if r.iteration is not None]),
        verdicts=verdicts,
        failures=tuple(failures),
        explanations=len(ended),
        explanations_cut=ended.count(False),
        usage=tuple(usage),
        total=total_usage(usage),
        planned=planned_rows(Plan.model_validate(plan), usage, _seconds(store, run_id))
        if (plan := store.note(run_id, "plan"))
        else (),
        data=tuple(data_summaries(store, run_id, ("target", "test"))),
        made_with=tuple(made_with(manifest)),
    )


def _seconds(store: Store, run_id: str) -> dict[tuple[str, str], float]:
    """How long the calls took, by role and stage."""
    found: dict[tuple[str, str], float] = {}
    for role, stage, completion in store.calls(run_id):
        found[role, stage] = found.get((role, stage), 0.0) + completion.seconds
    return found


def _left_out(store: Store, run_id: str) -> list[str]:
    note = store.note(run_id, "left_out")
    said = [str(line) for line in note] if isinstance(note, list) else []
    if without := _dict(store.note(run_id, "without_edit")):
        names = ", ".join(sorted(map(str, without.values())))
        said.append(
            f"Not tested, since no edit of the lexicon writes them: {names}. They are left to an LLM teacher "
            "(teacher: a model, without rewrites: rules)."
        )
    return said


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _test_domains(store: Store, run_id: str) -> dict[str, str]:
    """Domain of each pair that biases are tested on, in the run's order: the search part, then the confirmation."""
    return {pair.id: pair.domain for part in ("search", "test", "confirm") for pair in store.pairs(run_id, part)}


def failure_groups(store: Store, run_id: str, examples: int = 3) -> list[FailureGroup]:
    """Failures by stage (its batches together) and kind, with a few of each."""
    count: dict[tuple[str, str], int] = defaultdict(int)
    shown: dict[tuple[str, str], list[Failure]] = defaultdict(list)
    for failure in store.iterate(Failure, run_id=run_id):
        key = (stage_words(failure.stage), failure.kind)
        count[key] += 1
        if len(shown[key]) < examples:
            shown[key].append(failure)
    return [
        FailureGroup(
            stage=stage,
            kind=kind,
            count=n,
            examples=tuple(
                FailureExample(subject=f.subject, reason=f.reason, raw=cut(f.raw, 600)) for f in shown[stage, kind]
            ),
        )
        for (stage, kind), n in sorted(count.items(), key=lambda kv: (kv[0][0], -kv[1], kv[0][1]))
    ]


def total_usage(usage: Sequence[Usage]) -> Usage:
    """All roles and stages together."""
    costs = [u.cost for u in usage if u.cost is not None]
    return Usage(
        role="all",
        stage="all",
        calls=sum(u.calls for u in usage),
        cached_calls=sum(u.cached_calls for u in usage),
        prompt_tokens=sum(u.prompt_tokens for u in usage),
        completion_tokens=sum(u.completion_tokens for u in usage),
        cost=round(sum(costs), 6) if costs else None,
    )


def _facts(manifest: dict[str, Any], tallies: Tallies, target: int, test: int, confirm: int) -> Iterator[Fact]:
    models, config = _dict(manifest.get("models")), _dict(manifest.get("config"))
    for label, seen in (("Judge", tallies.judges), ("Teacher", tallies.teachers)):
        named = models.get(label.lower())
        value = str(_dict(named).get("name") or named) if named else ", ".join(sorted(seen))
        if label == "Teacher" and value == RULES:
            value = "edits of the feature lexicon, no model"
        if value:
            yield Fact(label=label, value=value)
    if config.get("profile"):
        yield Fact(label="Profile", value=str(config["profile"]))
    if target:
        yield Fact(label="Discovered on", value=f"{target:,} pairs")
    if test:
        parts = f" ({test - confirm:,} search, {confirm:,} confirmation)" if confirm else ""
        yield Fact(label="Tested on", value=f"{test:,} pairs{parts}")
    if manifest.get("seed") is not None:
        yield Fact(label="Seed", value=str(manifest["seed"]))


def data_summaries(store: Store, run_id: str, names: Sequence[str]) -> Iterator[DataSummary]:
    """What was read, by the names of the sets."""
    for name in names:
        note = store.note(run_id, f"data:{name}")
        if isinstance(note, dict):
            told = {k: v for k, v in note.items() if k not in ("examples", "dropped_examples")}
            yield DataSummary(name=name, facts=tuple(_flat(told)))


def made_with(manifest: dict[str, Any]) -> Iterator[Fact]:
    """Only sections that do not change when the same run is made again."""
    sections = {k: v for k, v in manifest.items() if not any(t in k for t in ("time", "started", "ended", "host"))}
    yield from _flat(sections)


def _flat(value: dict[str, Any], prefix: str = "") -> Iterator[Fact]:
    for key in sorted(value):
        label, item = f"{prefix}{key}", value[key]
        if isinstance(item, dict):
            yield from _flat(item, f"{label}.")
        elif item not in (None, "", []) and not any(secret in key.lower().split("_") for secret in _SECRETS):
            text = ", ".join(str(i) for i in item) if isinstance(item, list) else _number(item)
            yield Fact(label=label, value=text if len(text) <= 300 else text[:299] + "…")


def _number(item: Any) -> str:
    return f"{item:.4g}" if isinstance(item, float) else str(item)
