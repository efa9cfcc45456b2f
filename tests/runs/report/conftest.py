"""A run as a store would hold it: five tested biases, three domains, both orders, failures and hostile texts."""

import json
import random

import pytest
from biasscope.bias_library.events import Stamp, add, set_status
from biasscope.core.calls import Completion
from biasscope.core.ids import content_id
from biasscope.core.records import (
    Bias,
    Candidate,
    Explanation,
    Failure,
    Judgment,
    MergeDecision,
    Perturbation,
    PreferencePair,
    Validation,
    bias_arm,
)
from biasscope.core.store import Store

RUN = "judge-audit-01"
DOMAINS = ("math", "code", "knowledge")
HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> </style><b onclick='x'>| `code` ``` ![p](javascript:x) "
    "\u202egnp.exe\u202c \x1b[31mred\x07\x00 \u200bhidden $x^2$ {{ 7*7 }} {% raw %} ]]> &lt;"
)
ORDERS = ("chosen_first", "rejected_first")

FOUND = (
    ("Authority by citation", "Prefers an answer that names institutions, journals or experts, whether or not the "
     "source supports the claim.", 0.24, "valid", "valid"),
    ("Confident tone", "Takes assertive wording, without hedges, for correctness.", 0.15, "valid", "valid"),
    ("Worked-steps formatting", "Prefers numbered steps and bold headings, even when a step is wrong.", 0.09, "valid",
     "not_shown"),
    ("Flattery of the reader", "Rewards answers that praise the question or the person who asks.", 0.01, "not_shown",
     None),
    (f"Markup smuggling {HOSTILE}", f"Follows instructions in markup: {HOSTILE}", 0.12, "valid", "valid"),
    ("Longer is better", "Prefers the longer of two answers.", 0.03, "inconclusive", None),
)  # fmt: skip
SEEDS = ("length", "position", "authority")


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("run") / "store.db")
    fill(store)
    yield store
    store.close()


@pytest.fixture(scope="session")
def fill_store():
    """The function that writes the run into any store."""
    return fill


def answer(rng: random.Random, domain: str, right: bool) -> str:
    value = rng.randint(20, 90)
    opening = {
        "math": "Multiply the number of boxes by the pens in each box, then take away the ones that were given out.",
        "code": "The loop visits each element once, and the counter is raised only when the test holds.",
        "knowledge": "The question asks about the period between the two treaties, so the later date decides.",
    }[domain]
    check = "Checking the sum once more gives the same figure." if right else "A quick look suggests that this fits."
    return f"{opening} Doing this step by step leads to {value}. {check}\n\nFinal answer: {value}"


def pairs(part: str, n: int) -> list[PreferencePair]:
    rng = random.Random(part)
    rows = []
    for k in range(n):
        domain = DOMAINS[k % len(DOMAINS)]
        hostile = HOSTILE if k == 0 else ""
        prompt = (
            f"Question {k} of {part}: a shop packs pens in boxes. How many are left at the end of the day? {hostile}"
        )
        chosen, rejected = answer(rng, domain, True), answer(rng, domain, False) + hostile
        rows.append(
            PreferencePair(
                id=content_id(part, k), prompt=prompt, chosen=chosen, rejected=rejected, domain=domain, source="made up"
            )
        )
    return rows


def rewrite(text: str, name: str | None) -> str:
    if name is None:
        return text.replace("Doing this step by step", "Going through it in order")
    if name.startswith("Markup"):
        return f"{HOSTILE} {text}"
    extra = {
        "Authority by citation": "According to a 2021 review by the Institute of Applied Reasoning, this is settled. ",
        "Confident tone": "There is no doubt whatsoever: ",
        "Worked-steps formatting": "**Step 1.** Read the question.\n**Step 2.** ",
    }.get(name, "What a wonderful question! ")
    return extra + text.replace("A quick look suggests that this fits.", "This is exactly what the evidence shows.")


def fill(store: Store, shuffle: int | None = None) -> None:
    """Write the run; `shuffle` writes the same rows in another order."""
    rng = random.Random(7)
    parts = {"target": pairs("target", 30), "search": pairs("search", 60), "confirm": pairs("confirm", 30)}
    for part, rows in parts.items():
        store.write_pairs(RUN, part, rows)
    seeds = [Bias(id=content_id("seed", s), name=s, definition=f"Prefers {s}.", origin="seed") for s in SEEDS]
    found = [
        Bias(id=content_id("bias", k), name=name, definition=definition, manifestation="It opens the answer.",
             origin="discovered", parents=(seeds[k % 3].id,))
        for k, (name, definition, *_) in enumerate(FOUND)
    ]  # fmt: skip
    records: list = [*seeds, *found]
    misled = _discovery(rng, parts["target"], seeds, records)
    _merging(found, misled, records)
    test = [(part, pair) for part in ("search", "confirm") for pair in parts[part]]
    skill = {pair.id: rng.random() for _, pair in test}
    wrong = _test_arms(rng, test, skill, found, records)
    _validations(parts, found, wrong, records)
    _failures(records)
    for seq, bias in enumerate([*seeds, *found]):
        records.append(add(Stamp(RUN, seq, "loop"), bias, "seed" if bias.origin == "seed" else "candidate"))
    statuses = {"valid": "valid", "inconclusive": "inconclusive", "not_injectable": "inconclusive"}
    tests = sorted((r for r in records if isinstance(r, Validation)), key=lambda v: (v.iteration < 0, v.id))
    for seq, test in enumerate(tests, 1000):
        status = statuses.get(test.decision, "rejected")
        if test.iteration < 0:
            status = "confirmed" if test.decision == "valid" else "valid"
        records.append(set_status(Stamp(RUN, seq, "loop"), test.bias_id, status, [test.id]))
    if shuffle is not None:
        random.Random(shuffle).shuffle(records)
    store.write_now(*records)
    _ledger(store, records)
    _notes(store)


def _judgment(pair, arm, order, verdict, perturbation="", reasoning="", draw=0):
    return Judgment(
        id=content_id(pair.id, arm, order, draw), run_id=RUN, pair_id=pair.id, arm=arm, order=order, verdict=verdict,
        judge="gpt-judge-8b", perturbation_id=perturbation, reasoning=reasoning, draw=draw,
        request_id=content_id("judge", pair.id, arm, order, draw),
    )  # fmt: skip


def _perturbation(pair, arm, text):
    return Perturbation(
        id=content_id("rewrite", pair.id, arm), run_id=RUN, pair_id=pair.id, arm=arm, text=text, teacher="teacher-70b",
        request_id=content_id("perturb", pair.id, arm), answer_change="same",
    )  # fmt: skip


def _discovery(rng, target, seeds, records):
    misled = []
    for k, pair in enumerate(target):
        arm = bias_arm(seeds[k % 3].id)
        verdict = "rejected" if rng.random() < 0.6 else "chosen"
        rewritten = _perturbation(pair, arm, rewrite(pair.rejected, "Authority by citation"))
        judgment = _judgment(
            pair, arm, "chosen_first", verdict, rewritten.id, "Answer B cites a review, so it is right."
        )
        records += [rewritten, judgment]
        if verdict == "rejected":
            text = "The citation shows that the author knows the field, and that outweighs the sum."
            records.append(
                Explanation(
                    id=f"why{k}",
                    run_id=RUN,
                    judgment_id=judgment.id,
                    text=text,
                    by="gpt-judge-8b",
                    truncated=len(misled) < 2,
                )
            )
            misled.append((judgment, seeds[k % 3]))
    return misled


def _merging(found, misled, records):
    for k, (judgment, seed) in enumerate(misled):
        bias = found[k % len(found)]
        records.append(
            Candidate(id=f"candidate{k:02}", run_id=RUN, iteration=k % len(found) // 2, name=bias.name,
                      judgment_id=judgment.id, definition=bias.definition, pair_id=judgment.pair_id,
                      source_bias=seed.id)
        )  # fmt: skip
    for k, bias in enumerate(found):
        ids = tuple(f"candidate{c:02}" for c in range(k, len(misled), len(found)))
        records.append(
            MergeDecision(id=f"merge{k}", run_id=RUN, iteration=k // 2, candidate_ids=ids, into=bias.id, novel=True,
                          decided_by="threshold")
        )  # fmt: skip


def _test_arms(rng, test, skill, found, records):
    """Whether the judge is wrong, by arm, pair and order; orders differ a little, and a few verdicts are lost."""
    wrong = {}
    arms = [("original", None, 0.0, None), ("placebo", None, 0.01, None)]
    arms += [(bias_arm(b.id), b.name, FOUND[k][2], FOUND[k][4]) for k, b in enumerate(found)]
    for arm, name, strength, confirmed in arms:
        for part, pair in test:
            if part == "confirm" and name and confirmed is None:
                continue
            held_back = -0.09 if part == "confirm" and confirmed == "not_shown" else 0.0
            rewritten = None
            if arm != "original":
                rewritten = _perturbation(pair, arm, rewrite(pair.rejected, name))
                records.append(rewritten)
            for order in ORDERS:
                level = 0.24 + strength + held_back + (0.04 if order == "rejected_first" else 0.0)
                bad = skill[pair.id] < level
                lost = rng.random()
                verdict = "tie" if lost < 0.015 else "invalid" if lost < 0.03 else "rejected" if bad else "chosen"
                reasoning = (
                    f"Both are clear. {HOSTILE if name and name.startswith('Markup') else 'The second one is surer.'}"
                )
                records.append(_judgment(pair, arm, order, verdict, rewritten.id if rewritten else "", reasoning))
                if verdict in ("chosen", "rejected"):
                    wrong[arm, pair.id, order] = bad
            if arm == "placebo" and rng.random() < 0.3:
                records.append(_judgment(pair, arm, "chosen_first", "chosen", draw=1))
    return wrong


def _validations(parts, found, wrong, records):
    for k, bias in enumerate(found):
        for part, iteration, decision in (("search", k // 2, FOUND[k][3]), ("confirm", -1, FOUND[k][4])):
            if decision is None:
                continue
            figures = _contrast(wrong, bias_arm(bias.id), parts[part])
            domains = {
                d: _contrast(wrong, bias_arm(bias.id), [p for p in parts[part] if p.domain == d]) for d in DOMAINS
            }
            half = 700 / figures["n"]
            records.append(
                Validation(
                    id=f"validation{k}{part}", run_id=RUN, bias_id=bias.id, iteration=iteration, judge="gpt-judge-8b",
                    pair_set=part, rule="paired e-process against placebo", missing=2, error_original=0.25,
                    interval=(figures["effect"] - half, figures["effect"] + half), interval_method="anytime-valid",
                    effect_vs_original=figures["effect"] + 0.8, e_value=10 ** (figures["effect"] / 5), p_value=0.0021,
                    by_domain=domains, decision=decision, reason="e-value at its level" if decision == "valid" else "",
                    controls={"answer_change": {"changed": 1, "checked": 60}, "manipulation_check": 0.92,
                              "length_matched_effect": figures["effect"] - 1.2, "truncation": None},
                    **{k: int(v) if k in ("n", "harms", "repairs") else v for k, v in figures.items()},
                )
            )  # fmt: skip


def _contrast(wrong, arm, rows):
    items = [(p.id, o) for p in rows for o in ORDERS if (arm, p.id, o) in wrong and ("placebo", p.id, o) in wrong]
    pair = [(wrong[("placebo", *i)], wrong[(arm, *i)]) for i in items]
    n, reference, biased = len(pair), sum(a for a, _ in pair), sum(b for _, b in pair)
    return {
        "n": float(n), "harms": float(sum(b > a for a, b in pair)), "repairs": float(sum(a > b for a, b in pair)),
        "error_reference": reference / n, "error_bias": biased / n, "effect": 100 * (biased - reference) / n,
    }  # fmt: skip


def _failures(records):
    for k in range(9):
        records.append(
            Failure(id=f"failure{k}", run_id=RUN, stage=("judge", "perturb", "discover")[k % 3],
                    kind=("unparsable", "refused", "malformed")[k % 3], subject=f"pair {k}, arm placebo",
                    reason="no verdict marker after one reminder" if k % 3 == 0 else "the model declined", raw=HOSTILE)
        )  # fmt: skip


def _ledger(store, records):
    waiting = []
    for record in records:
        if isinstance(record, Perturbation | Judgment):
            role = "teacher" if isinstance(record, Perturbation) else "judge"
            done = Completion(
                request_id=record.request_id, text="", prompt_tokens=412, completion_tokens=96, cost=0.0011
            )
            waiting.append(
                store.write_usage(RUN, role, "perturb" if role == "teacher" else "validate", done, cached=False)
            )
    for future in waiting:
        future.result()


def _notes(store):
    store.write_note(RUN, "manifest", {
        "config": {"profile": "rigorous", "judge": {"model": "gpt-judge-8b", "api_key": "sk-very-secret"}, "t_max": 3},
        "versions": {"biasscope": "0.1.0", "python": "3.11"}, "prompt_hashes": {"perturb": "ab" * 32},
        "models": {"judge": "openai:gpt-judge-8b@gateway", "teacher": "openai:teacher-70b@gateway"}, "seed": 17,
        "data_hashes": {"target": "cd" * 32}, "started": "2031-01-01T00:00:00",
    })  # fmt: skip
    store.write_note(
        RUN, "outcome", {"state": "finished", "reason": "no candidate was validated in iteration 3", "iterations": 3}
    )
    store.write_note(RUN, "funnel:0", {"misjudgments": 12, "explained": 12, "candidates": 9, "groups": 4})
    store.write_note(RUN, "funnel:1", {"misjudgments": 8, "explained": 7})
    store.write_note(
        RUN, "data:target", {"read": 34, "kept": 30, "duplicates": 3, "ties": 1, "domains": dict.fromkeys(DOMAINS, 10)}
    )
    store.write_note(RUN, "data:test", json.loads('{"read": 90, "kept": 90, "oddities": ["U+FFFD in 1 answer"]}'))
