"""Which session a message belongs to. The first matching policy wins. No clock, no database."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from convengine.engine.threads import settings as catalogue
from convengine.engine.threads.lifecycle import CLOSED
from convengine.engine.threads.message_intent import is_one_of
from convengine.engine.threads.resume import EXPLICIT_RESET, OFFERED, OPTIONS, STALE
from convengine.engine.turn import live_settings
from convengine.engine.turn.enums import Vocabulary
from convengine.engine.turn.snapshot import Snapshot


class ResolveReason(Vocabulary):
    """Why a session was found or made, in the order of the policies."""

    EXPLICIT_RESET = EXPLICIT_RESET, "The user asked to start over"
    FIRST_MESSAGE = "first_message", "The thread is new"
    NO_SESSION = "no_session", "The thread's sessions were deleted"
    SESSION_CLOSED = "session_closed", "The last session is closed"
    STALE = STALE, "The last session has been idle for days"
    TIMEOUT = "timeout", "The last session has been idle for too long"
    RESUME_OFFERED = OFFERED, "The user comes back after a pause, and is asked"
    TOPIC_DRIFT = "topic_drift", "The message is about something else"
    WITHIN_TIMEOUT = "within_timeout", "The session goes on"

    @property
    def is_new(self) -> bool:
        """True when the message opens a session."""
        return self not in (ResolveReason.RESUME_OFFERED, ResolveReason.WITHIN_TIMEOUT)

    @property
    def decision(self) -> str:
        """`new` or `continue`."""
        return "new" if self.is_new else "continue"

    @property
    def ends(self) -> bool:
        """True when it ends the open session."""
        return self in (
            ResolveReason.EXPLICIT_RESET,
            ResolveReason.STALE,
            ResolveReason.TIMEOUT,
            ResolveReason.TOPIC_DRIFT,
        )


@dataclass(frozen=True)
class LatestSession:
    lifecycle: str
    last_message_at: datetime
    #: It was offered for resumption, and the user has not answered.
    offered: bool = False
    #: A person has it: only days without a message end it.
    with_person: bool = False


@dataclass(frozen=True)
class IdleLimits:
    """The idle limits of a channel, from the configuration."""

    stale: timedelta
    timeout: timedelta
    idle: timedelta
    offers_resume: bool

    @classmethod
    def of(cls, snapshot: Snapshot, channel: str) -> "IdleLimits":
        """The limits that the configuration sets for a channel."""
        return cls(
            timedelta(days=live_settings.read(snapshot, catalogue.STALE_TIMEOUT_DAYS).value),
            timedelta(minutes=live_settings.read(snapshot, catalogue.TIMEOUT_MINUTES, channel).value),
            timedelta(hours=live_settings.read(snapshot, catalogue.IDLE_TIMEOUT_HOURS).value),
            live_settings.read(snapshot, catalogue.RESUME_MODE, channel).value == "offer_resume",
        )

    @property
    def end(self) -> timedelta:
        """The idle time after which a session ends by itself."""
        return self.stale if self.offers_resume else min(self.stale, self.timeout)

    def find_reason(self, idle: timedelta) -> ResolveReason:
        """The result of an idle time. Exactly at a limit counts as within it."""
        if idle > self.stale:
            return ResolveReason.STALE
        if idle > self.timeout and not self.offers_resume:
            return ResolveReason.TIMEOUT
        if idle > self.idle and self.offers_resume:
            return ResolveReason.RESUME_OFFERED
        return ResolveReason.WITHIN_TIMEOUT


def resolve_session(
    snapshot: Snapshot, channel: str, message: str | None, latest: LatestSession | None, now: datetime, *, known: bool
) -> ResolveReason:
    """The reason of the first matching policy, except a change of topic, which only a model detects.

    `known`: the thread was seen before, even if its sessions were removed.
    """
    phrases = live_settings.read(snapshot, catalogue.RESET_PHRASES).value
    # "start fresh" answers the offer whatever the configured phrases are.
    if is_one_of(message, (*phrases, OPTIONS[1]) if latest and latest.offered else phrases):
        return ResolveReason.EXPLICIT_RESET
    if latest is None:
        return ResolveReason.NO_SESSION if known else ResolveReason.FIRST_MESSAGE
    if latest.lifecycle in CLOSED:
        return ResolveReason.SESSION_CLOSED
    reason = IdleLimits.of(snapshot, channel).find_reason(now - latest.last_message_at)
    return ResolveReason.WITHIN_TIMEOUT if latest.with_person and reason is not ResolveReason.STALE else reason
