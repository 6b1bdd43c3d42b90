"""Which session a message belongs to: the policies of sessions 4, the first that fires wins. No clock, no database."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from convengine.continuity.lifecycle import CLOSED
from convengine.continuity.phrases import is_one_of
from convengine.continuity.returning import EXPLICIT_RESET, OFFERED, OPTIONS, STALE
from convengine.domain import settings
from convengine.domain.catalogue import session as catalogue
from convengine.domain.enums import Word
from convengine.domain.snapshot import Snapshot


class Reason(Word):
    """Why a session was found or made, in the order in which the policies are asked."""

    EXPLICIT_RESET = EXPLICIT_RESET, "The message is a wish to start over"
    FIRST_MESSAGE = "first_message", "The thread is new"
    NO_SESSION = "no_session", "The thread's sessions are gone"
    SESSION_CLOSED = "session_closed", "The last session is closed"
    STALE = STALE, "The last session has been idle for days"
    TIMEOUT = "timeout", "The last session has been idle for too long"
    RESUME_OFFERED = OFFERED, "The user comes back after a pause, and is asked"
    TOPIC_DRIFT = "topic_drift", "The message is about something else"
    WITHIN_TIMEOUT = "within_timeout", "The session goes on"

    @property
    def is_new(self) -> bool:
        """True when the message opens a session."""
        return self not in (Reason.RESUME_OFFERED, Reason.WITHIN_TIMEOUT)

    @property
    def ends(self) -> bool:
        """True when it ends the session that was open."""
        return self in (Reason.EXPLICIT_RESET, Reason.STALE, Reason.TIMEOUT, Reason.TOPIC_DRIFT)


@dataclass(frozen=True)
class Latest:
    """The newest session of a thread."""

    lifecycle: str
    last_message_at: datetime
    #: It was offered to go on, and the user has not answered.
    offered: bool = False


@dataclass(frozen=True)
class Limits:
    """How long a session of a channel may be idle, by the configuration."""

    stale: timedelta
    timeout: timedelta
    idle: timedelta
    offers_resume: bool

    @classmethod
    def of(cls, snapshot: Snapshot, channel: str) -> "Limits":
        """The limits of a channel."""
        return cls(
            timedelta(days=settings.read(snapshot, catalogue.STALE_TIMEOUT_DAYS).value),
            timedelta(minutes=settings.read(snapshot, catalogue.TIMEOUT_MINUTES, channel).value),
            timedelta(hours=settings.read(snapshot, catalogue.IDLE_TIMEOUT_HOURS).value),
            settings.read(snapshot, catalogue.RESUME_MODE, channel).value == "offer_resume",
        )

    @property
    def end(self) -> timedelta:
        """After how long a session ends by itself."""
        return self.stale if self.offers_resume else min(self.stale, self.timeout)

    def fired(self, idle: timedelta) -> Reason:
        """What an idle time leads to. Exactly at a limit counts as within it."""
        if idle > self.stale:
            return Reason.STALE
        if idle > self.timeout and not self.offers_resume:
            return Reason.TIMEOUT
        if idle > self.idle and self.offers_resume:
            return Reason.RESUME_OFFERED
        return Reason.WITHIN_TIMEOUT


def resolve(
    snapshot: Snapshot, channel: str, message: str | None, latest: Latest | None, now: datetime, *, known: bool
) -> Reason:
    """The reason of the first policy that fires, but for a change of topic, which only a model sees.

    `known`: the thread has been seen before, whether or not a session of it is left.
    """
    phrases = settings.read(snapshot, catalogue.RESET_PHRASES).value
    # The offer names a way out of it: that one is there whatever the phrases are.
    if is_one_of(message, (*phrases, OPTIONS[1]) if latest and latest.offered else phrases):
        return Reason.EXPLICIT_RESET
    if latest is None:
        return Reason.NO_SESSION if known else Reason.FIRST_MESSAGE
    if latest.lifecycle in CLOSED:
        return Reason.SESSION_CLOSED
    return Limits.of(snapshot, channel).fired(now - latest.last_message_at)
