"""Values that are said without being meant: denied, left in the past, bounded, excluded (R10).

Each is judged by the words of its own clause, before and behind it. "now" and "new" end what lies in the past.
"""

import re

from convengine.schemas.choices import spellings
from convengine.schemas.extract.directions import leads_from, leads_to
from convengine.schemas.extract.elsewhere import of_something_else
from convengine.schemas.extract.language import DENIES, DENIES_NEXT, GENERIC, PROSE, UNITS, any_of
from convengine.schemas.extract.reading import Reading
from convengine.schemas.extract.units import identifies, numeric, units_of
from convengine.schemas.form import Field
from convengine.schemas.words import listed, run_in

DATES = ("date", "date-time")

# --- the past ----------------------------------------------------------------------------------------------------

_OLD = listed("old former previous prior earlier ex original")
_CURRENT = listed("current present existing")
_NEW = listed("new next future")
#: What puts the words behind it into the past, a few words away.
_LONG_AGO = (
    any_of(
        """used to, formerly, previously, in the past, back when, until recently, till recently, so far, until now
        till now, up to now, before that, before this, moved out, moving out, would have, i wish, was going to
        were going to, was supposed to, had planned"""
    )
    + r"|(?<!have )(?<!has )(?<!'ve )(?:lived|resided|was\s+living|were\s+living)"
)
_PAST = re.compile(rf"\b(?:{_LONG_AGO})\b")
_NOW = re.compile(r"(?<!until )(?<!till )(?<!to )(?<!before )\b(?:now|nowadays|today|currently|these\s+days)\b")
#: The same, where it stands right before the value: "I was in", "I left", "we had the".
_PAST_NEXT = re.compile(
    r"\b(?:(?:i|we|he|she|they)\s+(?:was|were)\s+(?:based\s+|staying\s+)?(?:in|at|on|with)|left)"
    r"(?:\s+(?:my|our|the))?\s*$"
)
_HAD = re.compile(r"\bhad\s+(?:the|a|an|my|our)\s*$")
#: … for what is neither a day nor a number; and for numbers alone.
_LEFT_BEHIND = re.compile(r"\b(?:leaving|leave|selling|sold|vacating)(?:\s+(?:my|our|the|from))?\s*$")
_LAST_TIME = re.compile(r"\blast\s+(?:year|month|week|time|summer|winter)\b")
#: Where a change begins; the field of a beginning takes just that.
_FROM = r"\s+(?:(?!to\b|and\b)\w+\s+){0,4}(?:from|out\s+of)(?:\s+(?:my|our|the))?\s*$"
_CHANGED = r"(?:switch|chang|upgrad)(?:e|ed|ing)?"
_AWAY_FROM = re.compile(rf"\b(?:mov(?:e|ed|ing)|came|gone|going|{_CHANGED}){_FROM}")
#: … but a stay goes from day to day, and both are meant.
_DAY_CHANGED_FROM = re.compile(rf"\b(?:move\s+(?:it|this|that)|{_CHANGED}){_FROM}")
#: "my address was …" says what it was; "my order number was …" says it again.
_OWN_WAS = re.compile(r"\b(?:my|our)\s+(?P<name>\S+(?:\s+\S+){0,3}?)\s+(?:was|were)(?:\s+(?:in|at))?\s*$")
_PAST_BEHIND = re.compile(
    r"\s*(?:\((?:the\s+)?(?:old|former|previous)|previously|formerly|in\s+the\s+past|back\s+then"
    r"|until\s+(?:recently|now|last)|any\s?(?:more|longer)|so\s+far|(?:until|till|up\s+to)\s+now"
    r"|before(?:\s+(?:that|this|now))?(?=\s*(?:$|[.,;!?\n]))"
    r"|(?:is|was)\s+where\s+(?:i|we)\s+(?:used\s+to|lived|was|were))\b"
)
#: A value called by an adjective of time: "my old flat in …", "the former one is …".
_BETWEEN = r"(?:\s+(?!(?:new|now|and|to|into|but|or|with)\b)[\w'-]+){0,4}[\s:=]*$"
_CALLED = {
    kind: re.compile(rf"\b(?:{'|'.join(sorted(words))})\b{_BETWEEN}")
    for kind, words in (("old", _OLD), ("current", _CURRENT), ("new", _NEW))
}
_IS_CALLED = {
    kind: re.compile(rf"\s*(?:is|was|are|were)\s+(?:(?:my|our|the|an?)\s+)?(?:{'|'.join(sorted(words))})\b")
    for kind, words in (("old", _OLD), ("current", _CURRENT), ("new", _NEW))
}
_COPULA = re.compile(r"\b(?:is|was|are|were)\b|[:=]")
_WORD = re.compile(r"[^\W_]+")

