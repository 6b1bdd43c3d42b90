"""The turn's clock in the conversation's time zone: what rules read as `clock`."""

from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from convengine.engine.turn import live_settings
from convengine.engine.turn.live_settings import UnreadableSetting, ValueKind, declare, text
from convengine.engine.turn.turn import Turn

#: The name under which rules read the clock; no field may have it.
CLOCK = "clock"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _read_zone(text: str) -> str:
    """The name of a time zone. Raises Unreadable for an unknown one."""
    try:
        return ZoneInfo(text.strip()).key
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise UnreadableSetting("must be the name of a time zone, such as Europe/Berlin or UTC.") from None


TIME_ZONE = declare(
    "Session",
    "TIME_ZONE",
    ValueKind("time zone", _read_zone, blank_is_absent=True),
    "UTC",
    "The time zone of the users, such as Europe/Berlin. Rules read the date and the time of day in it.",
    label="Time zone",
)


LOCALE = declare(
    "Session",
    "LOCALE",
    text(),
    "",
    (
        "The language and region of the users, such as en-GB or de-DE: how dates and numbers are read, and the "
        "language of default texts. If blank, English, and numeric dates that could mean two days are asked back."
    ),
    label="Language and region",
)


def get_local_time(turn: Turn) -> datetime:
    """The second of the turn in the conversation's time zone; constant during the turn, and the same in a replay."""
    now = turn.ports.clock.now().replace(microsecond=0)
    return now.astimezone(ZoneInfo(live_settings.read(turn.snapshot, TIME_ZONE).value))


def describe_clock(now: datetime | None) -> Mapping[str, str | int]:
    """The parts of a local time that rules read; empty without a clock."""
    if now is None:
        return {}
    return {
        "now": now.isoformat(timespec="seconds"),
        "today": now.date().isoformat(),
        "weekday": WEEKDAYS[now.weekday()],
        "hour": now.hour,
    }
