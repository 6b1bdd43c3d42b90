"""When a call is sent again, and after how long."""

import random
from dataclasses import dataclass

from convengine.client.errors import ApiError, ConnectionFailed

_RECOVERABLE = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Retries:
    """A call that has no second effect is sent again after failures that may pass."""

    #: How often a call is sent at most.
    attempts: int = 4
    #: Seconds before the second attempt; each further pause is twice as long.
    first_pause: float = 0.25
    longest_pause: float = 10.0

    def find_pause(self, attempt: int, error: ApiError | ConnectionFailed) -> float | None:
        """Seconds to wait after a failed attempt, counted from 1; null to give up."""
        if attempt >= self.attempts:
            return None
        if isinstance(error, ApiError) and not (error.recoverable or error.status in _RECOVERABLE):
            return None
        pause: float = min(self.first_pause * 2.0 ** (attempt - 1), self.longest_pause)
        # Callers that failed together do not try again together.
        pause *= random.uniform(0.5, 1.0)  # noqa: S311
        asked_pause = error.retry_after if isinstance(error, ApiError) else None
        if asked_pause is not None and asked_pause > self.longest_pause:
            return None
        return max(pause, asked_pause or 0.0)


#: For calls that are sent once.
NO_RETRIES = Retries(attempts=1)