# --- bounds and exclusions ---------------------------------------------------------------------------------------

_SOFTENED = r"(?:\s+(?:the|a|on|about|around|approximately|roughly|maybe|only|just|of))*\s*$"
#: What bounds the value right behind it.
_LIMITS = any_of(
    """than, at least, at most, up to, as much as, as many as, as late as, as early as, since, until, till, before
    after, prior to, ahead of, within, under, below, above, beyond, exceeding, in addition to, between
    between \\S+ (?:\\w+ )?and, min, minimum, minimum of, max, maximum, maximum of"""
)
_BOUND = re.compile(rf"(?:\b{_LIMITS}|[<>≤≥~]){_SOFTENED}")
#: The same for dates, and for numbers: "by card" and "over 24 months" bound nothing.
_DATE_BOUND = re.compile(r"\b(?:by|(?:latest|earliest|soonest|deadline)(?:\s+\w+){0,2})" + _SOFTENED)
_NUMBER_BOUND = re.compile(r"(?:\b(?:over|almost|nearly|not\s+quite))" + _SOFTENED)
_BOUND_BEHIND = re.compile(
    r"\s*(?:\+(?!\w)|or\s+(?:(?:any\s?(?:thing|time|day)|even)\s+)?(?:more|less|fewer|later|earlier|sooner|before|after"
    r"|above|below|higher|lower|over|under|up|upwards?|onwards?|older|newer)\b(?!\s+\d)"
    r"|and\s+(?:up|upwards?|above|onwards?|later)\b"
    r"|(?:at\s+)?(?:the\s+)?(?:(?:very\s+)?(?:latest|earliest|soonest)|minimum|maximum|max|min|tops)\b"
    r"|at\s+(?:most|least)\b|(?:on|up)wards?\b)"
)
#: "any day but", "skip": all the others are meant.
_ALL_BUT = re.compile(
    r"\b(?:but|exclude|omit|skip|forget(?:\s+about)?|drop|remove|scrap|leave\s+out|unless)"
    r"(?:\s+(?:on|in|at|for|the))*\s*$"
)
_TRAILING_NO = r",?\s*(?:no|nope|never|no\s+longer|not\s+any\s?more)(?=\s*(?:$|[.!;\n]))"
_OUT_OF_QUESTION = re.compile(
    r"\s*(?:(?:excluded|excepted|aside|has\s+(?:already\s+|long\s+)?passed"
    r"|(?:is|was|are|were|'s)\s+(?:far\s+|much\s+|already\s+|long\s+)*(?:too\s+\w+|impossible|unavailable|taken|bad"
    r"|no\s+(?:good|use|option)|gone|over|past|history|outdated|obsolete|excluded|off\s+the\s+table|a\s+mistake)"
    r"|(?:would|will|ca|could|should|must|do|were)n'?t|(?:can|could|will|would|does|do|did|must|should)\s?not)\b"
    rf"|{_TRAILING_NO})"
)
#: Of the thing that a number names: "I never got …", "… has not arrived". The number itself is denied in other words.
_DID_NOT_HAPPEN = re.compile(
    r"(?:n'?t|\b(?:not|never|cannot))\s+(?:(?:yet|ever|even|been)\s+)*(?:get|got|gotten|receiv\w+|arriv\w+|come|came"
    r"|see|seen|find|found|track\w*|open\w*|deliver\w*|shipped|sent|like|liked|happy)\b"
)
_DENIED_ID = re.compile(
    r"\s*(?:(?:(?:is|was|'s)(?:n'?t|\s+(?:definitely\s+)?not)?|no\s+longer)\s+(?:wrong|incorrect|false|right|correct|it"
    rf"|mine|valid|a\s+mistake|the\s+(?:right|correct|one))\b|{_TRAILING_NO})"
)
#: An answer that begins so is about something else than what was asked.
_BEGINS = re.compile(
    rf"(?:(?:it|that|this|mine|the|my)\s+)?(?:{_LONG_AGO}|{_LIMITS}|[<>≤≥~]|(?:more|less|fewer|\w+er)\s+than"
    rf"|(?:{'|'.join(sorted(_OLD))})(?:\s+(?:one|\w+\s+(?=is|was)))?\s*(?:[:=]|is\b|was\b)"
    r"|(?:any|every)\w*\s+(?:\w+\s+)?but)\s*\b"
)


