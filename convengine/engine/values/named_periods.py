"""The week or the month that a message names, beside whatever else it says: "a cat sitter in October" (R114)."""

from convengine.engine.values.date_times import list_calendar_starts, make_moment_context, write_period
from convengine.engine.values.dates import match_dates
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import get_language
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import Reading, ReadingSituation, Reason
from convengine.engine.values.surroundings import is_denied_before

#: Longer messages tell a story.
_MAX_LENGTH = 300
_DAY = FieldSpec("", Kind.DATE)


def find_named_period(text: str, situation: ReadingSituation) -> str:
    """The only period of a message that names no day of it, as `write_period` writes it; blank for none or several."""
    for local in list_situations(situation):
        language = get_language(local.locale)
        tokens = language.read_tokens(text[:_MAX_LENGTH])
        context = make_moment_context(_DAY, local, language).date
        periods, end = set[str](), 0
        for start in list_calendar_starts(tokens, language):
            matches = list(match_dates(tokens.text, start, language, context)) if start >= end else []
            if not matches or is_denied_before(tokens, start, language):
                continue
            longest = max(matches, key=lambda match: match.end)
            end = longest.end
            days = longest.days
            if isinstance(days, Reading) and days.reason is Reason.DAY_MISSING and "from" in days.data:
                periods.add(write_period(days.data["from"], days.data["to"]))
        if len(periods) == 1:
            return periods.pop()
    return ""


def is_period(known_part: str) -> bool:
    """True for what `write_period` writes."""
    return ".." in known_part
