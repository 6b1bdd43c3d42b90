"""Values that are mentioned but not meant: denied, past, limits, exclusions, or of another subject (R10).

The words of the same clause decide. "now" and "new" end the past.
"""

import re

from convengine.engine.forms.extract.directions import leads_from, leads_to
from convengine.engine.forms.extract.language import (
    DENIES,
    DENIES_NEXT,
    GENERIC,
    OWNS,
    PROSE,
    UNITS,
    compile_alternatives,
)
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.typed_values import identifies, is_numeric, list_units, singularize
from convengine.engine.forms.form import Field
from convengine.engine.forms.spellings import list_spellings
from convengine.engine.text.words import occurs_in, split_list
from convengine.engine.values.numbers import asks_for_limit

#: How many characters before a value are searched.
_FAR = 60
_TO_VALUE = r"(?:\s+(?:on|at|in|of|from|the|dated))*\s*$"
#: Other events than the field's date: words that name them, and words of fields that mean exactly them.
_EVENTS = (
    (
        re.compile(rf"\b(?:born|birthday(?:\s+(?:is|was))?|birth){_TO_VALUE}"),
        split_list("birth birthday birthdate born dob"),
    ),
    (
        re.compile(
            rf"\b(?:end|ends|ended|ending|expires?|expired|expiring|runs?\s+out|ran\s+out|terminates?|terminated){_TO_VALUE}"
        ),
        split_list(
            "end ends ended ending expiry expires expiration expire until termination terminated to last checkout"
        ),
    ),
    (
        re.compile(
            r"\b(?:invoice|bill|receipt|statement|letter|e-?mail|message|reminder)s?"
            r"\s+(?:(?:is|was|are|were|came|arrived|sent)\s+)?(?:from|of|dated|on)(?:\s+the)?\s*$"
        ),
        split_list("invoice bill billing receipt statement letter mail email message reminder payment issued"),
    ),
)
#: Something that the user already has, in a choice still to be made.
_HAS = r"\b(?:i|we)(?:'m|'re|'ve)?\s+(?:(?:am|are|have|had)\s+)?"
_STILL = r"(?:currently|presently|still|already|at\s+the\s+moment|right\s+now|at\s+present|now)"
_HAS_NOW = re.compile(
    rf"{_HAS}{_STILL}\s+(?:(?:have|has|got|on|using|use|with|paying(?:\s+for)?|pay(?:\s+for)?)\s+)+"
    r"(?:(?:the|a|an|my|our)\s+)?$"
)
_HAS_THIS = re.compile(r"\b(?:i|we)(?:\s+(?:have|use)|(?:'m|'re|\s+am|\s+are)\s+on)\s+(?:(?:the|a|an|my|our)\s+)?$")
_NOW_BEHIND = re.compile(
    r"(?:\s+(?:plan|tariff|rate|contract|one))?\s+(?:currently|at\s+the\s+moment|right\s+now|at\s+present)\b"
)
#: The user's present home is not the future one.
_DWELLS = re.compile(
    r"\b(?:i|we)\s+(?:(?:now|currently|still|presently|both|all)\s+)*(?:live|reside|stay|dwell)"
    r"(?:\s+(?:now|currently|still))?\s+(?:at|in|on)\s*$|\b(?:i'm|we're|i\s+am|we\s+are)\s+"
    r"(?:(?:now|currently|still)\s+)*(?:living|staying|residing)(?:\s+(?:now|currently|still))?\s+(?:at|in|on)\s*$"
)
#: "my old place, 5 Mill Lane": the description comes before the value.
_OLD_PLACE = re.compile(
    r"\b(?:old|former|previous|prior|current|present|existing)\s+(?:address|place|home|house|flat|apartment|residence)"
    r"\s*[,:(–-]\s*(?:(?:at|in|which\s+is|that\s+is|i\.e\.)\s+)?$"
)
_ENDS_HERE = re.compile(r"\s*(?:$|[,.;!?)\n])")
#: Something of the other side, or of another person.
_YOURS = re.compile(r"\byour\s+(?:(?!to\b|at\b|via\b|is\b|for\b|with\b)\w+\s+){0,3}$")
_DID = re.compile(
    r"\s+(?:has\s+|have\s+|had\s+)?(?:told|said|wrote|sent|asked|mailed|emailed|called|answered|replied)\b"
)
#: Another kind of number, named right before it.
_OTHER_NUMBERS = {
    "zip": "zip(?:\\s?code)?|post(?:al)?\\s?code|postcode|plz",
    "phone": "(?:tele)?phone|mobile|cell|fax",
    "account": "account|iban|bank\\s+account",
    "customer": "customer",
    "pin": "pin|password|passcode",
    "house": "house|street|flat|apartment|room|floor|box",
    "year": "year",
}
_NAMED = {
    word: re.compile(rf"\b(?:{noun})(?:\s+(?:number|no|nr|code|id)\.?)?\s*(?:[:=#]|(?:is|was)\b)?\s*$")
    for word, noun in _OTHER_NUMBERS.items()
}
_LIVES_IN = re.compile(
    r"\b(?:lives?|living|lived|reside|based|located|deliver(?:ed)?|ship(?:ped)?|moved?|moving)\s+(?:in|at|to)\s*$"
)
_MEASURES = re.compile(
    r"\b(?:reads?|reading(?:\s+(?:is|was|of))?|shows?|showed|stands\s+at|costs?|paid|pay|charged|worth|price(?:\s+(?:is|was))?)"
    r"(?:\s+(?:me|us|about|only|exactly|almost|the|a))*\s*$"
)
_MEASURED = split_list("kwh mwh wh kw watt volt amp cent euro dollar pound rupee usd eur gbp inr buck") | frozenset(
    UNITS
)


