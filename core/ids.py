"""Content ids: the same content has the same id, on every machine and in every run."""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def content_id(*parts: Any) -> str:
    """24 hex digits of the SHA-256 of `parts` (JSON values), in order. Lone surrogates are escaped first."""
    text = canonical_json(list(parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def seed_from(*parts: Any) -> int:
    """A 63-bit seed drawn from content, for generators that must not depend on call order."""
    return int(content_id(*parts)[:16], 16) >> 1
