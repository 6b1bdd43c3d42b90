"""Times with a zone, which are said in the conversation's: "10am EST", "2026-12-05T10:00:00+02:00"."""

from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from convengine.engine.understanding.grammar import GrammarPhrase
from convengine.engine.understanding.span import Situation

#: `means` of a phrase of a day and a time with a zone.
ZONED = "zoned"
#: What a value is supplied with that is converted.
ZONE = "zone"


def split_zoned(phrase: GrammarPhrase) -> tuple[GrammarPhrase | None, GrammarPhrase]:
    """The day of a phrase, if it has one, and its time, or all of it."""
    if phrase.means != ZONED:
        return None, phrase
    return phrase.slots.get("date"), phrase.slots.get("zoned_time") or phrase.slots["written_clock"]


def find_zone(clock: GrammarPhrase | None) -> tzinfo | None:
    """The zone that a time is said in. Returns None where none is said."""
    zone = clock.slots.get("zone") or clock.slots.get("written_zone") if clock else None
    if isinstance(zone, GrammarPhrase):
        slots = zone.slots
        hours, minutes = slots.get("zone_hour", 0), slots.get("minute", 0)
        if "joined_time" in slots:
            hours, minutes = divmod(slots["joined_time"], 100)
        return timezone(slots["sign"] * timedelta(hours=hours, minutes=minutes))
    if not isinstance(zone, str):
        return None
    return ZoneInfo(zone) if "/" in zone else datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo


def move_start(start: datetime, zone: tzinfo, situation: Situation) -> datetime:
    """A moment of another zone, which it is without, in that of the conversation."""
    own = ZoneInfo(situation.time_zone) if situation.time_zone else situation.now.tzinfo
    return start.replace(tzinfo=zone).astimezone(own)
