"""Options that are no choice: words of a street, "9 Station Road", and of a place, "outside the station"."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from convengine.engine.forms.extract.candidate import ANSWER, DIRECTION, LABEL, X_EXTRACT, Candidate
from convengine.engine.forms.extract.directions import leads_from, leads_to
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.form import Field
from convengine.engine.values import Kind, names_day
from convengine.engine.values.language import get_language, list_languages
from convengine.engine.values.names import is_name_field
from convengine.engine.values.tokens import fold_text

#: Readings whose words name the field.
_NAMING = (LABEL, DIRECTION, X_EXTRACT)
#: Parts of a message, the number of a house at one end of its street, and the words of streets.
_PART = re.compile(r"[^,;\n]+")
_HOUSE_NUMBER = re.compile(r"^\d{1,4}[a-z]?\b|\b\d{1,4}\s?[a-z]?$")
_STREETS = ("street_words", "house_words")
_LONGEST_STREET = 4
_EDGES = " ."
#: The town behind a street, with its post code: ", Leeds", ", 10115 Berlin".
_TOWN = re.compile(r",\s+(?:\d{5}\s+)?[A-ZÄÖÜ][\w'-]+(?:\s[A-Z0-9ÄÖÜ][\w'-]*){0,3}(?=\s*(?:$|[.;!,])|\s+[a-z])")
#: The number of a house before its street.
_NUMBER = re.compile(r"\b\d+[a-z]?\s+$")


def asks_for_text(field: Field | None, locale: str) -> bool:
    """True when words that are an option elsewhere may answer: a text that is no name."""
    return field is not None and field.spec.kind is Kind.TEXT and not is_name_field(field.spec, get_language(locale))


def asks_for_place(field: Field | None, locale: str) -> bool:
    """True when a place may answer: a text whose title or question asks for one.

    For "What should be done?" the answer is "cut by Anna", and Anna is an option.
    """
    if field is None or not asks_for_text(field, locale):
        return False
    words = {*field.spec.words, *field.spec.question}
    return any(get_language(code).is_in("place_words", word) for code in list_languages() for word in words)


def drop_places(reading: Reading, candidates: Sequence[Candidate], *, is_place_asked: bool) -> list[Candidate]:
    """The candidates without options that are words of a street, or of a place where one is asked for."""
    return [
        candidate
        for candidate in candidates
        if candidate.field.spec.kind is not Kind.CHOICE
        or candidate.by in _NAMING
        or not _is_place(reading, candidate.start, candidate.end, is_place_asked=is_place_asked)
    ]


def _is_place(reading: Reading, start: int, end: int, *, is_place_asked: bool) -> bool:
    if _compile_streets("street_words").match(reading.text, end):
        return True
    if match := _compile_streets("house_words").match(reading.text, end):
        # "3 Station Close", but "1 gold ring".
        has_number = _NUMBER.search(reading.before(start)) is not None
        return is_place_asked or (has_number and reading.quote(match.start() + 1, match.end())[:1].isupper())
    if not is_place_asked or _names_time(reading.quote(start, end)):
        return False
    return _compile_place_words().search(reading.before(start)) is not None


def _names_time(words: str) -> bool:
    """True for a weekday and a part of the day: "am Abend" is no place."""
    slots = [get_language(code).slots[slot] for code in list_languages() for slot in ("weekday", "part", "time_name")]
    return any(fold_text(words) in (slot.values or {}) for slot in slots)


@cache
def _compile_streets(table: str) -> re.Pattern[str]:
    return re.compile(rf"[ -](?:{_join_words(table)})\b")


@cache
def _compile_place_words() -> re.Pattern[str]:
    articles = _join_words("place_articles")
    return re.compile(rf"\b(?:{_join_words('place_prepositions')})\s+(?:(?:{articles})\s+)?$")


def _join_words(table: str) -> str:
    """An alternation of the words of a table in all languages, without accents as in the text of a reading."""
    words = {word for code in list_languages() for word in get_language(code).words[table]}
    folded = {Reading(word).text for word in words}
    return "|".join(re.escape(word) for word in sorted(folded, key=lambda word: (-len(word), word)))


def read_listed_street(reading: Reading, fields: Sequence[Field], claims: Sequence[Candidate]) -> Candidate | None:
    """The street beside other answers, for the only field that asks for one: "79102, Habsburgerstr. 17"."""
    asking = [field for field in fields if _asks_for_street(field)]
    if len(asking) != 1 or not claims or any(claim.problem for claim in claims):
        return None
    text = reading.text
    for claim in claims:
        start, end = _find_words(text, claim)
        text = text[:start] + "," * (end - start) + text[end:]
    parts = [match for match in _PART.finditer(text) if _is_street(match.group().strip(_EDGES))]
    if len(parts) != 1:
        return None
    part = parts[0].group()
    start = parts[0].start() + len(part) - len(part.lstrip(_EDGES))
    end = start + len(part.strip(_EDGES))
    return Candidate(asking[0], start, end, reading.quote(start, end), ANSWER)


def read_street_pair(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """The streets of "from 12 Mill Lane to 4 High Street", for the only two open fields that ask for a place."""
    asking = [
        field
        for field in fields
        if not field.spec.long
        and all(asks_for_place(field, code) or _asks_for_street(field) for code in list_languages())
    ]
    match = _compile_street_pairs().search(reading.text) if len(asking) == 2 else None
    if match is None or reading.is_question(match.start()) or reading.is_denied(match.start(), match.end()):
        return
    if leads_to(asking[0]) or leads_from(asking[1]):
        asking.reverse()
    for field, name in zip(asking, ("source", "target"), strict=True):
        start, end = match.start(name), _find_end_of_town(reading, match.end(name))
        yield Candidate(field, start, end, reading.quote(start, end), DIRECTION)


def _find_end_of_town(reading: Reading, end: int) -> int:
    """The end of the town behind a street: "12 Mill Lane, Leeds"."""
    town = _TOWN.match(reading.quote(end, len(reading.text)))
    if town is None or reading.is_shouting or any(names_day(town.group(), code) for code in list_languages()):
        return end
    return end + town.end()


@cache
def _compile_street_pairs() -> re.Pattern[str]:
    name = f"{_compile_street_names().pattern}|{_join_words('more_street_words')}"
    street = rf"\d+[a-z]?\s+(?:[\w'-]+\s+){{0,3}}(?:{name})\b|(?:[\w.-]+\s+){{0,2}}?(?:{name})\.?\s+\d+\s?[a-z]?\b"
    source, target = (_join_words(table) for table in ("source_leads", "target_leads"))
    return re.compile(rf"\b(?:{source})\s+(?P<source>{street})(?:\W+\w+){{0,5}}?\W+(?:{target})\s+(?P<target>{street})")


def _find_words(text: str, claim: Candidate) -> tuple[int, int]:
    """Where the words of a claim are: of a post code that is the whole answer, the code."""
    words = str(claim.value).casefold()
    at = text.find(words, claim.begins, claim.end)
    return (claim.begins, claim.end) if at < 0 else (at, at + len(words))


def _asks_for_street(field: Field) -> bool:
    words = (*field.spec.words, *field.spec.question)
    languages = [get_language(code) for code in list_languages()]
    asks = any(language.is_in("street_fields", word) for language in languages for word in words)
    return asks and field.spec.kind is Kind.TEXT and not field.spec.long and "mail" not in words


def _is_street(text: str) -> bool:
    """True for a few words with a house number, if a word ends as street names do."""
    number = _HOUSE_NUMBER.search(text)
    name = f"{text[: number.start()]} {text[number.end() :]}".split() if number else []
    is_name = 0 < len(name) <= _LONGEST_STREET and not any(char.isdigit() for word in name for char in word)
    return is_name and any(_compile_street_names().fullmatch(word.strip(".")) for word in name)


@cache
def _compile_street_names() -> re.Pattern[str]:
    """The words of streets: "lane", and where words are joined also "Rosenweg"."""
    languages = [get_language(code) for code in list_languages()]
    words = [
        (r"\w*" if language.words.get("joins_words") else "") + re.escape(Reading(word).text)
        for language in languages
        for table in _STREETS
        for word in language.words[table]
    ]
    return re.compile("|".join(words))