def is_of_other_subject(reading: Reading, field: Field, start: int, end: int) -> bool:
    """True when the words around an unlabelled value assign it to something else."""
    before = reading.before(start)
    if field.format in ("date", "date-time"):
        return any(pattern.search(before) and own.isdisjoint(field.words) for pattern, own in _EVENTS)
    if field.format in ("email", "phone"):
        return _YOURS.search(before) is not None or _DID.match(reading.text, end) is not None
    if list_spellings(field):
        return _is_already_had(reading, field, before, end)
    if identifies(field) and reading.text[start:end].isdigit():
        return _is_other_number(reading, field, before, end)
    return leads_to(field) and _is_dwelling(reading, before, start, end)


def _is_already_had(reading: Reading, field: Field, before: str, end: int) -> bool:
    if not field.words.isdisjoint(("current", "present", "existing", "old")):
        return False
    if _HAS_NOW.search(before):
        return True
    return _HAS_THIS.search(before) is not None and _NOW_BEHIND.match(reading.text, end) is not None


def _is_other_number(reading: Reading, field: Field, before: str, end: int) -> bool:
    if any(pattern.search(before) and word not in field.words for word, pattern in _NAMED.items()):
        return True
    unit = reading.word_after(end)
    measured = unit is not None and singularize(unit.group(1)) in _MEASURED
    return measured or _LIVES_IN.search(before) is not None or _MEASURES.search(before) is not None


def _is_dwelling(reading: Reading, before: str, start: int, end: int) -> bool:
    if _DWELLS.search(before):
        return True
    called = _OLD_PLACE.search(reading.text, max(0, start - _FAR), start)
    return called is not None and _ENDS_HERE.match(reading.text, end) is not None


DATES = ("date", "date-time")

# --- the past ----------------------------------------------------------------------------------------------------

