"""The shortcut audit on sets whose shortcuts are known."""

import random

import pytest
from biasscope.builders import shortcuts
from biasscope.builders.shortcuts import AuditPair, audit_shortcuts, shortcut_section
from biasscope.data.card import Card, card_markdown

WORDS = ["stone", "river", "lamp", "paper", "green", "seven", "walks", "under", "maybe", "never", "quick", "table"]


def sentence(rng, words):
    return " ".join(rng.choice(WORDS) for _ in range(words)).capitalize() + "."


def pairs(count, spoil=lambda rng, chosen, rejected: (chosen, rejected), variants=1, seed=0):
    rng = random.Random(seed)
    for k in range(count):
        for _ in range(variants):
            chosen, rejected = spoil(rng, sentence(rng, rng.randint(10, 30)), sentence(rng, rng.randint(10, 30)))
            yield AuditPair(f"question {k}", chosen, rejected, f"question {k}", rng.random() < 0.5)


def found(audit):
    return {s.name: s for s in audit.shortcuts}


def test_a_clean_set_has_no_warning():
    audit = audit_shortcuts(pairs(1500))
    assert audit.warnings() == ()
    assert len(audit.shortcuts) == 7
    assert all(s.low < 0.5 < s.high for s in audit.shortcuts)


@pytest.mark.parametrize(
    ("spoil", "name"),
    [
        (lambda rng, c, r: (c + " " + sentence(rng, 30), r), "the longest answer"),
        (lambda rng, c, r: (c, r + " " + sentence(rng, 30)), "the shortest answer"),
        (lambda rng, c, r: ("## Result\n\n- **" + c + "**", r), "the answer with most Markdown"),
        (lambda rng, c, r: (c + " (Smith et al., 2019)", r), "the answer with most citations"),
        (lambda rng, c, r: (c + " It might perhaps be possibly so.", r), "the answer with most hedges"),
    ],
)
def test_a_shortcut_is_found_and_warned_of(tmp_path, spoil, name):
    audit = audit_shortcuts(pairs(150, spoil))
    assert found(audit)[name].accuracy > 0.7
    assert found(audit)[name].warn
    assert found(audit)["a classifier on 27 surface features"].warn
    section = shortcut_section(audit)
    text = card_markdown(Card("T", "s", audit.warnings(), (section,), (), audit.pairs, "MIT"), tmp_path)
    assert f"> **Warning.** The better answer can be told from the surface: {name}" in text


def test_the_first_answer_counts_where_there_is_an_order():
    ordered = [pair._replace(chosen_first=True) for pair in pairs(50)]
    assert found(audit_shortcuts(ordered))["the first answer"].accuracy == 1.0
    without = found(audit_shortcuts(pair._replace(chosen_first=None) for pair in ordered))["the first answer"]
    assert without.accuracy is None and not without.warn


def test_prompts_are_the_units_of_intervals():
    few = found(audit_shortcuts(pairs(20, variants=20)))["the longest answer"]
    same = [pair for pair in pairs(20) for _ in range(20)]
    copies = found(audit_shortcuts(same))["the longest answer"]
    assert copies.high - copies.low > few.high - few.low


def test_a_large_set_is_sampled_by_seed_whatever_its_number(monkeypatch):
    measured = []
    real = shortcuts._measures
    monkeypatch.setattr(shortcuts, "_measures", lambda *texts: measured.append(1) or real(*texts))
    audit = audit_shortcuts(pairs(600), limit=50)
    assert (audit.pairs, audit.audited) == (600, 50)
    assert len(measured) < 2 * 600
    assert audit == audit_shortcuts(pairs(600), limit=50)


def test_an_empty_set_says_nothing():
    audit = audit_shortcuts([])
    assert audit.pairs == 0
    assert all(s.accuracy is None for s in audit.shortcuts)
