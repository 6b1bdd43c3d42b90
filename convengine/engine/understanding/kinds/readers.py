"""Numbers in digits that phrases of the tables have as slots: `{hour}`, `{day_number}`, `{year}`."""

from collections.abc import Iterator, Mapping, Sequence

from convengine.engine.understanding.grammar import ANY_WORD, Reader
from convengine.engine.understanding.words import Word

#: Longer runs of digits are codes.
_MOST_DIGITS = 12


def _read_digits(first: int, last: int, sizes: range) -> Reader:
    """A reader of one number in digits within bounds, both included, with these numbers of digits."""

    def read(words: Sequence[Word], start: int) -> Iterator[tuple[int, int]]:
        key = words[start].key if start < len(words) else ""
        if key.isdecimal() and len(key) in sizes and first <= int(key) <= last:
            yield start + 1, int(key)

    return read


def _read_early_hour(words: Sequence[Word], start: int) -> Iterator[tuple[int, int]]:
    key = words[start].key if start < len(words) else ""
    if len(key) == 2 and key.isdecimal() and key[0] == "0":
        yield start + 1, int(key)


def _read_joint(words: Sequence[Word], start: int) -> Iterator[tuple[int, int]]:
    """A time without a sign: "1630", and "330" where am or pm follows."""
    key = words[start].key if start < len(words) else ""
    follows = start + 1 < len(words) and words[start + 1].key in ("am", "pm", "a", "p")
    is_long = key.isdecimal() and (len(key) == 4 or (len(key) == 3 and follows))
    if is_long and int(key) // 100 < 24 and int(key) % 100 < 60:
        yield start + 1, int(key)


def _read_decimal(words: Sequence[Word], start: int) -> Iterator[tuple[int, float]]:
    """ "1.5" and "1,5"."""
    keys = [word.key for word in words[start : start + 3]]
    is_decimal = len(keys) == 3 and keys[0].isdecimal() and keys[1] in ".," and keys[2].isdecimal()
    is_glued = all(word.is_glued for word in words[start + 1 : start + 3])
    if is_decimal and is_glued and len(keys[0]) < 10 and len(keys[2]) < 4:
        yield start + 3, float(f"{keys[0]}.{keys[2]}")


def _read_numeral(words: Sequence[Word], start: int) -> Iterator[tuple[int, str]]:
    """A number in digits with its signs: `1.200,50`, `1 200`. Not part of a code, a time or a date."""
    if start >= len(words) or not words[start].is_number or len(words[start].key) > _MOST_DIGITS:
        return
    before = words[start - 1].key if start and words[start].is_glued else " "
    if before.isalnum() or before in "._/:@":
        return
    text, end = _join_blanks(words, *_join_signs(words, start))
    # No code as "007", and no signs that do not part thousands: "1.20.5".
    is_code = text[0] == "0" and len(text) > 1 and text.isdecimal()
    are_thousands = all(len(part) == 3 for part in text.replace(",", ".").split(".")[1:-1])
    if are_thousands and not is_code and not _goes_on(words, end):
        yield end, text


def _join_signs(words: Sequence[Word], start: int) -> tuple[str, int]:
    """The digits from a word on with the full stops and commas in them, and where they end: "1.250,50", "1'250"."""
    text, end = _join_apostrophes(words, start)
    while end + 1 < len(words) and words[end].key in ".," and words[end].is_glued and words[end + 1].is_glued:
        if not words[end + 1].is_number:
            break
        text, end = text + words[end].key + words[end + 1].key, end + 2
    return text, end


def _join_apostrophes(words: Sequence[Word], start: int) -> tuple[str, int]:
    """The digits with the thousands behind apostrophes."""
    text, end = words[start].key, start + 1
    while end + 1 < len(words) and words[end].key == "'" and words[end].is_glued and words[end + 1].is_glued:
        group = words[end + 1].key
        if not group.isdecimal() or len(group) != 3 or len(text) > _MOST_DIGITS or (end == start + 1 and len(text) > 3):
            break
        text, end = text + group, end + 2
    return text, end


def _join_blanks(words: Sequence[Word], text: str, end: int) -> tuple[str, int]:
    """The digits with the thousands behind blanks: "1 250 000", "1 250.50", and not "2000 500"."""
    if len(text) > 3 or not text.isdecimal():
        return text, end
    while end < len(words) and words[end].is_number and not words[end].is_glued and len(words[end].key) == 3:
        if len(text) >= _MOST_DIGITS:
            break
        group, behind = _join_signs(words, end)
        text, end = text + group, behind
        if not group.isdecimal():
            break
    return text, end


def _goes_on(words: Sequence[Word], end: int) -> bool:
    """True where a sign without a blank makes a code, a time or a date of a number; false for the "2" of "2-3"."""
    if end >= len(words) or not words[end].is_glued or words[end].key not in ("/", ":", "@", "-", "_"):
        return False
    keys = [word.key for word in words[end : end + 3]]
    is_range = keys[0] == "-" and len(keys) > 1 and keys[1].isdecimal() and keys[1][0] != "0" and keys[2:] != ["-"]
    return not is_range or (end > 1 and words[end - 1].is_glued and words[end - 2].key == "-")


def _read_any_word(words: Sequence[Word], start: int) -> Iterator[tuple[int, str]]:
    if start < len(words) and not words[start].is_sign:
        yield start + 1, words[start].key


#: By the name of the slot.
READERS: Mapping[str, Reader] = {
    "day_number": _read_digits(1, 31, range(1, 3)),
    "month_number": _read_digits(1, 12, range(1, 3)),
    "hour": _read_digits(0, 24, range(1, 3)),
    #: Of the distance from the time of Greenwich.
    "zone_hour": _read_digits(0, 14, range(1, 3)),
    "two_digits": _read_digits(0, 99, range(1, 3)),
    #: "09" of "09:15", which says that it is in the morning.
    "early_hour": _read_early_hour,
    "minute": _read_digits(0, 99, range(2, 3)),
    "year": _read_digits(1900, 2199, range(4, 5)),
    "short_year": _read_digits(0, 99, range(2, 3)),
    "joined_time": _read_joint,
    ANY_WORD: _read_any_word,
    "numeral": _read_numeral,
    "decimal": _read_decimal,
    "digits": _read_digits(0, 10**9, range(1, 10)),
}
