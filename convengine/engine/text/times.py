"""Times that callers send: read, or refused because they lie beyond what calendars and databases can compute."""

from datetime import UTC, datetime

#: Years in which every time zone and both databases can compute with a time.
FIRST_YEAR, LAST_YEAR = 1900, 9998
OUT_OF_RANGE = f"is outside of the calendar. Use a time in the years {FIRST_YEAR} to {LAST_YEAR}."


def is_in_calendar(moment: datetime) -> bool:
    """True for a time that can be converted to any time zone and stored."""
    return FIRST_YEAR <= moment.year <= LAST_YEAR


def parse_moment(text: str) -> datetime:
    """An ISO 8601 time; in UTC without a zone. Raises ValueError, which says what is wrong."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:60]!r} is not an ISO 8601 time such as 2026-01-31T12:00:00Z.") from None
    if not is_in_calendar(moment):
        raise ValueError(f"{text[:60]!r} {OUT_OF_RANGE}")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
