"""Values that belong to something other than the field: another event, person, or kind of number (R10).

Only the words beside the value decide, and not if the field's own words name that thing.
"""

import re

from convengine.engine.forms.choices import list_spellings
from convengine.engine.forms.extract.directions import leads_to
from convengine.engine.forms.extract.language import UNITS
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.units import identifies, singularize
from convengine.engine.forms.form import Field
from convengine.engine.text.words import split_list

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
    word: re.compile(rf"\b(?:{said})(?:\s+(?:number|no|nr|code|id)\.?)?\s*(?:[:=#]|(?:is|was)\b)?\s*$")
    for word, said in _OTHER_NUMBERS.items()
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
        return any(said.search(before) and own.isdisjoint(field.words) for said, own in _EVENTS)
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
    if any(said.search(before) and word not in field.words for word, said in _NAMED.items()):
        return True
    unit = reading.word_after(end)
    measured = unit is not None and singularize(unit.group(1)) in _MEASURED
    return measured or _LIVES_IN.search(before) is not None or _MEASURES.search(before) is not None


def _is_dwelling(reading: Reading, before: str, start: int, end: int) -> bool:
    if _DWELLS.search(before):
        return True
    called = _OLD_PLACE.search(reading.text, max(0, start - _FAR), start)
    return called is not None and _ENDS_HERE.match(reading.text, end) is not None
