"""Which events are stored: the recording options of a release, and the rate limit of the deployment.

Evidence is stored whatever the settings say.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.stages import ALWAYS_RECORDED, base_name
from convengine.engine.turn import audit_settings as catalogue
from convengine.engine.turn import live_settings
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import is_error
from convengine.engine.turn.trail import AuditEvent
from convengine.engine.turn.turn import Turn
from convengine.server.deployment import conf


@dataclass(frozen=True)
class AuditFilter:
    """The recording options of one release."""

    level: str
    include_stages: Sequence[str]
    exclude_stages: Sequence[str]
    include_intents: Sequence[str]
    exclude_intents: Sequence[str]
    persist_meta: bool

    @classmethod
    def of(cls, snapshot: Snapshot) -> "AuditFilter":
        """The options of a snapshot, cached."""

        def build() -> AuditFilter:
            """Read the options; names and patterns in upper case."""

            def value(setting: live_settings.Setting[Any]) -> Any:
                return live_settings.read(snapshot, setting).value

            return cls(
                value(catalogue.LEVEL),
                _to_upper(value(catalogue.INCLUDE_STAGES)),
                _to_upper(value(catalogue.EXCLUDE_STAGES)),
                _to_upper(value(catalogue.INCLUDE_INTENTS)),
                _to_upper(value(catalogue.EXCLUDE_INTENTS)),
                value(catalogue.PERSIST_META),
            )

        return snapshot.memo.get("audit filter", build)

    @property
    def keeps_everything(self) -> bool:
        return self.level == "ALL" and not (
            self.include_stages or self.exclude_stages or self.include_intents or self.exclude_intents
        )

    def keeps(self, event: AuditEvent) -> bool:
        """True when the event is stored: for evidence, or when level and patterns of stages and intents admit it."""
        if self.keeps_everything or base_name(event.stage) in ALWAYS_RECORDED:
            return True
        name, intent = event.stage.upper(), (event.session.intent or "").upper()
        if self.level == "NONE" or (self.level == "ERROR_ONLY" and not is_error(name)):
            return False
        if self.level == "STANDARD" and base_name(name) in (STEP_ENTER, STEP_EXIT):
            return False
        names = (name, base_name(name))
        return (
            (not self.include_stages or _matches_any(names, self.include_stages))
            and not _matches_any(names, self.exclude_stages)
            and (not self.include_intents or _matches_any((intent,), self.include_intents))
            and not _matches_any((intent,), self.exclude_intents)
        )


def _to_upper(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(value.upper() for value in values)


def _matches_any(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


class RateLimiter:
    """Counts the events of a time window: by conversation, by stage, by both, or all together."""

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
        """Count an event. True when it is within the limit; always for stages that are always written."""
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


def is_admitted(event: AuditEvent, turn: Turn, wanted: AuditFilter, *, limited: bool = True) -> bool:
    """True when an event is stored. The rate limit counts each event once, however often the turn is stored.

    Without `limited`, as in a replay, there is no rate limit.
    """
    if event.seq not in turn.admitted:
        unlimited = not limited or not limiter.on
        turn.admitted[event.seq] = wanted.keeps(event) and (
            unlimited or limiter.admits(event.session.conversation_id, event.stage)
        )
    return turn.admitted[event.seq]
