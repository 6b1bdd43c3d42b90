"""Find the end of a free-text value after "name:", "name is" or the bare name."""

import re

from convengine.engine.forms.convert import clean_value
from convengine.engine.forms.extract.language import CORRECTS, DENIES, DESCRIBES, EXPLICIT
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.text.words import FILLERS, split_list

#: Positions of field names in the text: start -> end.
Names = dict[int, int]

_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|«([^»\n]+)»|'([^'\n]+)'(?!\w)")
_TOKEN = re.compile(r"[^\s,;!?()\"]+")
_STOP = re.compile(r"[;\n]|[.!?]+(?=\s|$)")
_COMMA = re.compile(r",\s*")
#: "… and the amount is 5": the next statement is not part of the value.
_AND = re.compile(r"\s+and\s+")
_SAYS = re.compile(r"\b(?:is|are|was|i|i'm|i'd|we|you|my|want|need|please)\b")
_JOINT = re.compile(r"(?:,\s*|\s+and\s+(?:my\s+|the\s+)?|\s+)$")
#: Lower-case words inside names.
_PARTICLES = frozenset(
    {"de", "da", "del", "der", "den", "di", "du", "la", "le", "of", "van", "von", "und", "y", "&", "-"}
)
_PRONOUNS = frozenset({"i", "i'm", "i'd", "i've", "he", "she", "they", "who", "you", "we"})
_NO_VALUE = DESCRIBES | FILLERS | _PRONOUNS
#: Descriptive words that are also names when capitalised: "source city Nice".
_NAMES_TOO = split_list("nice short long small little strange best high old new great big")
#: Endings of descriptive words: broken, vibrating, delayed, really.
_DESCRIBING = re.compile(r".{2,}(?:ing|ed|ly|ken|len)")
_ID = re.compile(r"#?(?=[a-z-]*\d)[\w-]+(?:[./]\w+)*")
#: Words that may follow an id of digits; any other word is what the number counts.
_AFTER_ID = FILLERS | split_list(
    """please thanks thank thx pls plz but because was has had needs wants want would called here speaking now ok if"""
)


def find_end_after_sign(reading: Reading, start: int, names: Names) -> int | None:
    """The end of the value after "name:" or "name =": as far as possible."""
    if quoted := _QUOTED.match(reading.text, start):
        return quoted.end()
    stop = _STOP.search(reading.text, start)
    end = stop.start() if stop else len(reading.text)
    end = min(
        [end, *(_find_end_before_name(reading, start, name, names[name]) for name in names if start < name < end)]
    )
    for joint in _AND.finditer(reading.text, start, end):
        if _SAYS.search(reading.text, joint.end(), end):
            end = joint.start()
            break
    for comma in _COMMA.finditer(reading.text, start, end):
        if _is_parted(reading, comma.end(), end):
            end = comma.start()
            break
    return end if reading.text[start:end].strip() else None


def _find_end_before_name(reading: Reading, start: int, name: int, name_end: int) -> int:
    """The end of a value before the next field name. The name may belong to the value: "reason: wrong city"."""
    joint = _JOINT.search(reading.text[start:name])
    if joint and (EXPLICIT.match(reading.text, name_end) or joint.group().strip()):
        return start + joint.start()
    return len(reading.text)


def _is_parted(reading: Reading, start: int, end: int) -> bool:
    """True when the text after a comma does not belong to the value: "Anna, I need help"."""
    rest = reading.text[start:end]
    words = reading.words(start, end)
    if not words or words[0] in _NO_VALUE or CORRECTS.match(rest) or DENIES.match(rest):
        return True
    return len(words) > 4 or any(word in _PRONOUNS for word in words)


def find_end_after_verb(reading: Reading, start: int) -> int | None:
    """The end of the value in "my name is …": a proper name, an id, a quotation, or one to three plain words."""
    end = find_end_after_name(reading, start)
    if end is not None:
        return end
    _, last = reading.clause(start)
    joint = re.compile(r"\s+and\s").search(reading.text, start, last)
    last = joint.start() if joint else last
    value = clean_value(reading.text[start:last])
    words = value.split()
    plain = 1 <= len(words) <= 3 and not any(word in _NO_VALUE or _DESCRIBING.fullmatch(word) for word in words)
    return start + reading.text[start:last].index(value) + len(value) if plain and reading.is_shouting else None


def find_end_after_name(reading: Reading, start: int) -> int | None:
    """The end of the value in "name …": a proper name, an id or a quotation only."""
    if quoted := _QUOTED.match(reading.text, start):
        return quoted.end()
    end = None
    for token in _list_tokens(reading, start):
        word = token.group().rstrip(".")
        if end is None and word in _NO_VALUE and not _is_written_as_name(reading, token.start(), word):
            return None
        if _is_name(reading, token.start(), word):
            end = token.start() + len(word)
        elif word not in _PARTICLES or end is None:
            break
    return end if end is None else _find_end_of_pair(reading, end)


def _find_end_of_pair(reading: Reading, end: int) -> int:
    """The end of "Anna and Tim", if the second name ends the sentence."""
    joint = _AND.match(reading.text, end)
    stop = _STOP.search(reading.text, end)
    last = stop.start() if stop else len(reading.text.rstrip())
    words = list(_TOKEN.finditer(reading.text, joint.end(), last)) if joint else []
    names = all(_is_name(reading, match.start(), match.group()) for match in words)
    return words[-1].end() if 0 < len(words) <= 2 and names and words[-1].end() == last else end


def find_id_end(reading: Reading, start: int) -> int | None:
    """The end of an id after a shortened name: "customer 9912" for customerId."""
    match = _ID.match(reading.text, start)
    if match is None or reading.touches_structure(*match.span()):
        return None
    follows = reading.word_after(match.end())
    if match.group().lstrip("#").isdigit() and follows and follows.group(1) not in _AFTER_ID:
        return None
    return match.end()


def _list_tokens(reading: Reading, start: int) -> list[re.Match[str]]:
    _, last = reading.clause(start)
    return list(_TOKEN.finditer(reading.text, start, last))


def _is_name(reading: Reading, start: int, word: str) -> bool:
    if any(char.isdigit() for char in word) or _is_written_as_name(reading, start, word):
        return True
    return not reading.is_shouting and word not in _NO_VALUE and reading.quote(start, start + 1).isupper()


def _is_written_as_name(reading: Reading, start: int, word: str) -> bool:
    """True for "Nice" after a lower-case word. If every word has a capital, capitals say nothing."""
    before = reading.text[:start].split()
    if word not in _NAMES_TOO or not before or reading.quote(start, start + len(word)) != word.capitalize():
        return False
    last = reading.text.rindex(before[-1], 0, start)
    return not reading.quote(last, last + 1).isupper()
