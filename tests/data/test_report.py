import io
import json
from pathlib import Path

from biasscope.core.ids import content_id
from biasscope.core.records import PreferencePair
from biasscope.data.drafts import Drop
from biasscope.data.inspect import inspect_text
from biasscope.data.report import DataReport, Tally
from biasscope.data.sources import load
from biasscope.data.spec import SourceSpec
from rich.console import Console


def _shown(report: DataReport) -> str:
    out = io.StringIO()
    Console(file=out, width=100, force_terminal=True, color_system=None).print(inspect_text(report))
    return out.getvalue()


def _tally(texts: list[tuple[str, str]], position: str = "A") -> Tally:
    tally = Tally("here")
    for i, (chosen, rejected) in enumerate(texts):
        pair = PreferencePair(id=content_id(i), prompt=f"q{i}", chosen=chosen, rejected=rejected, domain="d")
        tally.keep(pair, position)
    return tally


def test_lengths_by_hand() -> None:
    report = _tally([("one two", "one"), ("a b c", "a b c d"), ("x", "y")]).report()
    words = report.lengths["words, chosen"]
    assert (words.mean, words.low, words.median, words.p90, words.high) == (2, 1, 2, 3, 3)
    assert report.lengths["characters, rejected"].high == 7
    assert report.lengths["rejected / chosen"].low == 3 / 7
    assert report.chosen_longer == 1.5 / 3


def test_long_texts_are_binned_within_one_percent() -> None:
    report = _tally([("x" * n, "y") for n in range(1000, 100_000, 997)]).report()
    exact = sorted(range(1000, 100_000, 997))
    spread = report.lengths["characters, chosen"]
    assert abs(spread.median / exact[(len(exact) - 1) // 2] - 1) < 0.01
    assert (spread.low, spread.high) == (exact[0], exact[-1])


def test_one_sided_positions_are_pointed_out() -> None:
    assert "Always in the same place" in _shown(_tally([("a", "b")]).report())
    assert "Always in the same place" not in _shown(_tally([("a", "b")], "").report())


def test_report_is_json_and_back() -> None:
    tally = _tally([("a", "b"), ("c", "d")])
    tally.drop(Drop("line 3", "tie", "label '='"))
    report = tally.report()
    assert DataReport.model_validate_json(report.model_dump_json()) == report
    assert report.dropped_examples == {"tie": ["line 3: label '='"]}
    assert [e.prompt for e in report.examples] == [e.prompt for e in tally.report().examples]


def test_nothing_in_the_data_reaches_the_terminal_raw(tmp_path: Path) -> None:
    evil = "\x1b[2J\x07\u202etxt [bold red]not markup[/] [/nothing] \x9b31m"
    rows = [{"prompt": evil, "chosen": evil + "1", "rejected": evil, "domain": evil, "id": evil}]
    rows.append({"prompt": "p", "chosen": {evil: evil}, "rejected": "x", "domain": evil, "id": evil})
    path = tmp_path / "evil.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    shown = _shown(load(SourceSpec(source=str(path))).report.model_copy(update={"notes": [evil]}))
    plain = shown.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\x1b[1;3m", "")
    assert not set(plain) & set("\x1b\x07\x9b\u202e")
    assert "[bold red]not markup[/]" in plain and "⟨U+202E⟩" in plain


def test_a_data_set_of_every_kind_of_trouble_is_shown() -> None:
    tally = _tally([(f"a{i}", "b" * 400) for i in range(5)])
    for i in range(40):
        tally.domains[f"domain {i}"] += 1
    tally.oddities["CRLF"] += 2
    tally.drop(Drop("row 1", "tie", ""))
    shown = _shown(tally.report())
    for said in ("Domains", "and 11 more", "Oddities", "CRLF", "Left out", "row 1", "Example 3", "Data hash", "[…]"):
        assert said in shown
