"""From source pairs and biases to the candidates of a benchmark, each step stored (METHOD section 5).

A killed build is done again from the start: every call that it had paid for is answered from the store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...agents.judges.protocol import Judge
from ...agents.teacher import Teacher
from ...core.calls import Model
from ...core.ids import content_id
from ...core.job import Job
from ...core.records import ORIGINAL, Bias, Drop, Failure, Item, Perturbation, PreferencePair, bias_arm
from ...data.benchmark import clean_answer
from ...validators.answers import answer_change, compare_answers
from .funnel import ANSWERS, FILTER, PANEL, PERTURB, Funnel, make_step, reasons_of
from .hardness import Shown, meets, misled_judges
from .plan import Variant, plan_variants
from .sameness import ask_panel, panel_finding
from .settings import BuildSettings, FilterSettings


@dataclass(frozen=True)
class Roles:
    """Who rewrites, filters and compares."""

    teacher: Teacher
    judges: tuple[Judge, ...]
    panel: tuple[Model, ...]


@dataclass(frozen=True)
class _Rewritten:
    variant: Variant
    made: Perturbation

    @property
    def shown(self) -> Shown:
        return Shown(self.variant.pair, bias_arm(self.variant.bias.id), self.made.text, self.made.id)


@dataclass(frozen=True)
class _Misleading:
    rewritten: _Rewritten
    misled: tuple[str, ...]
    before: tuple[str, ...]
    others: tuple[str, ...]
    """Judges that were not misled, with their verdicts."""


async def build(
    job: Job, roles: Roles, pairs: Sequence[PreferencePair], biases: Sequence[Bias], settings: BuildSettings
) -> Funnel:
    """Make the candidates and store them as items; returns how many came how far, and why the others did not."""
    await job.store.write(*biases, *pairs)
    drops: list[Drop] = []
    variants = plan_variants(pairs, biases, settings.variants, job.seed)
    rewritten = await _perturb(job, roles.teacher, variants)
    other = _exact(job, rewritten, drops)
    hard = await _filter(job, roles.judges, other, settings.filter, drops)
    items = await _panel(job, roles.panel, hard, drops)
    job.store.replace_outcome(job.run_id, drops, items)
    sizes = [len(x) for x in (variants, rewritten, other, hard, items)]
    steps = tuple(
        make_step(name, before, after, [*_failed(job, name), *reasons_of(name, drops)])
        for name, before, after in zip((PERTURB, ANSWERS, FILTER, PANEL), sizes, sizes[1:], strict=False)
    )
    funnel = Funnel(pairs=len(pairs), steps=steps)
    job.store.write_note(job.run_id, "funnel", funnel.model_dump(mode="json"))
    return funnel


async def _perturb(job: Job, teacher: Teacher, variants: Sequence[Variant]) -> list[_Rewritten]:
    async def work(variant: Variant) -> Perturbation:
        pair = variant.pair
        made = await teacher.perturb(pair, variant.bias, stage="perturb")
        change = answer_change(pair.rejected, pair.chosen, made.text)
        made = made.model_copy(update={"text": clean_answer(made.text), "answer_change": change})
        await job.store.write(made)
        return made

    found = await job.run_all(PERTURB, variants, work, lambda v: v.subject)
    return [_Rewritten(v, made) for v, made in zip(variants, found, strict=True) if made is not None]


def _exact(job: Job, rewritten: Sequence[_Rewritten], drops: list[Drop]) -> list[_Rewritten]:
    """Those whose final answer is still the rejected one as far as can be read, and whose text is new."""
    kept, seen = [], set[str]()
    for one in rewritten:
        pair, text = one.variant.pair, one.made.text
        item_id = content_id("pair", pair.prompt, pair.chosen, text)
        if compare_answers(pair.chosen, text) == "same":
            reason = "final answer has become the better one's"
        elif one.made.answer_change == "changed":
            reason = "final answer has changed"
        elif item_id in seen:
            reason = "same text as another variant"
        else:
            seen.add(item_id)
            kept.append(one)
            continue
        drops.append(_drop(job, ANSWERS, one.variant.subject, reason))
    return kept


async def _filter(
    job: Job, judges: Sequence[Judge], variants: Sequence[_Rewritten], settings: FilterSettings, drops: list[Drop]
) -> list[_Misleading]:
    async def work(one: _Rewritten) -> _Misleading:
        misled, others = await misled_judges(job, judges, one.shown, settings.rule)
        before: tuple[str, ...] = ()
        if meets(settings.rule, len(misled), len(judges)):
            fooled = [judge for judge in judges if judge.name in misled]
            pair = one.variant.pair
            before, _ = await misled_judges(job, fooled, Shown(pair, ORIGINAL, pair.rejected), "any")
        return _Misleading(one, misled, before, others)

    found = await job.run_all(FILTER, variants, work, lambda one: one.variant.subject)
    kept = []
    for one in found:
        if one is None:
            continue
        by_bias = [name for name in one.misled if name not in one.before]
        counted = by_bias if settings.misjudgments == "flipped" else one.misled
        if meets(settings.rule, len(counted), len(judges)):
            kept.append(one)
            continue
        reason = (
            "misled by the original pair already"
            if meets(settings.rule, len(one.misled), len(judges))
            else ("no verdict" if _silent(one.others) else "not misled")
        )
        drops.append(_drop(job, FILTER, one.rewritten.variant.subject, reason, "; ".join(one.others)))
    return kept


async def _panel(job: Job, panel: Sequence[Model], hard: Sequence[_Misleading], drops: list[Drop]) -> list[Item]:
    async def work(one: _Misleading) -> Item | Drop:
        variant, text = one.rewritten.variant, one.rewritten.made.text
        votes: dict[str, str] = {}
        answers: Literal["exact", "panel", "unsettled"] = "exact"
        if compare_answers(variant.pair.chosen, text) != "different":
            votes = await ask_panel(panel, variant.pair, text)
            finding = panel_finding(votes)
            if finding == "same":
                said = "; ".join(f"{name}: {vote}" for name, vote in votes.items())
                return _drop(job, PANEL, variant.subject, "the panel finds the answers the same", said)
            answers = "panel" if finding == "different" else "unsettled"
        pair = variant.pair
        item = pair.model_copy(update={"id": content_id("pair", pair.prompt, pair.chosen, text), "rejected": text})
        await job.store.write(item)
        return Item(
            id=content_id("item", job.run_id, item.id),
            run_id=job.run_id,
            pair_id=item.id,
            source_pair_id=pair.id,
            bias_id=variant.bias.id,
            perturbation_id=one.rewritten.made.id,
            misled=one.misled,
            misled_before=one.before,
            answers=answers,
            votes=votes,
        )

    found = await job.run_all(PANEL, hard, work, lambda one: one.rewritten.variant.subject)
    drops.extend(row for row in found if isinstance(row, Drop))
    return [row for row in found if isinstance(row, Item)]


def _silent(others: Sequence[str]) -> bool:
    """Whether no judge saw through it: those that were not misled gave a tie or nothing that can be read."""
    return not any(line.endswith(": chosen") for line in others)


def _failed(job: Job, stage: str) -> list[str]:
    return [f"failed ({row.kind})" for row in job.store.iterate(Failure, run_id=job.run_id, stage=stage)]


def _drop(job: Job, stage: str, subject: str, reason: str, detail: str = "") -> Drop:
    made = content_id("drop", job.run_id, stage, subject)
    return Drop(id=made, run_id=job.run_id, stage=stage, subject=subject, reason=reason, detail=detail)
