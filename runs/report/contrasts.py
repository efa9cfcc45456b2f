"""What contrasts found, round by round (notes `contrasts:<iteration>`, see graph/contrasts.py)."""

from collections.abc import Iterable

from ...core.records import ContrastEvidence
from ...core.store import Store
from .model import ContrastLine, ContrastRound


def contrast_rounds(store: Store, run_id: str, iterations: Iterable[int]) -> tuple[ContrastRound, ...]:
    """The rounds in which contrasts searched, after the log that the run was given, if any."""
    notes = [(t, store.note(run_id, f"contrasts:{'log' if t is None else t}")) for t in (None, *iterations)]
    return tuple(
        ContrastRound(
            iteration=t,
            response=note["response"],
            rows=note["rows"],
            features=note["features"],
            false_bound=round(note["false_bound"], 3),
            found=tuple(
                ContrastLine(
                    title=line["title"],
                    direction=line["direction"],
                    frequency=line["frequency"],
                    weight=line["weight"],
                    support=line["support"],
                    support_pairs=line["support_pairs"],
                    candidate=line["candidate"],
                )
                for line in note["found"]
            ),
        )
        for t, note in notes
        if isinstance(note, dict)
    )


def contrast_line(found: ContrastEvidence) -> str:
    """What speaks for a bias that contrasts named, in a sentence."""
    return (
        f"{found.direction} of the feature {found.feature!r} goes with the judge's leaning in {found.frequency:.0%} of "
        f"the halves of {found.rows} comparisons; {found.support} misjudgments go that way; at most "
        f"{found.false_bound:.1f} of {found.features} features are named by chance"
    )
