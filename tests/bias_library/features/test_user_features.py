"""Features of the user's own, and what goes wrong with them."""

import random

import pytest
from biasscope.bias_library.features import load_features, user_features
from biasscope.core.errors import LibraryError

GOOD = """
- name: nautical
  title: Nautical imagery
  dimension: style
  definition: Favouring an answer because it speaks of ships and the sea.
  phrases: [harbour, sail*, "at sea"]
  write:
    templates: ["The {topic} sails into the {place} harbour.", "From here the {topic} is at sea."]
    slots: {place: [northern, old]}
"""
MODULE = """
from biasscope.bias_library.features import Feature
FEATURES = [
    Feature("stars", "Stars", "Favouring an answer because it has stars.", "layout", "count",
            measured_by=lambda text, question: float(text.count("*")),
            written_by=lambda text, rng, question: "***" + text),
]
"""


def test_yaml(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(GOOD)
    [feature] = user_features(path).values()
    edited = feature.write("One line. Another line. The answer is 4.", random.Random(0), "What is the tide?")
    assert feature.measure(edited) > 0 and edited.endswith("The answer is 4.") and "tide" in edited
    assert feature.measure("We sailed and were at sea. A harbourless coast.") == 8.0
    assert feature.source == str(path)


def test_python_module(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(MODULE)
    [feature] = user_features(path).values()
    assert feature.measure(feature.write("x", random.Random(0))) == 3
    assert feature.source == str(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("nautical", "citations"), "'citations' is taken"),
        (("nautical", "Nautical Name"), "feature 'Nautical Name', name"),
        (('phrases: [harbour, sail*, "at sea"]', "pattern: '(open'"), "not a regular expression"),
        (('phrases: [harbour, sail*, "at sea"]', ""), "give one of phrases, pattern and measured_as"),
        (('phrases: [harbour, sail*, "at sea"]', "measured_as: magic"), "no 'magic': choose from"),
        (("{place} harbour", "{town} harbour"), "names the slot 'town'"),
        (("[northern, old]", "[]"), "has no values"),
        (("dimension: style", "dimension: sea"), "dimension"),
        (("  title: Nautical imagery\n", ""), "title: is needed"),
        (("phrases:", "colour: blue\n  phrases:"), "colour"),
        (("sail*,", "'*',"), "a phrase is empty"),
        (("- name", "name"), "own.yaml"),
    ],
)
def test_errors_name_file_feature_and_field(tmp_path, change, message):
    path = tmp_path / "own.yaml"
    assert change[0] in GOOD
    path.write_text(GOOD.replace(*change))
    with pytest.raises(LibraryError) as caught:
        user_features(path)
    assert message in str(caught.value) and "own.yaml" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("FEATURES = 3", "holds no list FEATURES"),
        ("FEATURES = [3]", "FEATURES holds 3"),
        ("1 / 0", "stops with ZeroDivisionError"),
        ("def (", "stops with SyntaxError"),
        ("raise SystemExit(3)", "stops with SystemExit: 3"),
    ],
)
def test_module_errors(tmp_path, source, message):
    path = tmp_path / "own.py"
    path.write_text(source)
    with pytest.raises(LibraryError, match=message):
        user_features(path)


@pytest.mark.parametrize(
    ("change", "called", "message"),
    [
        (('float(text.count("*"))', "1 / 0"), "measure", "measure: stops with ZeroDivisionError"),
        (('float(text.count("*"))', "text"), "measure", "measure: must give a finite number, got 'x'"),
        (('float(text.count("*"))', "float('nan')"), "measure", "measure: must give a finite number, got nan"),
        (('"***" + text', "3 + text"), "write", "write: stops with TypeError"),
        (('"***" + text', "exit()"), "write", "write: stops with SystemExit"),
        (('"***" + text', "None"), "write", "write: must give a text, got None"),
    ],
)
def test_functions_that_fail_are_named(tmp_path, change, called, message):
    path = tmp_path / "own.py"
    assert change[0] in MODULE
    path.write_text(MODULE.replace(*change))
    [feature] = user_features(path).values()
    with pytest.raises(LibraryError) as caught:
        feature.measure("x") if called == "measure" else feature.write("x", random.Random(0))
    assert str(caught.value).startswith(f"{path}: feature 'stars', {message}")


def test_a_pattern_that_never_ends_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("biasscope.bias_library.features.lexicon.PATIENCE", 0.05)
    path = tmp_path / "own.yaml"
    path.write_text(GOOD.replace('phrases: [harbour, sail*, "at sea"]', "pattern: '(a|aa)+$'"))
    [feature] = user_features(path).values()
    with pytest.raises(LibraryError, match="feature 'nautical', measure: too slow on a text of 81 characters"):
        feature.measure("a" * 80 + "b")


def test_unreadable_files(tmp_path):
    for name, message in (("gone.yaml", "cannot be read"), ("gone.py", "no such file"), ("own.txt", "got '.txt'")):
        with pytest.raises(LibraryError, match=message):
            user_features(tmp_path / name)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LibraryError, match="cannot be read"):
        user_features(tmp_path / "bytes.yaml")
    (tmp_path / "two.yaml").write_text(GOOD + GOOD)
    with pytest.raises(LibraryError, match="'nautical' is taken"):
        user_features(tmp_path / "two.yaml")


def test_loading_gives_a_copy():
    load_features().clear()
    assert load_features()
