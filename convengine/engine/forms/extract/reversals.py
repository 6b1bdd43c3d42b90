"""A yes or no that is taken back by what its question is about: "I do have a ticket after all" (R109)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from convengine.engine.forms.extract import Extracted
from convengine.engine.forms.extract.candidate import VALUE
from convengine.engine.forms.form import Field, Form
from convengine.engine.values import Kind, ReadingSituation, denies
from convengine.engine.values.choices import stem_words
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.read import list_situations
from convengine.engine.values.tokens import fold_text

Json = Any
_CLAUSE = re.compile(r"\s*[,;.!–]+(?:\s+|$)")
_MAX_LENGTH = 80
#: Shorter words name nothing.
_MIN_WORD = 3
#: Tables of words that may stand around what the question is about.
_AROUND = ("wish_words", "wishing_words", "denials", "leading_no", "reversal_words")


def find_reversal(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> Extracted | None:
    """The other value of the only yes or no whose question the first telling clause is about."""
    if len(text) > _MAX_LENGTH or "?" in text:
        return None
    for local in list_situations(situation):
        language = get_language(local.locale)
        if not _takes_back(text, language):
            continue
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


def _takes_back(text: str, language: Language) -> bool:
    tokens = language.read_tokens(text)
    phrases = PhraseSet(language.words["reversals"])
    return any(phrases.match_start(tokens.text, offset) for offset in tokens.offsets)


def _list_fields(form: Form, clause: str, situation: ReadingSituation, language: Language) -> Iterator[Field]:
    """The fields for yes or no that a clause is about: it says a word of theirs, and else only small words."""
    words = [token.text for token in language.read_tokens(clause).tokens]
    terms = {field.path: _list_stems((*field.spec.words, *field.spec.question), language) for field in form.leaves}
    for field in form.leaves:
        if field.spec.kind is not Kind.YES_NO:
            continue
        own, title = terms[field.path], _list_stems(field.spec.words, language)
        # "The bike" of "Shall we pick up the bike?" is the subject of the whole form.
        general = {*situation.subject_terms}.union(*(terms[path] for path in terms if path != field.path)) - title
        telling = [word for word in words if _is_of(word, own, language)]
        others = [
            word for word in words if word not in telling and not _is_small(word, (*_AROUND, "fillers"), language)
        ]
        if not others and any(
            len(word) >= _MIN_WORD and not _is_small(word, _AROUND, language) and not _is_of(word, general, language)
            for word in telling
        ):
            yield field


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
