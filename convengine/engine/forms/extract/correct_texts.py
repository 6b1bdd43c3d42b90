"""Corrections of names and other texts: by the name of the field, by introducing somebody, by likeness (R109)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from convengine.engine.forms.extract import Extracted, Extraction
from convengine.engine.forms.extract.answer import is_plausible_text
from convengine.engine.forms.extract.candidate import VALUE
from convengine.engine.forms.extract.held_values import (
    MAX_NAME_WORDS,
    is_alike,
    is_like_held,
    is_retyped_text,
    read_held,
)
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.sentence_values import read_introduced_names
from convengine.engine.forms.form import Field, Form
from convengine.engine.text.words import fold
from convengine.engine.values import (
    Kind,
    ReadingSituation,
    cut_to_other_name,
    find_values,
    is_only_slip,
    strip_correction,
    strip_tail,
)
from convengine.engine.values.corrections import list_small_words
from convengine.engine.values.language import Language, get_language
from convengine.engine.values.names import (
    find_name_behind,
    has_sentence_word,
    is_name_field,
    is_small_name,
    takes_name_of_other,
)
from convengine.engine.values.tokens import fold_text

Json = Any
_CLAUSE_SIGN = re.compile(r"[,;:!?]\s|(?<!\d)\.\s")
#: "The street is Rosenstraße 12b", folded.
_NAMED_TEXT = re.compile(
    r"(?:(?:the|my|our|die|der|das|meine?|unsere?)\s+)?(?P<name>[^\W\d_]{3,})\s*"
    r"(?:\s(?:is|should\s+be|must\s+be|has\s+to\s+be|needs\s+to\s+be|is\s+spel(?:t|led)|schreibt\s+sich|ist|lautet|heisst|soll|sollte|muss|müsste)\s|[:=])\s*"
    r"(?:(?:actually|now|by\s+the\s+way|eigentlich|jetzt|doch|richtig|übrigens|ubrigens)\s+)*(?:(?:hers|his|theirs|ours|ihrer|seiner|unserer)\s*,\s*)?"
    r"(?!(?:hers|his|theirs|ours|ihrer|seiner|unserer)\W*$)(?P<value>\S.*?)(?:\s(?:sein|lauten|hei(?:ss|ß)en))?"
)


def read_named_text(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The new text of a field that its title or a word of it names: "the street is Rosenstraße 12b"."""
    reading = Reading(strip_correction(text, situation))
    match = _NAMED_TEXT.fullmatch(reading.text.rstrip(" .!"))
    if match is None or "?" in text:
        return None
    name = match["name"]
    fields = [field for field in form.leaves if name in field.spec.words]
    if len(fields) != 1 or fields[0].path not in held or fields[0].path == asked_path:
        return None
    field, words = fields[0], _strip_slip_behind(reading.quote(*match.span("value")), situation)
    if not is_like_held(field, words, held[field.path], situation) or form.breaks(field, words):
        return None
    start = text.rindex(words)
    return Extraction((Extracted(field.path, words, (start, start + len(words)), VALUE),))


