"""Fixed windows that limit how many events a conversation may store (a deployment setting).

Source: api-and-audit 10.1; a deployment setting.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from convengine.engine.stages import ALWAYS_RECORDED, base_name
from convengine.server.deployment import conf


class RateLimiter:
    """Counts events by conversation and stage. Stages that are always written are exempt."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        #: (window number, events so far) by bucket; the oldest bucket is dropped when there are too many.
        self._buckets: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()

    @property
    def on(self) -> bool:
        """True when the deployment has a limit."""
        return bool(conf.get("AUDIT_RATE_LIMIT"))

    def admits(self, conversation_id: str, stage: str) -> bool:
        """True when the event is within the limit."""
        limit = conf.get("AUDIT_RATE_LIMIT")
        if not limit or base_name(stage) in ALWAYS_RECORDED:
            return True
        key = (conversation_id if limit["per_conversation"] else "", base_name(stage) if limit["per_stage"] else "")
        window = int(self._clock() * 1000 // limit["window_ms"])
        with self._lock:
            started, count = self._buckets.pop(key, (window, 0))
            count = count + 1 if started == window else 1
            self._buckets[key] = (window, count)
            while len(self._buckets) > limit["max_tracked_buckets"]:
                self._buckets.popitem(last=False)
        return count <= int(limit["max_events"])


limiter = RateLimiter()
