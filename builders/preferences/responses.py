"""DPO rows of the response kind: the better answer against a rejected one, with a bias or as it was."""

from ...core.words import word_count
from .candidates import Planned
from .rewriting import Refused, Studio, biased_answer
from .settings import LengthSettings
from .units import TRAIN, Unit, longer_side, provenance, said


async def response_unit(studio: Studio, planned: Planned, length: LengthSettings) -> Unit | Refused:
    """One row. Raises CallFailed."""
    pair, bias = planned.pair, planned.bias
    made = await biased_answer(studio, pair, bias, length) if bias else None
    if isinstance(made, Refused):
        return made
    text = made.text if made else pair.rejected
    row = {
        "prompt": said("user", pair.prompt),
        "chosen": said("assistant", pair.chosen),
        "rejected": said("assistant", text),
        "what": "response",
        **provenance(pair, bias, made),
    }
    longer = longer_side(word_count(pair.chosen), word_count(text))
    return Unit(pair, (bias.id,) if bias else (), longer, {TRAIN: [row]})
