"""Drive a self-preference audit: authors, panel, judge, report."""

import contextlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ...agents.judges.dimensions import DimensionsJudge
from ...agents.judges.pairwise import PairwiseJudge
from ...agents.judges.protocol import Judge
from ...agents.panel import write_answer
from ...audits.self_preference import Contest, Roles, ask, load_contests, plan_contests, store_contests
from ...audits.self_preference.asking import Member
from ...audits.self_preference.authors import author_of, same_author
from ...core.calls import Model
from ...core.errors import ConfigError
from ...core.ids import content_id
from ...data.answers import Prompt, load_answers
from ..config import load_config
from ..folder import RunFolder
from ..jobs import Desk, JobOutcome, Listener, drive_job, open_store
from .page import write_page
from .self_preference import SelfPreferenceConfig, SelfPreferenceReport, collect_self_preference
from .self_preference_page import self_preference_page

_Desk = Desk[SelfPreferenceConfig]


def run_self_preference(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[SelfPreferenceReport]:
    """Do the audit, or go on with it, and write its report. Raises what jobs raise."""
    return drive_job(folder, SelfPreferenceConfig, _work, listener)


def report_self_preference(folder: RunFolder, output: Path) -> dict[str, Path]:
    """Write the report again from the store. Raises ConfigError when no pairs have been made yet."""
    config = load_config(folder.config, kind=SelfPreferenceConfig)
    with contextlib.closing(open_store(folder, config)) as store:
        return write_self_preference(collect_self_preference(store, folder.run_id, config), output)


def write_self_preference(report: SelfPreferenceReport, output: Path) -> dict[str, Path]:
    """The report's files."""
    return write_page(self_preference_page(report), report, output)


async def _work(desk: _Desk) -> SelfPreferenceReport:
    config = desk.config
    judge = desk.judge("judge", config.judge)
    panel = _panel(desk, judge)
    writers = {author_of(spec.model): desk.model(f"authors.{k}", spec) for k, spec in enumerate(config.authors)}
    contests = await _contests(desk, judge, writers)
    structured, left_out = _structured(desk, judge)
    desk.store.write_note(
        desk.run_id,
        "audit",
        {
            "own": contests[0].own,
            "judge": judge.name,
            "structured": structured.name if structured else "",
            "has_position": judge.has_position,
            "panel": [member.author for member in panel],
            "authors": _answers_by_author(desk),
            "left_out": left_out,
        },
    )
    await ask(desk.job, Roles(judge, structured, panel), contests, config)
    report = collect_self_preference(desk.store, desk.run_id, config, finished=True)
    write_self_preference(report, desk.folder.path)
    return report


def _panel(desk: _Desk, judge: Judge) -> tuple[Member, ...]:
    """The members; none may be the judge."""
    config = desk.config
    mode = judge.mode if isinstance(judge, PairwiseJudge) else "verdict"
    members = []
    for k, spec in enumerate(config.panel):
        model = desk.model(f"panel.{k}", spec)
        if model.name == judge.name.split("#")[0]:
            raise ConfigError(
                f"panel: {spec.model!r} is the judge itself, whose opinion is what is audited; leave it out"
            )
        members.append(Member(author_of(spec.model), model, PairwiseJudge(model, desk.run_id, mode=mode)))
    if len({member.author.casefold() for member in members}) < len(members):
        raise ConfigError("panel: two members have the same name; their answers could not be told apart")
    return tuple(members)


def _structured(desk: _Desk, judge: Judge) -> tuple[Judge | None, dict[str, str]]:
    """The judge by aspects, or why not."""
    if not desk.config.structured:
        return None, {"structured judging": "switched off"}
    if not isinstance(judge, PairwiseJudge):
        return None, {"structured judging": "the judge is no pairwise LLM, so its prompt cannot be put in steps"}
    return DimensionsJudge(judge.model, desk.run_id, planted=judge.planted), {}


async def _contests(desk: _Desk, judge: Judge, writers: dict[str, Model]) -> list[Contest]:
    """The pairs, from the store where they were made already."""
    config, store, run_id = desk.config, desk.store, desk.run_id
    if (known := load_contests(store, run_id)) and store.note(run_id, "contests") == len(known):
        desk.begin(store.note(run_id, "data") or {})
        return known
    loaded = load_answers(config.answers)
    data = {"answers": content_id("answers", *([p.id, sorted(p.answers.items())] for p in loaded.prompts))}
    own = _own(config, judge, loaded.authors, writers)
    if own not in loaded.authors and own not in writers:
        if not isinstance(judge, PairwiseJudge):
            raise ConfigError(f"own: {own!r} wrote none of the answers and this judge writes none; name its author")
        writers = {**writers, own: judge.model}
    desk.begin(data)
    store.write_note(run_id, "data", data)
    prompts = await _written(desk, loaded.prompts, writers)
    counts = Counter(author for prompt in prompts for author in prompt.answers)
    store.write_note(run_id, "data:answers", {**loaded.facts(), "authors": dict(counts.most_common())})
    contests = plan_contests(prompts, own, config, config.seed)
    store_contests(store, run_id, contests)
    store.write_note(run_id, "contests", len(contests))
    return contests


def _own(config: SelfPreferenceConfig, judge: Judge, given: dict[str, int], writers: dict[str, Model]) -> str:
    """Which author the judge is."""
    there = (*given, *writers)
    if config.own is not None:
        found = next((author for author in there if same_author(author, config.own)), None)
        if found is None:
            raise ConfigError(f"own: no author {config.own!r}; authors are {', '.join(there) or 'none'}")
        return found
    name = author_of(config.judge.model)
    return next((author for author in there if same_author(author, name)), name)


async def _written(desk: _Desk, prompts: Sequence[Prompt], writers: dict[str, Model]) -> list[Prompt]:
    """The prompts with the answers that models write here; an answer that is given already is not asked for."""
    tasks = [
        (prompt, author)
        for prompt in prompts
        for author in writers
        if not any(same_author(author, known) for known in prompt.answers)
    ]

    async def work(task: tuple[Prompt, str]) -> str:
        prompt, author = task
        return await write_answer(writers[author], prompt.text, max_tokens=desk.config.answer_tokens)

    found = await desk.job.run_all("answers", tasks, work, lambda task: f"{task[0].id} {task[1]}")
    by_id = {prompt.id: prompt for prompt in prompts}
    for (prompt, author), text in zip(tasks, found, strict=True):
        if text is not None and text.strip():
            by_id[prompt.id] = by_id[prompt.id].with_answer(author, text)
    return list(by_id.values())


def _answers_by_author(desk: _Desk) -> dict[str, int]:
    note = desk.store.note(desk.run_id, "data:answers")
    return {str(k): int(v) for k, v in (note or {}).get("authors", {}).items()}
