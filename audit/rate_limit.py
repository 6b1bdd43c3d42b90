"""Fixed windows that bound how many events a conversation may store (api-and-audit 10.1; a deployment setting)."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from audit.stage_names import base_name
from convengine import conf
from convengine.domain.stages import NEVER_FILTERED


class RateLimiter:
    """Counts events by conversation and stage. Never-filtered stages are exempt."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        #: (window number, events so far) by bucket; the oldest bucket goes when there are too many.
        self._buckets: OrderedDict[tuple[str, str], tuple[int, int]] = OrderedDict()

    @property
    def on(self) -> bool:
        """True when the deployment limits anything."""
        return bool(conf.get("AUDIT_RATE_LIMIT"))

    def admits(self, conversation_id: str, stage: str) -> bool:
        """True when the event is within the limit."""
        limit = conf.get("AUDIT_RATE_LIMIT")
        if not limit or base_name(stage) in NEVER_FILTERED:
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