def read_named_change(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The new value of "name bitte auf Jonas Köhler ändern" and "day to 18 March": behind the field and a joint.

    Nothing but small words and words of a change may stand around them.
    """
    language = get_language(situation.locale)
    plain = text.rstrip(" !?")
    tokens = language.read_tokens(plain)
    fields = [field for field in form.leaves if field.path in held and field.path != asked_path]
    for index, token in enumerate(tokens.tokens):
        if not language.is_in("change_joints", token.text) or index + 1 == len(tokens.tokens):
            continue
        words = [item.text for item in tokens.tokens[:index] if not _is_around(item.text, language)]
        named = [field for field in fields if words and _list_names(field, language).issuperset(words)]
        is_text = any(_takes_any_text(field, language) for field in named)
        end = len(tokens.tokens)
        while end > index + 2 and _is_around(tokens.tokens[end - 1].text, language, is_text=is_text):
            end -= 1
        span = tokens.tokens[index + 1].start, len(plain) if end == len(tokens.tokens) else tokens.tokens[end].start
        value = plain[slice(*span)].strip(" ,")
        if len(named) != 1 or _CLAUSE_SIGN.search(value):
            return None
        new = _read_new_value(named[0], value, held[named[0].path], situation)
        if new is None or new == held[named[0].path] or form.breaks(named[0], new):
            return None
        return Extraction((Extracted(named[0].path, new, (0, len(text)), VALUE),))
    return None


def _read_new_value(field: Field, words: str, held: Json, situation: ReadingSituation) -> Json:
    """The value of the words for a field that holds one; of a text, a short one that may be meant."""
    if field.spec.kind is not Kind.TEXT:
        return read_held(field, words, held, replace(situation, is_asked=True))
    is_short = len(words.split()) <= MAX_NAME_WORDS and not any(char in "?@" for char in words)
    return words if is_short and is_plausible_text(words, field) and not field.spec.long else None


def _list_names(field: Field, language: Language) -> set[str]:
    """The words of a field's title, and what people call fields of its kind."""
    kind_names = language.words["kind_names"].get(field.spec.kind.value, ())
    own = {fold_text(word) for word in (*field.spec.words, *kind_names)}
    return own | {f"{word}{ending}" for word in own for ending in ("n", "en", "s")}


def _takes_any_text(field: Field, language: Language) -> bool:
    return field.spec.kind is Kind.TEXT and not is_name_field(field.spec, language)


def _is_around(word: str, language: Language, *, is_text: bool = False) -> bool:
    """True for a word that may stand around a change: of a change, and if it is around no text, a small one."""
    is_small = not is_text and word in list_small_words(language) - _list_kind_names(language)
    return is_small or language.is_in("change_verbs", word)


def _list_kind_names(language: Language) -> frozenset[str]:
    return frozenset(name for names in language.words["kind_names"].values() for name in names)


def read_new_names(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The other names that a message introduces for fields that hold one: "her name is Ivy, so change that too"."""
    asked_field, language = form.field(asked_path) if asked_path else None, get_language(situation.locale)
    if "?" in text or (
        asked_field is not None
        and (is_name_field(asked_field.spec, language) or takes_name_of_other(asked_field.spec, language))
    ):
        return None
    reading = Reading(strip_correction(text, situation))
    others = [field for field in form.leaves if field.path in held and takes_name_of_other(field.spec, language)]
    names = read_introduced_names(reading, others, situation, [])
    changed = [
        name for name in names if name.value != held[name.field.path] and not form.breaks(name.field, name.value)
    ]
    return (
        Extraction(tuple(Extracted(name.field.path, name.value, (0, len(text)), VALUE) for name in changed))
        if changed
        else None
    )


def read_other_name(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The name of "put it under Omar Khan instead" for the only name that the form holds."""
    language = get_language(situation.locale)
    names = [field for field in form.leaves if is_name_field(field.spec, language)]
    if len(names) != 1 or names[0].path not in held or names[0].path == asked_path:
        return None
    field, value = names[0], held[names[0].path]
    others = [other.spec for other in form.leaves if other.spec.kind is not Kind.TEXT]
    behind = "" if asked_path or "?" in text else find_name_behind(text, language)
    candidates = [
        words
        for words in (cut_to_other_name(text, situation), behind)
        if words and (is_retyped_text(field, words, value, situation) or is_small_name(words, language))
    ]
    written = cut_to_other_name(text, situation, "weak_renames")
    for words in (*candidates, *([written] if _is_full_name(written, value, language) else ())):
        is_new = words != value and not form.breaks(field, words)
        if is_new and not find_values(others, words, situation):  # "Book it for Friday"
            start = text.find(words)
            return Extraction((Extracted(field.path, words, (start, start + len(words)), VALUE),))
    return None


def _is_full_name(words: str, held: Json, language: Language) -> bool:
    """True for a name of several words, which is written as one or has the last word of the earlier one."""
    if has_sentence_word(words, language):
        return False  # "Danke für Ihre Hilfe"
    parts = words.split()
    if not 1 < len(parts) <= MAX_NAME_WORDS or not words.replace(" ", "").replace("-", "").isalpha():
        return False
    return all(part[0].isupper() for part in parts) or fold(parts[-1]) == fold(str(held).split()[-1])


def _strip_slip_behind(words: str, situation: ReadingSituation) -> str:
    """The value of "DEL RR 19, typo": without a last clause that only tells of a slip."""
    *first, last = re.split(r"\s*(?:[,;!]|\s[–-])\s+", words)
    return words[: words.rindex(last)].rstrip(" ,;!–-") if first and is_only_slip(last, situation) else words


def read_alike_text(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The text of "I meant John Smith" or "I mean 12 Elm Road", if it is like that of only one field."""
    rest = strip_tail(strip_correction(text, situation).strip(" .!"), situation)
    asked_field = form.field(asked_path) if asked_path else None
    if rest == text or (asked_field is not None and asked_field.spec.kind is Kind.TEXT):
        return None
    fields = [field for field in form.leaves if field.path in held and is_alike(field, rest, held[field.path])]
    if len(fields) != 1 or not is_plausible_text(rest, fields[0]) or form.breaks(fields[0], rest):
        return None
    start = text.index(rest)
    return Extraction((Extracted(fields[0].path, rest, (start, start + len(rest)), VALUE),))
