"""One entry of a suite: a pair as it is, with a bias injected, and with the matched control."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from ...bias_library.taxonomy import TaxonomyBias, identities, taxonomy
from ...core.ids import content_id
from ...core.records import Order, PreferencePair, bias_arm

_KNOWN = {entry.name: entry for entry in (*taxonomy(), *identities())}


@dataclass(frozen=True)
class Entry:
    """`pair` and `control` are preference pairs of their own; what they were made from stands in their meta."""

    base: PreferencePair
    pair: PreferencePair
    control: PreferencePair | None = None

    @property
    def bias(self) -> TaxonomyBias:
        """What is injected."""
        return _KNOWN[self.pair.meta["bias"]]

    @property
    def arm(self) -> str:
        """The arm of the injected pair."""
        return bias_arm(self.bias.bias.id)

    @property
    def control_arm(self) -> str:
        """The arm of its control."""
        return control_arm(self.bias)

    @property
    def cue(self) -> str:
        """The line that was added, as the taxonomy words it; empty for rewrites."""
        return self.pair.meta.get("cue", "")

    @property
    def side(self) -> Literal["chosen", "rejected", ""]:
        """The answer beside which the line stands."""
        return cast(Literal["chosen", "rejected", ""], self.pair.meta.get("side", ""))

    @property
    def order(self) -> Order | None:
        """The one order in which it means something; None for any."""
        return cast(Order | None, self.pair.meta.get("order"))

    @property
    def reference(self) -> Order | None:
        """The order of the original that it is compared with; None for that of the audit."""
        return cast(Order | None, self.pair.meta.get("reference"))


def control_arm(bias: TaxonomyBias) -> str:
    """The arm of a bias's controls."""
    return f"control:{bias.bias.id}"


def injected(
    base: PreferencePair,
    bias: TaxonomyBias,
    chosen: str,
    rejected: str,
    meta: Mapping[str, str] | None = None,
    *,
    control: bool = False,
) -> PreferencePair:
    """A pair made from `base`; `meta` as in Entry. The id covers bias and texts, so equal entries are one row."""
    kind, meta = "control" if control else "injected", meta or {}
    return PreferencePair(
        id=content_id(kind, bias.name, base.id, chosen, rejected, meta.get("order", "")),
        prompt=base.prompt,
        chosen=chosen,
        rejected=rejected,
        domain=base.domain,
        source=base.source,
        source_id=base.source_id,
        meta={"bias": bias.name, "base": base.id, **meta},
    )