def says_otherwise(answer: str, field: Field) -> bool:
    """True for an answer, folded, that begins with what it is not: "not …", "used to be …", "before …", "the old: …".

    Never for a field that holds sentences: a reason may begin as it likes.
    """
    if any(word in PROSE for label in field.labels for word in label):
        return False
    return (_BEGINS.match(answer) or DENIES.match(answer)) is not None


def unmeant(reading: Reading, field: Field, start: int, end: int, begins: int | None = None) -> bool:
    """True when the clause denies the value that stands there, leaves it in the past, bounds it, excludes it, or gives
    it to something else.

    `begins`: where its evidence begins, if that is before the value: at its name, at "from".
    """
    begins = start if begins is None else begins
    denied = reading.denied(begins, end) or _excluded(reading, begins, end)
    if denied and not (identifies(field) and _of_the_thing(reading, begins, end)):
        return True
    if begins == start and of_something_else(reading, field, start, end):
        return True
    return bounded(reading, field, begins, end) or _past(reading, field, begins, start, end)


def _of_the_thing(reading: Reading, begins: int, end: int) -> bool:
    """True for "I never got order 48392", "48392 has not come": the thing did not come, its number stands."""
    before = reading.before(begins)
    if _DENIED_ID.match(reading.text, end) or _ALL_BUT.search(before):
        return False
    return _DID_NOT_HAPPEN.search(before) is not None or not (DENIES.search(before) or DENIES_NEXT.search(before))


def bounded(reading: Reading, field: Field, begins: int, end: int) -> bool:
    """True for a limit in the place of a value: "before …", "at least …", "… or later"."""
    before = reading.before(begins)
    if _BOUND.search(before) or _BOUND_BEHIND.match(reading.text, end):
        return True
    if field.format in DATES:
        return _DATE_BOUND.search(before) is not None
    return numeric(field) and _over(field, before)


def _over(field: Field, before: str) -> bool:
    """ "over 10 seats" bounds; "5000 over 24 months" tells how long."""
    match = _NUMBER_BOUND.search(before)
    lasts = any(UNITS.get(unit) == UNITS["month"] for unit in units_of(field))
    return match is not None and not (lasts and match.group().startswith("over") and before[: match.start()].strip())


def _excluded(reading: Reading, begins: int, end: int) -> bool:
    return _ALL_BUT.search(reading.before(begins)) is not None or _OUT_OF_QUESTION.match(reading.text, end) is not None


def _past(reading: Reading, field: Field, begins: int, start: int, end: int) -> bool:
    reach = _NOW.split(reading.reach(begins))[-1]
    if _PAST.search(reach) or _PAST_NEXT.search(reach) or _PAST_BEHIND.match(reading.text, end):
        return True
    away = _DAY_CHANGED_FROM if field.format in DATES else _AWAY_FROM
    if not leads_from(field) and away.search(reach):
        return True
    if spellings(field) and _HAD.search(reach):
        return True
    if numeric(field) and (_LAST_TIME.search(reach) or _LAST_TIME.match(reading.text, end + 1)):
        return True
    if not (numeric(field) or field.format in DATES) and _LEFT_BEHIND.search(reach):
        return True
    return _was(reading, field, start) or _of_another_time(reading, field, begins, start, end)


def _was(reading: Reading, field: Field, start: int) -> bool:
    """True for "my city was Dallas": a thing of one's own that is told as it was. Dates and ids stay what they were."""
    match = _OWN_WAS.search(reading.before(start))
    if match is None or field.format in DATES:
        return False
    name = tuple(_WORD.findall(match["name"]))
    return bool(name) and name[-1] not in GENERIC and any(run_in(label, name) for label in field.labels)


def _of_another_time(reading: Reading, field: Field, begins: int, start: int, end: int) -> bool:
    """True for "my old address is …", unless the field is the old one; for the new one the current is another too."""
    said = {word for label in field.labels for word in label}
    kinds = []
    if not (leads_from(field) or said & (_OLD | _CURRENT)):
        kinds.append("old")
        if leads_to(field) or said & _NEW:
            kinds.append("current")
    elif not said & _NEW:
        kinds.append("new")
    before = reading.before(begins)
    for kind in kinds:
        if _IS_CALLED[kind].match(reading.text, end):
            return True
        match = _CALLED[kind].search(before)
        if match and _its_own(reading.text[begins - len(before) + match.start() : start], field):
            return True
    return False


def _its_own(said: str, field: Field) -> bool:
    """True when the adjective speaks of the value: "cancel my old order 48392" speaks of the thing it names."""
    if not identifies(field):
        return True
    return _COPULA.search(said) is not None or any(word in GENERIC for word in _WORD.findall(said))
