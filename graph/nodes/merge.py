"""Candidates become few biases, and only new ones go on."""

from collections.abc import Sequence

from ...agents.merger import same_as as ask_same
from ...agents.merger import summarise as ask_summary
from ...bias_library.events import Stamp, first_seq
from ...bias_library.library import append, load_library
from ...bias_library.merging import Rule, Summary, merge_candidates
from ...core.records import Bias, Candidate
from ..context import Context
from ..state import State


async def merge(context: Context, state: State) -> State:
    """METHOD step 6 and section 4. Everything the library has met is known, also what was rejected before."""
    iteration, store, run_id = state["iteration"], context.store, context.run_id
    first = first_seq("merge", iteration)
    library = load_library(store, run_id, before=first)
    known = [entry.bias for entry in library if entry.status != "merged"]
    candidates = store.get_many(Candidate, state["candidates"])
    context.progress.start(f"merge@{iteration}", len(candidates))

    teacher = context.teacher_model

    async def summarise(group: Sequence[Bias]) -> list[Summary]:
        if teacher is None:  # all of a group are one, by `_rule`, in the words of the most central
            return [Summary(*_words(group[0]), tuple(range(len(group))))]
        return await ask_summary(teacher, [_words(bias) for bias in group])

    async def same_as(bias: Bias, nearest: Sequence[Bias]) -> str | None:
        if teacher is None:
            return None
        place = await ask_same(teacher, _words(bias), [_words(known) for known in nearest])
        return None if place is None else nearest[place].id

    stage = f"merge@{iteration}"
    store.forget_failures(run_id, stage)
    merged = await merge_candidates(
        candidates,
        known,
        Stamp(run_id, first, "biasscope", iteration=iteration),
        embed=context.embedder.embed,
        summarise=summarise,
        same_as=same_as,
        rule=_rule(context),
    )
    await store.write(*merged.decisions, *(f.model_copy(update={"stage": stage}) for f in merged.failures))
    await append(store, merged.events)
    novel = [bias.id for bias in merged.novel]
    funnel = store.note(run_id, f"funnel:{iteration}") or {}
    store.write_note(run_id, f"funnel:{iteration}", {**funnel, "groups": len(merged.decisions), "novel": len(novel)})
    context.progress.done = len(candidates)
    context.progress.finish()
    return {"novel": novel, "pending": [*state.get("pending", []), *novel]}


def _words(bias: Bias) -> tuple[str, str, str]:
    return (bias.name, bias.definition, bias.manifestation)


def _rule(context: Context) -> Rule:
    merging = context.settings.merging
    default = Rule()
    if context.teacher_model is None:
        # Nobody to ask: what is as good as the same is merged, all else stays apart.
        high = default.high if merging.high is None else merging.high
        return Rule(low=high, high=high, group=high)
    return Rule(
        low=default.low if merging.low is None else merging.low,
        high=default.high if merging.high is None else merging.high,
        nearest=default.nearest if merging.nearest is None else merging.nearest,
    )
