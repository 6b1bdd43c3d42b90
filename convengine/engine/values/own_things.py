"""Things that somebody has and need not be given: "the helmet is mine" says no to "Do you need a helmet?"."""

import re
from functools import lru_cache

from convengine.engine.values.choices import stem_words
from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, get_language
from convengine.engine.values.reading import ReadingSituation
from convengine.engine.values.tokens import fold_text

_CLAUSE = re.compile(r"[,.;:!?–]+|\s-\s")
#: Longest sentence that says so, in words.
_MAX_WORDS = 10


def has_own(spec: FieldSpec, text: str, language: Language) -> bool:
    """True for "we bring our own" where the question is whether somebody wants a thing, and nothing else is said."""
    words = [token.text for token in language.read_tokens(text).tokens]
    if "?" in text or not 1 < len(words) <= _MAX_WORDS or not _asks_for_wish(spec, language):
        return False
    markers, verbs, taking, signs, small, subjects, things = (
        _list_words(language, name)
        for name in (
            "own_words",
            "own_verbs",
            "own_taking_verbs",
            "own_signs",
            "own_small_words",
            "subjects",
            "indefinite_things",
        )
    )
    stems = {stem for word in (*spec.words, *spec.question) for stem in stem_words(fold_text(word), language)}
    named = [word for word in words if word not in small and stems.issuperset(stem_words(word, language))]
    known = markers | verbs | taking | signs | small | subjects | things
    if not known.issuperset(set(words).difference(named)) or not _list_words(language, "wish_verbs").isdisjoint(words):
        return False
    has_verb = not verbs.isdisjoint(words)
    if not markers.isdisjoint(words):
        return has_verb or not taking.isdisjoint(words) or words[0] in subjects
    return has_verb and not signs.isdisjoint(words) and (bool(named) or not things.isdisjoint(words))


@lru_cache(maxsize=1024)
def _asks_for_wish(spec: FieldSpec, language: Language) -> bool:
    """True for "Do you need a helmet?", and not for "Do you need one or bring your own?"."""
    own = {fold_text(word) for word in (*spec.words, *spec.question)}
    if any(language.is_in("alternatives", word) for word in own):
        return False
    if not _list_words(language, "own_words").isdisjoint(own):
        return False
    return not (_list_words(language, "wish_verbs") | _list_words(language, "wish_questions")).isdisjoint(own)


@lru_cache(maxsize=64)
def _list_words(language: Language, name: str) -> frozenset[str]:
    return frozenset(fold_text(word) or word for word in language.words["yes_no"][name])


def keeps_own(spec: FieldSpec, text: str, situation: ReadingSituation) -> bool:
    """True when a clause of the text says so and none has a wish: "no thanks, we all have one"."""
    for locale in (situation.locale, situation.fallback_locale):
        language = get_language(locale)
        wishes = _list_words(language, "wish_verbs")
        if any(has_own(spec, clause, language) for clause in _CLAUSE.split(text)):
            return wishes.isdisjoint(token.text for token in language.read_tokens(text).tokens)
    return False
