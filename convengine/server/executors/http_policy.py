"""How a tool is called over HTTP: the settings of McpHttpApi with the tool's overrides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convengine.engine.text.compare import truthy
from convengine.engine.turn import live_settings
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.server.executors import settings as executors

IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})


@dataclass(frozen=True)
class HttpPolicy:
    """Times are in milliseconds."""

    connect_timeout_ms: int
    read_timeout_ms: int
    max_attempts: int
    initial_backoff_ms: int
    max_backoff_ms: int
    backoff_multiplier: float
    retry_status_codes: frozenset[int]
    retry_on_io_exception: bool
    circuit_breaker_enabled: bool
    circuit_failure_threshold: int
    circuit_open_ms: int
    #: POST and PATCH are tried again too, with an idempotency key.
    retry_non_idempotent: bool = False

    def attempts(self, method: str) -> int:
        return self.max_attempts if method in IDEMPOTENT or self.retry_non_idempotent else 1

    def backoff_ms(self, attempt: int, retry_after: str | None) -> float:
        """The pause after an attempt (the first is 1): growing, or longer if the server asks for it, up to the maximum.

        `retry_after` is its header; only seconds count, and not a date.
        """
        wait: float = self.initial_backoff_ms * self.backoff_multiplier ** (attempt - 1)
        seconds = (retry_after or "").strip()
        # Some characters outside of ASCII are digits that `int` refuses.
        if seconds.isascii() and seconds.isdigit():
            wait = max(wait, int(seconds[:9]) * 1000)
        return min(wait, self.max_backoff_ms)

    @property
    def longest_ms(self) -> int:
        """The longest time of a call with all attempts and pauses."""
        return self.max_attempts * (self.connect_timeout_ms + self.read_timeout_ms + self.max_backoff_ms) + 1000


#: For messages of an outbox, which are tried again themselves.
ONE_ATTEMPT = HttpPolicy(
    connect_timeout_ms=3_000,
    read_timeout_ms=10_000,
    max_attempts=1,
    initial_backoff_ms=0,
    max_backoff_ms=0,
    backoff_multiplier=1,
    retry_status_codes=frozenset(),
    retry_on_io_exception=False,
    circuit_breaker_enabled=False,
    circuit_failure_threshold=1,
    circuit_open_ms=0,
)


def policy_of(snapshot: Snapshot, tool_code: str, overrides: Json) -> HttpPolicy:
    """The policy of a tool: its `overrides` by name of the setting, else the settings. Unreadable ones are ignored.

    `retry_non_idempotent` is no setting: without an override it is off.
    """
    declared = overrides if isinstance(overrides, Mapping) else {}
    own = {str(name).lower().replace("-", "_"): value for name, value in declared.items()}

    def read(setting: "live_settings.Setting[Any]") -> Any:
        given = own.get(setting.key.lower())
        if given is not None:
            text = ",".join(str(each) for each in given) if isinstance(given, (list, tuple)) else str(given)
            try:
                return setting.kind.read(text)
            except live_settings.UnreadableSetting:
                pass
        return live_settings.read(snapshot, setting, tool_code).value

    return HttpPolicy(
        read(executors.CONNECT_TIMEOUT_MS),
        read(executors.READ_TIMEOUT_MS),
        read(executors.MAX_ATTEMPTS),
        read(executors.INITIAL_BACKOFF_MS),
        read(executors.MAX_BACKOFF_MS),
        read(executors.BACKOFF_MULTIPLIER),
        frozenset(int(each) for each in read(executors.RETRY_STATUS_CODES) if str(each).strip().isdecimal()),
        read(executors.RETRY_ON_IO_EXCEPTION),
        read(executors.CIRCUIT_BREAKER_ENABLED),
        read(executors.CIRCUIT_FAILURE_THRESHOLD),
        read(executors.CIRCUIT_OPEN_MS),
        truthy(own.get("retry_non_idempotent")),
    )
