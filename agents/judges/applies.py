"""What does not apply to a judge of some kind, in words for reports and terminals."""

from .protocol import Judge


def left_out(judge: Judge) -> tuple[str, ...]:
    """A sentence for each part of an audit that this judge cannot have; empty for one that can have all."""
    found = []
    if not judge.has_position:
        found.append(
            "Position does not apply to this judge: it does not depend on which answer comes first. One order is "
            "judged and stands for both, and the position bias is left out."
        )
    if not judge.explains_itself:
        found.append(
            "Explanations do not apply to this judge: it cannot talk. Where reasons are needed, a teacher's model "
            "supposes them, marked as not the judge's own words."
        )
    return tuple(found)
