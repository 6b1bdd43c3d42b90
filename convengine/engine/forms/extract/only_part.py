"""The only part of an answer that can be the asked value, when nobody understood the answer as a whole (R109).

Other readers know the words around a value. This one knows what must not be there: a question, a doubt, a condition, a
denial. It reads only while a form collects: the summary shows its values before anything is done with them.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from convengine.engine.forms.asking import asks_for_person, asks_to_wait, find_questions, is_phrase, knows_no_value
from convengine.engine.forms.extract import Extracted, Extraction, Rejected, extract
from convengine.engine.forms.extract.candidate import PART
from convengine.engine.forms.extract.correct_numbers import CLAUSE_GAP
from convengine.engine.forms.extract.labels import find_mentions
from convengine.engine.forms.extract.reading import Reading as TextReading
from convengine.engine.forms.form import Field, Form
from convengine.engine.values import Kind, ReadingSituation, find_values, finds_fault, names_day, read_value
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import Reading, Reason
from convengine.engine.values.tokens import fold_text

_MOMENTS = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION)
#: Longer answers tell a story.
_MAX_WORDS = 16
#: Longest value of these kinds, in words.
_MAX_VALUE = 8
#: Longest words of a limit before a value.
_LIMIT_REACH = 4
#: Most clauses of an answer, and most words of one that says nothing but a value.
_MAX_CLAUSES, _SHORT_CLAUSE = 4, 3
_CLAUSE = re.compile(r"[,;!–…]+\s*|(?<!\d)\.+(?=\s|$)|\.(?=\s+[^\W\d])|\s-\s|\n+")
#: Tables of words that say nothing beside a number.
_BESIDE_NUMBERS = ("fillers", "interjections", "sentence_words", "beside_lone_numbers")
#: Words in an answer that take its values back or leave them open.
_OPEN = ("doubts", "conditions", "waits")


def read_only_part(form: Form, field: Field, text: str, situation: ReadingSituation) -> Extraction:
    """The value of the asked field, or why the only one in the answer is refused; nothing if several are possible."""
    is_text = field.spec.kind is Kind.TEXT
    if is_text or "?" in text or find_questions(text) or _leaves_open(text, field, situation):
        return Extraction()
    if _makes_exception(text, situation):
        return Extraction()
    if (answer := _read_only_clause(form, field, text, situation)) is not None:
        return answer
    return _read_moment(field, text, situation) if field.spec.kind in _MOMENTS else Extraction()


def _read_only_clause(form: Form, field: Field, text: str, situation: ReadingSituation) -> Extraction | None:
    """The answer in the only clause that is one, or in the only short one: "two hundred, his mam has 9 sisters"."""
    clauses = [clause.strip() for clause in _split_clauses(text, situation) if clause.strip()]
    if not 1 < len(clauses) <= _MAX_CLAUSES:
        return None
    answers = []
    for clause in clauses:
        if _leaves_open(clause, field, situation):
            continue
        extraction = extract(form, clause, asked_paths=[field.path], missing=[field.path], situation=situation)
        answers += [(clause, item) for item in extraction.extracted if item.field == field.path]
    if len({str(item.value) for _, item in answers}) > 1:
        answers = [(clause, item) for clause, item in answers if len(clause.split()) <= _SHORT_CLAUSE]
    if len({str(item.value) for _, item in answers}) != 1:
        return None
    return Extraction((replace(answers[0][1], span=(0, len(text)), by=PART),))


def _split_clauses(text: str, situation: ReadingSituation) -> list[str]:
    clauses: list[str] = []
    for clause in CLAUSE_GAP.split(text):
        if clauses and clauses[-1][-1:].isdigit() and _begins_with_day(clause, situation):
            clauses[-1] += f". {clause}"  # "3. Mai"
        else:
            clauses.append(clause)
    return clauses


def _begins_with_day(text: str, situation: ReadingSituation) -> bool:
    first = text.split(maxsplit=1)[:1]
    return any(names_day(word, local.locale) for word in first for local in list_situations(situation))


def _makes_exception(text: str, situation: ReadingSituation) -> bool:
    """True for "anything but Thursday", and for a range: "between 4 and 6"."""
    for local in list_situations(situation):
        language = get_language(local.locale)
        tokens, phrases = language.read_tokens(text), _get_exceptions(language)
        if any(phrases.match_start(tokens.text, offset) for offset in tokens.offsets):
            return True
    return False


@lru_cache(maxsize=16)
def _get_exceptions(language: Language) -> PhraseSet:
    return PhraseSet([*language.words["exceptions"], *language.calendar["range_leads"]])


def refuses_value(text: str | None, field: Field, form: Form, situation: ReadingSituation) -> bool:
    """True for an answer that denies and gives nothing, which leaves an optional field empty: "I'd rather not say"."""
    text = text or ""
    if field.spec.kind in (Kind.YES_NO, Kind.CHOICE) or find_questions(text) or any(char in "?@" for char in text):
        return False
    if (
        any(map(str.isdigit, text))
        or _leaves_open(text, field, situation)
        or _is_about_other(text, field, form, situation)
    ):
        return False
    denies = False
    for local in list_situations(situation):
        language = get_language(local.locale)
        words = [token.text for token in language.read_tokens(text).tokens]
        if finds_fault(text, local.locale) or names_day(text, local.locale):
            return False
        if any(language.is_in("misunderstandings", word) for word in words):
            return False  # "I don't understand"
        denies = denies or any(language.is_in(table, word) for word in words for table in ("denials", "leading_no"))
    return denies


def _is_about_other(text: str, field: Field, form: Form, situation: ReadingSituation) -> bool:
    """True for a name or a value of another field: "I don't think Saturday works"."""
    others = [other for other in form.leaves if other.path != field.path]
    return bool(
        find_mentions(TextReading(text), others) or find_values([other.spec for other in others], text, situation)
    )


def _leaves_open(text: str, field: Field, situation: ReadingSituation) -> bool:
    """True for a doubt, a condition, a wish to wait or to speak to a person, thanks, and for a long answer."""
    if is_phrase(text, "greetings", "thanks", "leave") or asks_to_wait(text) or asks_for_person(text):
        return True
    if knows_no_value(text, field):
        return True
    for local in list_situations(situation):
        language = get_language(local.locale)
        tokens, open_words = language.read_tokens(text), _get_open_words(language)
        if len(tokens.tokens) > _MAX_WORDS:
            return True
        if any(open_words.match_start(tokens.text, offset) for offset in tokens.offsets):
            return True
    return False


@lru_cache(maxsize=16)
def _get_open_words(language: Language) -> PhraseSet:
    phrases = [phrase for table in _OPEN for phrase in language.words["yes_no"][table]]
    return PhraseSet([*phrases, *language.words["alternatives"]])


def _read_moment(field: Field, text: str, situation: ReadingSituation) -> Extraction:
    readings = [
        reading for clause in _list_clauses(text, situation) for reading in _read_longest(field, clause, situation)
    ]
    values = {str(reading.value): reading for _, reading in readings if reading.has_value}
    if len(values) == 1:
        [reading] = values.values()
        return Extraction((Extracted(field.path, reading.value, (0, len(text)), PART),))
    refused = [item for item in readings if not item[1].has_value]
    if values or len(refused) != 1:
        return Extraction()
    [(words, reading)] = refused
    return Extraction(rejected=(Rejected(field.path, words, Reason.OUT_OF_BOUNDS.value, reading.data),))


def _list_clauses(text: str, situation: ReadingSituation) -> Iterator[str]:
    """The clauses that deny nothing: the last one of "not this week. Wednesday next week"."""
    languages = [get_language(local.locale) for local in list_situations(situation)]
    for clause in filter(str.strip, _CLAUSE.split(text)):
        if not any(
            language.is_in("denials", token.text)
            for language in languages
            for token in language.read_tokens(clause).tokens
        ):
            yield clause


def _read_longest(field: Field, clause: str, situation: ReadingSituation) -> list[tuple[str, Reading]]:
    """The longest part of a clause that is a value or a refused one, with its reading; a bare number is none."""
    language = get_language(situation.locale)
    words = clause.split()
    if any(language.is_in("other_subject", fold_text(word)) for word in words):
        return []  # "We were there on Monday"
    for size in range(min(len(words), _MAX_VALUE), 0, -1):
        parts = []
        for start in range(len(words) - size + 1):
            part = " ".join(words[start : start + size])
            if _is_bare_number(part, language):
                continue
            if start and _is_limited(words[:start], language):
                continue  # "I'm only in after 6 pm"
            reading = read_value(field.spec, part, situation)
            if reading.has_value or reading.reason is Reason.OUT_OF_BOUNDS:
                parts.append((part, reading))
        if parts:
            return parts
    return []


def _is_limited(words_before: list[str], language: Language) -> bool:
    """True behind "my wife is away until the"."""
    while words_before and language.is_in("things_articles", fold_text(words_before[-1])):
        words_before = words_before[:-1]
    before = language.read_tokens(" ".join(words_before[-_LIMIT_REACH:])).text
    return language.limits_before.match_end(before, len(before)) > 0


def _is_bare_number(part: str, language: Language) -> bool:
    """True for "are 5": a number and small words, which may count anything."""
    tokens = language.read_tokens(part)
    small = _list_words(language, _BESIDE_NUMBERS)
    return all(
        token.text.isdigit() or token.text in language.number_words or token.text in small for token in tokens.tokens
    )


@lru_cache(maxsize=32)
def _list_words(language: Language, tables: tuple[str, ...]) -> frozenset[str]:
    return frozenset(fold_text(part) for table in tables for phrase in language.words[table] for part in phrase.split())
