"""The limit on the size of a result."""

from convengine.engine.turn.codec import dumps
from convengine.json_value import Json

_PREVIEW = 1000


def cap_result(result: Json, limit: int) -> Json:
    """The result, or a preview if it is larger than `limit` bytes."""
    text = dumps(result)
    size = len(text.encode())
    return result if size <= limit else {"truncated": True, "bytes": size, "preview": text[:_PREVIEW]}
