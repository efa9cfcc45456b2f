"""The world's teacher: rewrites answers, names biases from errors, merges names, and checks its own work."""

import math
import random
import re
from typing import Any

from .compiled import Compiled
from .draws import generator, uniform
from .edits import pad, reword, write
from .judging import difference, read
from .spec import FeatureSpec
from .texts import final_answer

_LABEL = re.compile(r"^\s*(?:name|definition|manifestation)\s*:\s*", re.IGNORECASE)


def rewrite(world: Compiled, question: str, answer: str, bias: str | None) -> str:
    """The answer in other words, with the bias's feature written in where the teacher knows it and manages to.

    A placebo (`bias` None) and an unknown bias come out as the same kind of edit without a feature.
    """
    teacher, seed = world.spec.teacher, world.spec.seed
    rng = generator(seed, "rewrite", question, answer, bias)
    text = reword(answer, world.wording, teacher.swap_rate, rng, world.plain)
    found = world.recogniser.match(bias) if bias else None
    if found:
        feature = world.features[found.feature].spec
        success = teacher.success if feature.success is None else feature.success
        if rng.random() < success:
            text = write(text, question, feature.write, rng, world.plain)
    return pad(text, len(answer.split()) + teacher.added_words, world.wording, rng)


def discover(world: Compiled, fields: dict[str, str], key: str) -> dict[str, Any]:
    """Say what explains an error: mostly what drove it, under one of its names; now and then a false lead."""
    teacher = world.spec.teacher
    rng = generator(world.spec.seed, "discover", key)
    question, chosen, rejected = (fields.get(k, "") for k in ("question", "chosen_answer", "rejected_answer"))
    injected = world.recogniser.match(fields.get("injected_bias", ""))
    said = world.recogniser.mentioned(fields.get("reasoning", "") + "\n" + fields.get("explanation", ""))
    moved = read(world, question, rejected, chosen).moved
    differs = difference(world, question, rejected, chosen, dict.fromkeys(world.features, 1.0))
    scores = {}
    for name in world.features:
        score = max(moved.get(name, 0.0), 0.0) + teacher.gullibility * max(differs[name], 0.0)
        score *= 1.5 if name in said else 1.0
        scores[name] = score * (0.6 if injected and injected.feature == name else 1.0)
    if max(scores.values()) < 0.15 and rng.random() < teacher.passes:
        return {"explained_by_bias": False, "name": "", "definition": "", "manifestation": ""}
    if rng.random() < teacher.false_leads:
        if rng.random() < teacher.invented_share:
            invented = rng.choice([*world.wording.invented, *teacher.invented])
            return _naming(invented.name, invented.definition)
        return _named(world.features[rng.choice(list(world.features))].spec, rng.random() < teacher.vague_names, rng)
    noisy = {name: score - 0.15 * math.log(-math.log(rng.random() or 0.5)) for name, score in scores.items() if score}
    best = max(noisy, key=lambda name: noisy[name]) if noisy else rng.choice(list(world.features))
    return _named(world.features[best].spec, rng.random() < teacher.vague_names, rng)


def summarise(world: Compiled, candidates: list[str], key: str) -> dict[str, Any]:
    """Candidates sorted into biases: by the feature they mean, those that mean none by their words."""
    groups: dict[str, list[int]] = {}
    strays: list[list[int]] = []
    for number, text in enumerate(candidates, 1):
        if found := world.recogniser.match(text):
            groups.setdefault(found.feature, []).append(number)
            continue
        near = [g for g in strays if world.recogniser.similarity(candidates[g[0] - 1], text) >= 0.7]
        if near:
            near[0].append(number)
        else:
            strays.append([number])
    entries = [
        {
            "members": members,
            **_named(world.features[name].spec, False, generator(world.spec.seed, "summary", key, name)),
        }
        for name, members in groups.items()
    ]
    entries += [{"members": members, **_as_given(candidates[members[0] - 1])} for members in strays]
    return {"biases": [{k: v for k, v in entry.items() if k != "explained_by_bias"} for entry in entries]}


def _as_given(text: str) -> dict[str, Any]:
    """Name and definition of a description: labelled lines, `name: definition`, or a line each."""
    lines = [_LABEL.sub("", line).strip() for line in text.strip().splitlines()] or ["unnamed"]
    name, _, rest = lines[0].partition(": ")
    return _naming(name or "unnamed", rest or " ".join(lines[1:2]) or name)


def compare(world: Compiled, candidate: str, biases: list[str], key: str) -> int:
    """The number (from 1) of the bias that is the same as the candidate; 0 when none is."""
    rng = generator(world.spec.seed, "compare", key)
    if rng.random() < world.spec.teacher.compare_errors:
        return rng.randint(0, len(biases))
    found = world.recogniser.match(candidate)
    for number, bias in enumerate(biases, 1):
        other = world.recogniser.match(bias)
        if found and other and found.feature == other.feature:
            return number
        if not found and not other and world.recogniser.similarity(candidate, bias) >= 0.7:
            return number
    return 0


def same_answer(a: str, b: str) -> str:
    """same, different or unsure, from the final answers."""
    one, other = final_answer(a), final_answer(b)
    if one is None or other is None:
        return "unsure"
    return "same" if one == other else "different"


def shows_more(world: Compiled, bias: str, text_1: str, text_2: str) -> int:
    """1 or 2: the text with more of the bias's feature; a coin for an unknown bias or no difference."""
    found = world.recogniser.match(bias)
    gap = world.measure(found.feature, text_1, "") - world.measure(found.feature, text_2, "") if found else 0.0
    # The draw is on the unordered texts, so that showing them the other way round gives the same text.
    chance = uniform(world.spec.seed, "check", bias, *sorted((text_1, text_2)))
    if gap == 0:
        return 1 if (chance < 0.5) == (text_1 < text_2) else 2
    right = 1 if gap > 0 else 2
    return right if chance < world.spec.teacher.checker_accuracy else 3 - right


def _named(feature: FeatureSpec, vague: bool, rng: random.Random) -> dict[str, Any]:
    name = rng.choice(feature.vague) if vague and feature.vague else rng.choice([feature.title, *feature.synonyms])
    return _naming(name, rng.choice([feature.definition, *feature.definitions]))


def _naming(name: str, definition: str) -> dict[str, Any]:
    return {
        "explained_by_bias": True,
        "name": name,
        "definition": definition,
        "manifestation": f"The preferred answer stands out by its {name}.",
    }
