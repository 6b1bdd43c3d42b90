"""The turn's clock in the conversation's time zone: what rules read as `clock`."""

import re
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


#: The form of a locale: en, de-AT.
LOCALE_TEXT = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")


def _read_locales(text: str) -> tuple[str, ...]:
    """Read locales that are separated by commas. Raises UnreadableSetting if one is no locale or repeats a language."""
    locales = tuple(part.strip() for part in text.split(",") if part.strip())
    languages = [find_language_code(locale) for locale in locales]
    if not all(map(LOCALE_TEXT.fullmatch, locales)) or len(set(languages)) != len(languages):
        raise UnreadableSetting("must name each language once, such as en-GB, de-DE, fr.")
    return locales


LANGUAGES = declare(
    "Session",
    "LANGUAGES",
    ValueKind("list of languages", _read_locales, blank_is_absent=True),
    (),
    (
        "The languages that users may speak, with commas between, such as en-GB, de-DE. The texts of rows are in the "
        "first one, and may have translations. A conversation uses the language of its user. If blank, all texts are "
        "in one language."
    ),
    label="Languages",
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


def find_language_code(locale: str) -> str:
    """The language of a locale: `de` for de-AT."""
    return locale.replace("_", "-").partition("-")[0].strip().lower()


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
