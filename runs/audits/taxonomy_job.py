"""Drive a taxonomy audit: roles, suite, judgments, report."""

import contextlib
from pathlib import Path

from ...agents.injection import Injector, ModelInjector, RulesInjector
from ...agents.judges.protocol import Judge
from ...audits.taxonomy import Suite, build_suite, chosen_biases, judge_suite, load_suite, store_suite
from ...audits.taxonomy.exchange import read_suite, suite_lines
from ...audits.taxonomy.settings import split_applicable
from ...audits.taxonomy.suite import Verifier
from ...bias_library.taxonomy import TaxonomyBias
from ...core.errors import ConfigError, StoreError
from ...core.ids import content_id
from ...data.sources import load
from ..config import load_config
from ..folder import RunFolder
from ..jobs import Desk, JobOutcome, Listener, drive_job, open_store
from .page import write_page
from .taxonomy import TaxonomyConfig, TaxonomyReport, collect_taxonomy
from .taxonomy_page import taxonomy_page

SUITE_FILE = "suite.jsonl"


def run_taxonomy(folder: RunFolder, listener: Listener | None = None) -> JobOutcome[TaxonomyReport]:
    """Do the audit, or go on with it, and write its report. Raises what jobs raise."""
    return drive_job(folder, TaxonomyConfig, _work, listener)


def report_taxonomy(folder: RunFolder, output: Path) -> dict[str, Path]:
    """Write the report again from the store. Raises ConfigError when no suite has been built yet."""
    config = load_config(folder.config, kind=TaxonomyConfig)
    with contextlib.closing(open_store(folder, config)) as store:
        return write_taxonomy(collect_taxonomy(store, folder.run_id, config), output)


def write_taxonomy(report: TaxonomyReport, output: Path) -> dict[str, Path]:
    """The report's files."""
    return write_page(taxonomy_page(report), report, output)


async def _work(desk: Desk[TaxonomyConfig]) -> TaxonomyReport:
    config = desk.config
    judge = desk.judge("judge", config.judge)
    injector, verifier = _roles(desk, judge)
    biases, left_out = split_applicable(chosen_biases(config.biases), judge.has_position)
    if not biases:
        raise ConfigError(f"biases: none of {', '.join(left_out)} applies: {next(iter(left_out.values()))}")
    desk.store.write_note(
        desk.run_id,
        "audit",
        {
            "has_position": judge.has_position,
            "filtered": verifier not in (None, "rules") and config.suite is None,
            "by_rule": verifier == "rules" and config.suite is None,
            "left_out": left_out,
        },
    )
    suite = await _suite(desk, injector, verifier, biases)
    await judge_suite(desk.job, judge, suite, both_orders=config.orders == "both")
    report = collect_taxonomy(desk.store, desk.run_id, config, finished=True)
    write_taxonomy(report, desk.folder.path)
    return report


def _roles(desk: Desk[TaxonomyConfig], judge: Judge) -> tuple[Injector, Verifier | None]:
    """Who writes and who checks."""
    config, teacher_model = desk.config, None
    if config.suite is None:
        teacher_model = desk.teacher_model("teacher", config.teacher)
    injector: Injector = RulesInjector(desk.run_id, seed=config.seed)
    if teacher_model is not None and config.teacher.rewrites == "model":
        injector = ModelInjector(teacher_model, desk.run_id)
    verifier = teacher_model
    if config.verifier == "rules":
        if config.suite is None and config.teacher.rewrites == "model":
            raise ConfigError("verifier: rules checks edits, and a model rewrites; name a model that checks, or none")
        desk.models["verifier"] = config.verifier
        return injector, config.verifier
    if config.verifier is not None and config.suite is None:
        verifier = desk.model("verifier", config.verifier)
    if verifier is not None:
        desk.models["verifier"] = verifier.name
        if judge.name.split("#")[0] == verifier.name:
            raise ConfigError(
                "verifier: is the judge's own model, which would discard just the pairs that fool the judge; name "
                "another verifier"
            )
    return injector, verifier


async def _suite(
    desk: Desk[TaxonomyConfig], injector: Injector, verifier: Verifier | None, biases: tuple[TaxonomyBias, ...]
) -> Suite:
    """The suite, from the store where it was built already, and its file beside the report."""
    config, store, run_id = desk.config, desk.store, desk.run_id
    suite = load_suite(store, run_id)
    if suite is not None:
        desk.begin(store.note(run_id, "data") or {})
    elif config.suite is not None:
        suite = read_suite(config.suite, biases, config.seed, controls=config.controls != "off")
        _begin(desk, {"suite": content_id("suite", *(entry.pair.id for entry in suite.entries))})
        store_suite(store, run_id, suite)
    else:
        assert config.data is not None
        loaded = load(config.data)
        store.write_note(run_id, "data:data", loaded.report.model_dump(mode="json"))
        _begin(desk, {"data": content_id("pairs", *(pair.id for pair in loaded.pairs))})
        suite = await build_suite(desk.job, injector, verifier, loaded.pairs, biases, config)
    try:
        with (desk.folder.path / SUITE_FILE).open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(f"{line}\n" for line in suite_lines(suite, config.seed))
    except OSError as error:
        raise StoreError(f"{desk.folder.path / SUITE_FILE}: cannot be written: {error.strerror or error}") from error
    return suite


def _begin(desk: Desk[TaxonomyConfig], data: dict[str, str]) -> None:
    desk.begin(data)
    desk.store.write_note(desk.run_id, "data", data)
