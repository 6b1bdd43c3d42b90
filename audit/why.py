"""Why each row won or not: what was stored, and what the pinned release lets the reader derive (law 2, R30)."""

from collections.abc import Sequence
from typing import Any


def why(events: Sequence[Any], limit: int) -> dict[str, Any]:
    return {}
