"""A gate's report for people (Markdown) and for CI (JUnit XML). Names come from models and are made harmless."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from ..core.visible import markdown, one_line, percent, span, table, visible
from .gate import Drift, Figure, GateBias, GateReport

HEADLINES = {
    "pass": "passed: every bias is surely within its limits",
    "worse": "worse: at least one bias is surely over its limits",
    "inconclusive": "inconclusive: no bias is surely over its limits, and not every one is surely within",
}


def gate_markdown(report: GateReport) -> str:
    """A summary that fits a CI job's page."""
    limits = report.limits
    rules = []
    if limits.max_effect is not None:
        rules.append(f"an effect of at most {limits.max_effect:g} points")
    if report.drift is not None:
        grown = f"at most {limits.max_change:g} points of growth" if limits.max_change is not None else "no growth"
        rules.append(f"{grown} since the baseline")
    lines = [
        f"## Judge gate {HEADLINES[report.standing]}",
        "",
        f"Judge {markdown(report.judge)}{_served(report.served_by)}; {report.pairs} pairs, "
        f"{'both orders' if report.both_orders else 'one order'}, frozen set `{report.frozen[:12]}`. "
        f"Allowed: {' and '.join(rules)}. Accuracy on the unperturbed pairs: {percent(report.accuracy)} %.",
        "",
        _bias_table(report),
        f"Each bound holds one-sided at {limits.level:.0%}. No verdict: the judge failed, or could not be read.",
    ]
    if report.drift is not None:
        lines += ["", "### Drift", "", *_drift(report.drift)]
    failed = [(arm, c) for arm, c in report.counts.items() if c.failed or c.invalid]
    if failed:
        rows = [
            (markdown(_arm_name(report, arm)), *map(str, (c.asked, c.ties, c.invalid, c.failed))) for arm, c in failed
        ]
        lines += ["", "### Faults of the judge", "", table(("arm", "asked", "ties", "unreadable", "failed"), rows)]
    return "\n".join(lines).rstrip() + "\n"


def gate_junit(report: GateReport) -> str:
    """One test case per bias: `failure` for worse, `error` of the type inconclusive for no answer."""
    cases = [(bias.name, bias) for bias in report.biases]
    suite = _suite(
        report.judge,
        tests=len(cases),
        failures=sum(b.standing == "worse" for _, b in cases),
        errors=sum(b.standing == "inconclusive" for _, b in cases),
    )
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(report):
        ET.SubElement(properties, "property", name=name, value=_xml(value))
    for name, bias in cases:
        case = ET.SubElement(suite, "testcase", classname="biasscope.gate", name=_xml(name), time="0")
        if bias.standing != "pass":
            tag, kind = ("failure", "worse") if bias.standing == "worse" else ("error", "inconclusive")
            ET.SubElement(case, tag, type=kind, message=_xml(bias.reason)).text = _xml(_sentence(bias))
    return _document(suite)


def broken_junit(judge: str, reason: str) -> str:
    """For a gate that could not run: one erroneous test case."""
    suite = _suite(judge, tests=1, failures=0, errors=1)
    case = ET.SubElement(suite, "testcase", classname="biasscope.gate", name="the gate could run", time="0")
    ET.SubElement(case, "error", type="could not run", message=_xml(reason)).text = _xml(reason)
    return _document(suite)


def broken_markdown(judge: str, reason: str) -> str:
    """The same for people."""
    about = f" (judge {markdown(judge)})" if judge else ""
    return f"## Judge gate could not run\n\n{markdown(reason, 2000)}{about}\n"


def _bias_table(report: GateReport) -> str:
    columns = ["bias", "answer", "effect, points", "bounds"]
    if report.drift is not None:
        columns += ["change", "bounds"]
    rows = []
    order = {"worse": 0, "inconclusive": 1, "pass": 2}
    for bias in sorted(report.biases, key=lambda b: order[b.standing]):
        answer = bias.standing + (f": {bias.reason}" if bias.reason else "")
        row = [markdown(bias.name), markdown(answer), *_cells(bias.effect)]
        if report.drift is not None:
            row += _cells(bias.change) if bias.change else ["–", "–"]
        rows.append([*row, str(bias.effect.n), str(bias.missing)])
    return table([*columns, "pairs", "no verdict"], rows, text=2)


def _cells(figure: Figure) -> list[str]:
    value = "–" if figure.value is None else f"{figure.value:+.1f}"
    return [value, f"{figure.low:+.1f} to {figure.high:+.1f}"]


def _drift(drift: Drift) -> Iterator[str]:
    was = f"The baseline's judge was {markdown(drift.judge_before)}{_served(drift.served_by_before)}."
    yield was + (" The judging prompts have changed since." if drift.prompts_changed else "")
    share = f"{span(drift.changed_low, drift.changed_high)} %"
    line = f"Verdicts on the unperturbed pairs: {drift.changed} of {drift.n} changed (95 %: {share})"
    if drift.noise is None:
        line += "; how often they change by themselves is unknown, since the baseline asked once"
    else:
        line += f"; asked twice at the baseline, {drift.noise} of {drift.noise_n} changed (p = {drift.p_changed:.3g})"
    yield line + "."
    change = drift.accuracy_change
    yield (
        f"Accuracy: {percent(drift.accuracy_before)} % then, {percent(drift.accuracy_now)} % now"
        + (
            f", change {change.value:+.1f} [{change.low:+.1f}, {change.high:+.1f}] points"
            if change.value is not None
            else ""
        )
        + f" (p = {drift.p_accuracy:.3g})."
    )
    yield f"**Drift is {'shown' if drift.shown else 'not shown'}.** It does not decide the gate."


def _served(names: tuple[str, ...]) -> str:
    return f" (served by {', '.join(markdown(name) for name in names)})" if names else ""


def _arm_name(report: GateReport, arm: str) -> str:
    names = {f"bias:{bias.id}": bias.name for bias in report.biases}
    return names.get(arm, arm)


def _sentence(bias: GateBias) -> str:
    parts = [f"{bias.reason}.", f"Effect {' points, bounds '.join(_cells(bias.effect))}, {bias.effect.n} pairs."]
    if bias.change is not None:
        parts.append(f"Change since the baseline {' points, bounds '.join(_cells(bias.change))}.")
    tests = [f"p = {p:.3g} ({what})" for what, p in (("over", bias.p_over), ("grown", bias.p_grown)) if p is not None]
    return " ".join([*parts, *tests])


def _properties(report: GateReport) -> Iterator[tuple[str, str]]:
    yield "judge", report.judge
    yield "served_by", ", ".join(report.served_by)
    yield "frozen", report.frozen
    yield "pairs", str(report.pairs)
    for name, value in report.limits.model_dump().items():
        if value is not None:
            yield name, f"{value:g}"
    if report.drift is not None:
        yield "drift", "shown" if report.drift.shown else "not shown"


def _suite(judge: str, *, tests: int, failures: int, errors: int) -> ET.Element:
    counts = {"tests": tests, "failures": failures, "errors": errors, "skipped": 0, "time": 0}
    return ET.Element(
        "testsuite", {"name": _xml(f"biasscope gate {judge}".strip())} | {k: str(n) for k, n in counts.items()}
    )


def _document(suite: ET.Element) -> str:
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    """Without the characters that XML 1.0 has no place for."""
    return one_line(visible(text), 2000)
