"""The teacher names the bias behind a misjudgment, if there is one."""

from pydantic import BaseModel, Field

from ..core.calls import Model
from ..core.ids import content_id
from ..core.records import Bias, Candidate, Explanation, Judgment, PreferencePair
from ..prompts import render
from .engines.ask import ask_json
from .judges.protocol import letter_of
from .wording import clean_wording, described


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

    Raises CallFailed, of kind `malformed` when the bias has no name or definition.
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
