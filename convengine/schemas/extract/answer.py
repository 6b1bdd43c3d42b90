"""The whole message as the answer to the one thing that was asked (R10)."""

import re

from convengine.schemas.choices import choice_of, spellings
from convengine.schemas.dates import Unclear
from convengine.schemas.extract.candidate import ANSWER, Candidate
from convengine.schemas.extract.directions import leads_from, leads_to
from convengine.schemas.extract.framed import frames_number, goes_on, says_no_name
from convengine.schemas.extract.language import (
    ASKS,
    COMMANDS,
    CORRECTS,
    COURTESY,
    DENIES,
    DESCRIBES,
    LEAD_IN,
    NO,
    NO_PHRASES,
    PERSON,
    PROSE,
    SAYS_NOTHING,
    SENTENCE,
    TO_CORRECTION,
    YES,
    YES_PHRASES,
)
from convengine.schemas.extract.reading import Reading
from convengine.schemas.extract.typed import counted
from convengine.schemas.extract.units import counted_in, numeric
from convengine.schemas.extract.unmeant import says_otherwise, unmeant
from convengine.schemas.form import Field
from convengine.schemas.formats import FORMATS
from convengine.schemas.values import VALUE_INVALID, VALUE_VIOLATES_SCHEMA, cleaned
from convengine.schemas.words import fold

#: How long a text may be that is told as a value which could not be taken.
_ATTEMPT = 60
#: What may close a message.
_CLOSING = " \n.,;:!)…–-"
#: How many words a name, an id or an address may have.
_LONGEST = 8


def whole_answer(reading: Reading, field: Field) -> Candidate | None:
    """The answer for a field, wrong ones with their problem; null for a message that is no answer to it."""
    if field.type in ("array", "object"):
        return None
    if numeric(field):
        return _number(reading, field)
    start, end = _core(reading, field)
    said = reading.text[start:end]
    if field.type == "boolean":
        return _yes_or_no(reading, field, start, end)
    if not said or reading.text.rstrip().endswith("?") or SAYS_NOTHING.fullmatch(said) or DENIES.match(said):
        return None
    words = cleaned(reading.said(start, end)).lstrip("#")
    if choice := choice_of(words, field):
        return Candidate(field, start, end, choice.value, ANSWER)
    if spellings(field) and field.choices:
        return _attempt(field, start, end, words, VALUE_VIOLATES_SCHEMA) if _plausible(words, field) else None
    if field.format in FORMATS:
        return _formatted(reading, field, start, end)
    return None if _leads_elsewhere(reading, field, start, end) else _named(field, start, end, words)


def _named(field: Field, start: int, end: int, words: str) -> Candidate | None:
    return Candidate(field, start, end, words, ANSWER) if _plausible(words, field) else None


def _leads_elsewhere(reading: Reading, field: Field, start: int, end: int) -> bool:
    """True where what leads up to the answer says that it is another: "I'm tired", "to Lyon" for where from."""
    said, last = reading.words(start, end), reading.text[:start].split()[-1:]
    if PERSON.fullmatch(reading.text, 0, start) and DESCRIBES.issuperset(said):
        return True
    if last in (["to"], ["into"]):
        return leads_from(field) or not {"a", "an", "my", "our"}.isdisjoint(said[:1])
    return last == ["from"] and leads_to(field)


def _plausible(words: str, field: Field) -> bool:
    """False for sentences and commands where a name, an id, a place is wanted."""
    said = fold(words).split()
    if all(word in YES or word in NO for word in said):
        return False
    if any(word in PROSE for label in field.labels for word in label):
        return True
    if (
        len(said) > _LONGEST
        or says_no_name([word.strip(",.;:!") for word in said], field)
        or said[0] in COMMANDS
        or ASKS.match(" ".join(said))
        or says_otherwise(" ".join(said), field)
    ):
        return False
    return not any(word.strip(",.;:!") in SENTENCE for word in said)


def _core(reading: Reading, field: Field) -> tuple[int, int]:
    """The part that answers: behind the last correction, without what leads up to it, the field's name, and thanks."""
    text = reading.text
    start, end = len(text) - len(text.lstrip()), len(text.rstrip(_CLOSING))
    for correction in TO_CORRECTION.finditer(text, start, end):
        if CORRECTS.search(correction.group()) and (correction.start() > start or correction.end() < end):
            start = correction.end()
    while courtesy := COURTESY.search(text, start, end):
        end = len(text[: courtesy.start()].rstrip(_CLOSING))
    if (lead := LEAD_IN.match(text, start, end)) and lead.end() < end and choice_of(text[start:end], field) is None:
        start = start if goes_on(reading, lead.group(), lead.end()) else lead.end()
    if name := _name(field).match(text, start, end):
        start = name.end()
    return start, end


def _name(field: Field) -> re.Pattern[str]:
    labels = "|".join(r"[\s_-]*".join(map(re.escape, label)) for label in field.labels)
    return re.compile(rf"(?:(?:the|my|our)\s+)?(?:{labels})(?!\w)\s*(?:(?:is|[=:?]|would\s+be|should\s+be)\s*)?(?=\S)")


def _yes_or_no(reading: Reading, field: Field, start: int, end: int) -> Candidate | None:
    bare = COURTESY.sub("", reading.text.strip().rstrip(_CLOSING))
    if choice := choice_of(cleaned(reading.said(start, end)), field):
        return Candidate(field, start, end, choice.value, ANSWER)
    place = (len(reading.text) - len(reading.text.lstrip()), len(reading.text.rstrip()))
    for value, words, phrases in ((True, YES, YES_PHRASES), (False, NO, NO_PHRASES)):
        left = re.split(r"[\s,.!]+", bare.strip())
        while left and left[0] in words:
            del left[0]
        if not left or phrases.fullmatch(" ".join(left)):
            return Candidate(field, *place, value, ANSWER)
    return None


def _number(reading: Reading, field: Field) -> Candidate | None:
    """The one number of the message, if nothing says that it is a number of something else."""
    start, end = _core(reading, field)
    found = [one for one in counted_in(reading) if not one.in_words or one.start == start]
    only = [one for one in found if start <= one.start] or found
    if len(only) == 1 and (only[0].unit is None or only[0].start == start):
        one = only[0]
        value = counted(field, one)
        if unmeant(reading, field, one.start, one.end) or reading.asked(one.start):
            return None
        if one.in_words and SAYS_NOTHING.fullmatch(reading.text[start:end]):
            return None
        if value is not None and not frames_number(reading, field, one):
            return None
        if value is None:
            return _attempt(field, one.start, one.end, reading.said(one.start, end), VALUE_INVALID)
        return Candidate(field, one.start, value[1], value[0], ANSWER, value[2])
    return None


def _formatted(reading: Reading, field: Field, start: int, end: int) -> Candidate | None:
    known = FORMATS[field.format or ""]
    inside = [match for match in reading.formats[field.format or ""] if match.start() >= start]
    if field.format == "phone" and len(inside) == 1:
        start, end = inside[0].span()
    try:
        return Candidate(field, start, end, known.read(cleaned(reading.said(start, end))), ANSWER)
    except Unclear as unclear:
        attempt = any(char.isdigit() or char == "@" for char in reading.text[start:end])
        return _attempt(field, start, end, reading.said(start, end), str(unclear)) if attempt else None


def _attempt(field: Field, start: int, end: int, words: str, problem: str) -> Candidate | None:
    return Candidate(field, start, end, words, ANSWER, problem) if len(words) <= _ATTEMPT else None
