"""What a report comes to, for a terminal."""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from ...runs.report import contrasts_table, load_report, summary_table
from .starting import say, say_safely


def show_report(console: Console, files: Mapping[str, Path]) -> None:
    """The run and its judge, its biases, what contrasts named, what to be wary of, and where the report is."""
    report = load_report(files["json"])
    named = {fact.label: fact.value for fact in report.headline.facts}
    say_safely(console, f"{report.run_id}: judge {named.get('Judge', 'unknown')}")
    console.print(summary_table(report))
    if (named_by_contrasts := contrasts_table(report)) is not None:
        console.print(named_by_contrasts)
    for warning in report.headline.warnings:
        say_safely(console, f"note: {warning}")
    say(console, f"report: {files['html']}")
