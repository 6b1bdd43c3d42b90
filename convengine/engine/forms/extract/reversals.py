"""A yes or no that is taken back by what its question is about: "I do have a ticket after all" (R109)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from convengine.engine.forms.extract import Extracted
from convengine.engine.forms.extract.candidate import VALUE
from convengine.engine.forms.form import Field, Form
from convengine.engine.values import Kind, ReadingSituation, denies, read_value, strip_correction
from convengine.engine.values.choices import stem_words
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.names import has_sentence_word
from convengine.engine.values.read import list_situations
from convengine.engine.values.tokens import fold_text
from convengine.engine.values.yes_or_no import says_yes_or_no

Json = Any
_CLAUSE = re.compile(r"\s*[,;.!–]+(?:\s+|$)")
_MAX_LENGTH = 80
#: Shorter words name nothing.
_MIN_WORD = 3
#: Longest clause that sums up with a yes or no, in words.
_MAX_CONCLUSION = 5
#: Tables of words that may stand around what the question is about.
_AROUND = ("wish_words", "wishing_words", "denials", "leading_no", "reversal_words")


def find_reversal(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, *, is_expected: bool = False
) -> Extracted | None:
    """The other value of the only yes or no whose question the first telling clause is about.

    `is_expected`: a change is expected, so that also a plain statement may be one: "he has been here before".
    """
    if len(text) > _MAX_LENGTH or "?" in text:
        return None
    for local in list_situations(situation):
        language = get_language(local.locale)
        reversed_value = _find_taken_back(form, text, held, situation, language)
        reversed_value = reversed_value or _find_stated(form, text, held, local, language, is_expected=is_expected)
        if reversed_value:
            return reversed_value
    return None


def _find_taken_back(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, language: Language
) -> Extracted | None:
    """The other value of "I do have a ticket after all"."""
    if not _takes_back(text, language):
        return None
    for clause in filter(None, _CLAUSE.split(text)):
        about = list(_list_fields(form, clause, situation, language))
        if not about:
            continue
        words = [token.text for token in language.read_tokens(clause).tokens]
        is_denied = denies(clause, situation) or any(language.is_in("leading_no", word) for word in words)
        field, value = about[0], not is_denied
        is_reversed = len(about) == 1 and isinstance(held.get(field.path), bool) and held[field.path] is not value
        # "No I do need one after all"
        is_clear = is_reversed and not language.is_in("leading_no", words[0])
        return Extracted(field.path, value, (0, len(text)), VALUE) if is_clear else None
    return None


def _find_stated(
    form: Form,
    text: str,
    held: Mapping[str, Json],
    situation: ReadingSituation,
    language: Language,
    *,
    is_expected: bool,
) -> Extracted | None:
    """The other value of "no, he has been here before" and "hang on, he did have one lesson before, so yes to that".

    The clause answers the question with a word of its own, or the last one does so behind it.
    """
    rest = strip_correction(text, situation)
    if rest == text and not is_expected:
        return None
    first, *others = [clause for clause in _CLAUSE.split(rest) if clause] or [""]
    before = language.read_tokens(text[: len(text) - len(rest)]).tokens
    if before and language.is_in("leading_no", before[-1].text) and not has_sentence_word(first, language):
        return None  # "Actually no collection"
    changes = []
    for field in form.leaves:
        if field.spec.kind is not Kind.YES_NO or not isinstance(held.get(field.path), bool):
            continue
        if not _has_telling_word(form, field, first, situation, language):
            continue
        value = read_value(field.spec, first, replace(situation, is_asked=True)).value
        if value is None and others:
            value = _read_conclusion(others[-1], situation, language)
        if isinstance(value, bool):
            changes.append(Extracted(field.path, value, (0, len(text)), VALUE))
    is_new = len(changes) == 1 and held[changes[0].field] is not changes[0].value
    return changes[0] if is_new else None


def _read_conclusion(clause: str, situation: ReadingSituation, language: Language) -> bool | None:
    """The yes or no of a last clause: "so yes to that"."""
    words = [token.text for token in language.read_tokens(clause).tokens]
    words = words[1:] if words and language.is_in("conclusions", words[0]) else words
    return says_yes_or_no(" ".join(words[:1]), situation.locale) if len(words) <= _MAX_CONCLUSION else None


def _takes_back(text: str, language: Language) -> bool:
    tokens = language.read_tokens(text)
    phrases = PhraseSet(language.words["reversals"])
    return any(phrases.match_start(tokens.text, offset) for offset in tokens.offsets)


def _list_fields(form: Form, clause: str, situation: ReadingSituation, language: Language) -> Iterator[Field]:
    """The fields for yes or no that a clause is about: it says a word of theirs, and else only small words."""
    words = [token.text for token in language.read_tokens(clause).tokens]
    for field in form.leaves:
        if field.spec.kind is not Kind.YES_NO:
            continue
        own = _list_own_stems(field, language)
        others = [
            word
            for word in words
            if not _is_of(word, own, language) and not _is_small(word, (*_AROUND, "fillers"), language)
        ]
        if not others and _has_telling_word(form, field, clause, situation, language):
            yield field


def _has_telling_word(form: Form, field: Field, clause: str, situation: ReadingSituation, language: Language) -> bool:
    """True when a clause has a word of the field's title or question that no other field and the subject have."""
    own, title = _list_own_stems(field, language), _list_stems(field.spec.words, language)
    # "The bike" of "Shall we pick up the bike?" is the subject of the whole form.
    others = (_list_own_stems(other, language) for other in form.leaves if other is not field)
    general = {*situation.subject_terms}.union(*others)
    general = {item for item in general if item not in title and not _is_of(item, title, language)}
    return any(
        len(word) >= _MIN_WORD
        and _is_of(word, own, language)
        and not _is_small(word, _AROUND, language)
        and not _is_of(word, general, language)
        for word in (token.text for token in language.read_tokens(clause).tokens)
    )


def _list_own_stems(field: Field, language: Language) -> set[str]:
    return _list_stems((*field.spec.words, *field.spec.question), language)


def _list_stems(words: Iterable[str], language: Language) -> set[str]:
    return {stem for word in words for stem in stem_words(fold_text(word), language)}


def _is_small(word: str, tables: Iterable[str], language: Language) -> bool:
    return any(language.is_in(table, word) for table in tables)


def _is_of(word: str, own: set[str], language: Language) -> bool:
    return own.issuperset(stem_words(word, language)) or _ends_own(word, own)


def _ends_own(word: str, own: set[str]) -> bool:
    """True for "Westen" where "Schwimmwesten" are asked for."""
    stem = word.rstrip("ens")
    return len(stem) > _MIN_WORD and any(item != stem and item.rstrip("ens").endswith(stem) for item in own)
