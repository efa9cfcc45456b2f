"""The teacher names the bias behind a misjudgment, if there is one."""

import re

from pydantic import BaseModel, Field

from ..core.calls import Model
from ..core.errors import CallFailed
from ..core.ids import content_id
from ..core.records import Bias, Candidate, Explanation, Judgment, PreferencePair
from ..prompts import render
from .engines.ask import ask_json
from .judges.protocol import letter_of
from .wording import Wording, clean_wording, described


class _Finding(BaseModel):
    explained_by_bias: bool
    name: str = Field(description="two to five words; empty when no bias explains the error")
    definition: str = Field(description="one sentence")
    manifestation: str = Field(description="one sentence")


async def discover(
    teacher_model: Model,
    pair: PreferencePair,
    judgment: Judgment,
    rejected_text: str,
    explanation: Explanation | None,
    injected: Bias | None,
    *,
    iteration: int,
    temperature: float | None = 0.0,
    max_tokens: int = 512,
    seed: int | None = 0,
) -> Candidate | None:
    """The bias that explains why the judge preferred `rejected_text`, or None when the teacher sees none.

    One that says the injected bias, by its name or as "the known bias", comes back in that bias's own words, so that
    it joins it whatever a weak teacher wrote beside the name. Raises CallFailed, of kind `malformed` when the bias has
    no definition, or no name but words of the prompt.
    """
    prompt = render(
        "discover",
        question=pair.prompt,
        chosen_answer=pair.chosen,
        rejected_answer=rejected_text,
        chosen_letter=letter_of("chosen", judgment.order),
        rejected_letter=letter_of("rejected", judgment.order),
        injected_bias=described(injected.name, injected.definition) if injected else "",
        reasoning=judgment.reasoning,
        explanation=explanation.text if explanation else "",
        own_words=explanation is None or explanation.own_words,
    )
    finding, request_id = await ask_json(
        teacher_model,
        prompt.messages,
        _Finding,
        role="teacher",
        stage="discover",
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    if not finding.explained_by_bias:
        return None
    wording = clean_wording(finding.name, finding.definition, finding.manifestation, request_id)
    if not (own := _own_part(wording.name)):
        if injected is None or not _KNOWN.search(wording.name):
            raise CallFailed("malformed", f"{wording.name!r} names no bias", repr(wording), request_id)
        own = _own_part(injected.name)
    if injected is not None and own == _own_part(injected.name):
        wording = Wording(injected.name, injected.definition, injected.manifestation)
    return Candidate(
        id=content_id("candidate", judgment.run_id, iteration, judgment.id),
        run_id=judgment.run_id,
        iteration=iteration,
        name=wording.name,
        definition=wording.definition,
        manifestation=wording.manifestation,
        judgment_id=judgment.id,
        pair_id=pair.id,
        source_bias=injected.id if injected else "",
        request_id=request_id,
    )


_KNOWN = re.compile(r"known bias|injected", re.IGNORECASE)
_PROMPTED = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "same",
        "it",
        "is",
        "known",
        "injected",
        "given",
        "above",
        "bias",
        "biases",
        "biased",
        "name",
        "named",
        "names",
        "definition",
        "judge",
        "error",
        "two",
        "to",
        "five",
        "words",
        "yes",
        "true",
        "false",
    ]
)
_NOTHING = frozenset(["no", "not", "none", "null", "n", "na", "unknown"])


def _own_part(name: str) -> str:
    """The words of a name that the prompt has not put into the teacher's mouth; empty when there are none."""
    words = [word for word in re.findall(r"[^\W_]+", name.casefold()) if word not in _PROMPTED]
    return "" if _NOTHING.issuperset(words) else " ".join(words)