_OLD = split_list("old former previous prior earlier ex original")
_CURRENT = split_list("current present existing")
_NEW = split_list("new next future")
#: Puts the next words into the past, up to a few words later.
_LONG_AGO = (
    compile_alternatives(
        """used to, formerly, previously, in the past, back when, until recently, till recently, so far, until now
        till now, up to now, before that, before this, moved out, moving out, would have, i wish, was going to
        were going to, was supposed to, had planned"""
    )
    + r"|(?<!have )(?<!has )(?<!'ve )(?:lived|resided|was\s+living|were\s+living)"
)
_PAST = re.compile(rf"\b(?:{_LONG_AGO})\b")
_NOW = re.compile(r"(?<!until )(?<!till )(?<!to )(?<!before )\b(?:now|nowadays|today|currently|these\s+days)\b")
#: The same right before the value: "I was in", "I left", "we had the".
_PAST_NEXT = re.compile(
    r"\b(?:(?:i|we|he|she|they)\s+(?:was|were)\s+(?:based\s+|staying\s+)?(?:in|at|on|with)|left)"
    r"(?:\s+(?:my|our|the))?\s*$"
)
_HAD = re.compile(r"\bhad\s+(?:the|a|an|my|our)\s*$")
#: … for values that are neither days nor numbers; and for numbers alone.
_LEFT_BEHIND = re.compile(r"\b(?:leaving|leave|selling|sold|vacating)(?:\s+(?:my|our|the|from))?\s*$")
_LAST_TIME = re.compile(r"\blast\s+(?:year|month|week|time|summer|winter)\b")
#: The start of a change; only a source field takes it.
_FROM = r"\s+(?:(?!to\b|and\b)\w+\s+){0,4}(?:from|out\s+of)(?:\s+(?:my|our|the))?\s*$"
_CHANGED = r"(?:switch|chang|upgrad)(?:e|ed|ing)?"
_AWAY_FROM = re.compile(rf"\b(?:mov(?:e|ed|ing)|came|gone|going|{_CHANGED}){_FROM}")
#: … but a stay lasts from day to day, and both are meant.
_DAY_CHANGED_FROM = re.compile(rf"\b(?:move\s+(?:it|this|that)|{_CHANGED}){_FROM}")
#: "my address was …" is past; "my order number was …" repeats a number.
_OWN_WAS = re.compile(r"\b(?:my|our)\s+(?P<name>\S+(?:\s+\S+){0,3}?)\s+(?:was|were)(?:\s+(?:in|at))?\s*$")
_PAST_BEHIND = re.compile(
    r"\s*(?:\((?:the\s+)?(?:old|former|previous)|previously|formerly|in\s+the\s+past|back\s+then"
    r"|until\s+(?:recently|now|last)|any\s?(?:more|longer)|so\s+far|(?:until|till|up\s+to)\s+now"
    r"|before(?:\s+(?:that|this|now))?(?=\s*(?:$|[.,;!?\n]))"
    r"|(?:is|was)\s+where\s+(?:i|we)\s+(?:used\s+to|lived|was|were))\b"
)
#: A value with an adjective of time: "my old flat in …", "the former one is …".
_BETWEEN = r"(?:\s+(?!(?:new|now|and|to|into|but|or|with)\b)[\w'-]+){0,4}[\s:=]*$"
_CALLED = {
    # "An old upright" is described, and not of another time.
    kind: re.compile(rf"(?<!\ba )(?<!\ban )\b(?:{'|'.join(sorted(words))})\b{_BETWEEN}")
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
#: Makes the next value a limit.
_LIMITS = compile_alternatives(
    """than, at least, at most, up to, as much as, as many as, as late as, as early as, since, until, till, before
    after, prior to, ahead of, within, under, below, above, beyond, exceeding, in addition to, between
    between \\S+ (?:\\w+ )?and, (?<!\\d\\s)min, minimum, minimum of, max, maximum, maximum of"""
)
_BOUND = re.compile(rf"(?:\b{_LIMITS}|[<>≤≥~]){_SOFTENED}")
#: The same for dates, and for numbers: "by card" and "over 24 months" are no limits.
_DATE_BOUND = re.compile(r"\b(?:by|(?:latest|earliest|soonest|deadline)(?:\s+\w+){0,2})" + _SOFTENED)
_NUMBER_BOUND = re.compile(r"(?:\b(?:over|almost|nearly|not\s+quite))" + _SOFTENED)
_BOUND_BEHIND = re.compile(
    r"\s*(?:\+(?!\w)|or\s+(?:(?:any\s?(?:thing|time|day)|even)\s+)?(?:more|less|fewer|later|earlier|sooner|before|after"
    r"|above|below|higher|lower|over|under|up|upwards?|onwards?|older|newer)\b(?!\s+\d)"
    r"|and\s+(?:up|upwards?|above|onwards?|later)\b"
    r"|(?:at\s+)?(?:the\s+)?(?:(?:very\s+)?(?:latest|earliest|soonest)|minimum|maximum|max|min|tops)\b"
    r"|at\s+(?:most|least)\b|(?:on|up)wards?\b)"
)
#: "any day but", "skip": all others are meant.
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
#: Denies an event, not the number that names its object: "I never got …", "… has not arrived".
_DID_NOT_HAPPEN = re.compile(
    r"(?:n'?t|\b(?:not|never|cannot))\s+(?:(?:yet|ever|even|been)\s+)*(?:get|got|gotten|receiv\w+|arriv\w+|come|came"
    r"|see|seen|find|found|track\w*|open\w*|deliver\w*|shipped|sent|like|liked|happy)\b"
)
_DENIED_ID = re.compile(
    r"\s*(?:(?:(?:is|was|'s)(?:n'?t|\s+(?:definitely\s+)?not)?|no\s+longer)\s+(?:wrong|incorrect|false|right|correct|it"
    rf"|mine|valid|a\s+mistake|the\s+(?:right|correct|one))\b|{_TRAILING_NO})"
)
#: An answer that begins like this is about something else.
_BEGINS = re.compile(
    rf"(?:(?:it|that|this|mine|the|my)\s+)?(?:{_LONG_AGO}|{_LIMITS}|[<>≤≥~]|(?:more|less|fewer|\w+er)\s+than"
    rf"|(?:{'|'.join(sorted(_OLD))})(?:\s+(?:one|\w+\s+(?=is|was)))?\s*(?:[:=]|is\b|was\b)"
    r"|(?:any|every)\w*\s+(?:\w+\s+)?but)\s*\b"
)


#: The value of a field that asks for a limit: "max £250".
_UPPER = re.compile(r"\b(?:max|maximum|up to|at most|as much as)\W*$")
_LIMIT_WORD = re.compile(r"(?:max|min)\b")


def begins_with_negation(answer: str, field: Field) -> bool:
    """True for a folded answer that begins with a denial: "not …", "used to be …", "before …", "the old: …".

    Never for a field of sentences, because a reason may begin like that.
    """
    if any(word in PROSE for label in field.labels for word in label):
        return False
    if _LIMIT_WORD.match(answer) and not any(char.isdigit() for char in answer):
        return False  # Max is also a first name.
    return (_BEGINS.match(answer) or DENIES.match(answer)) is not None


def is_negated_or_hypothetical(reading: Reading, field: Field, start: int, end: int, begins: int | None = None) -> bool:
    """True when the clause denies the value, puts it into the past, makes it a limit, excludes it, or assigns it to
    something else.

    `begins`: where its evidence begins, if earlier: at its name, at "from".
    """
    begins = start if begins is None else begins
    denied = reading.is_denied(begins, end) or _is_excluded(reading, begins, end)
    if denied and not (identifies(field) and _is_about_thing(reading, begins, end)):
        return True
    if DENIES.search(reading.text[start:end]) and list_spellings(field):
        return False  # "She's never swum before" is the option "never swum".
    if begins == start and is_of_other_subject(reading, field, start, end):
        return True
    return is_bounded(reading, field, begins, end) or _is_in_past(reading, field, begins, start, end)


def _is_about_thing(reading: Reading, begins: int, end: int) -> bool:
    """True for "I never got order 48392", "48392 has not come": the number itself is not denied."""
    before = reading.before(begins)
    if _DENIED_ID.match(reading.text, end) or _ALL_BUT.search(before):
        return False
    return _DID_NOT_HAPPEN.search(before) is not None or not (DENIES.search(before) or DENIES_NEXT.search(before))


def is_bounded(reading: Reading, field: Field, begins: int, end: int) -> bool:
    """True for a limit instead of a value: "before …", "at least …", "… or later"."""
    before = reading.before(begins)
    if asks_for_limit(field.spec.words) and _UPPER.search(before):
        return False
    if _BOUND.search(before) or _BOUND_BEHIND.match(reading.text, end):
        return True
    if field.format in DATES:
        return _DATE_BOUND.search(before) is not None
    return is_numeric(field) and _is_lower_bound(field, before)


def _is_lower_bound(field: Field, before: str) -> bool:
    """ "over 10 seats" is a limit; "5000 over 24 months" is a duration."""
    match = _NUMBER_BOUND.search(before)
    lasts = any(UNITS.get(unit) == UNITS["month"] for unit in list_units(field))
    return match is not None and not (lasts and match.group().startswith("over") and before[: match.start()].strip())


def _is_excluded(reading: Reading, begins: int, end: int) -> bool:
    before = reading.before(begins)
    if _ALL_BUT.search(before):
        return True
    # "My dress is too tight" tells what is wrong with it.
    return _OUT_OF_QUESTION.match(reading.text, end) is not None and not OWNS.search(before)


def _is_in_past(reading: Reading, field: Field, begins: int, start: int, end: int) -> bool:
    reach = _NOW.split(reading.reach(begins))[-1]
    if _PAST.search(reach) or _PAST_NEXT.search(reach) or _PAST_BEHIND.match(reading.text, end):
        return True
    away = _DAY_CHANGED_FROM if field.format in DATES else _AWAY_FROM
    if not leads_from(field) and away.search(reach):
        return True
    if list_spellings(field) and _HAD.search(reach):
        return True
    if is_numeric(field) and (_LAST_TIME.search(reach) or _LAST_TIME.match(reading.text, end + 1)):
        return True
    if not (is_numeric(field) or field.format in DATES) and _LEFT_BEHIND.search(reach):
        return True
    return _is_told_as_past(reading, field, start) or _is_of_another_time(reading, field, begins, start, end)


def _is_told_as_past(reading: Reading, field: Field, start: int) -> bool:
    """True for "my city was Dallas": something of the user's own in the past. Dates and ids do not change."""
    match = _OWN_WAS.search(reading.before(start))
    if match is None or field.format in DATES:
        return False
    name = tuple(_WORD.findall(match["name"]))
    return bool(name) and name[-1] not in GENERIC and any(occurs_in(label, name) for label in field.labels)


def _is_of_another_time(reading: Reading, field: Field, begins: int, start: int, end: int) -> bool:
    """True for "my old address is …", unless the field is the old one. For a "new" field the current value is also
    another.
    """
    label_words = {word for label in field.labels for word in label}
    kinds = []
    if not (leads_from(field) or label_words & (_OLD | _CURRENT)):
        kinds.append("old")
        if leads_to(field) or label_words & _NEW:
            kinds.append("current")
    elif not label_words & _NEW:
        kinds.append("new")
    before = reading.before(begins)
    for kind in kinds:
        if _IS_CALLED[kind].match(reading.text, end):
            return True
        match = _CALLED[kind].search(before)
        if match and _describes_value(reading.text[begins - len(before) + match.start() : start], field):
            return True
    return False


def _describes_value(phrase: str, field: Field) -> bool:
    """True when the adjective belongs to the value. In "cancel my old order 48392" it belongs to the order."""
    if not identifies(field):
        return True
    return _COPULA.search(phrase) is not None or any(word in GENERIC for word in _WORD.findall(phrase))
