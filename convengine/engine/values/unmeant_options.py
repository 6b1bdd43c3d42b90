"""Options that a message names without choosing them: "anyone but Jonas", "not Jonas", "thanks Anna"."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from convengine.engine.values.choices import list_spellings, stem_words
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import ReadingSituation
from convengine.engine.values.tokens import TokenText

#: Lists of phrases that stand before somebody who is spoken to.
_COURTESIES = ("slips", "corrections_first", "addressing", "no_text")


def blank_unmeant_options(
    specs: Sequence[FieldSpec], text: str, situation: ReadingSituation, *, with_denials: bool = False
) -> str:
    """The text with blanks for these options, so that positions stay. `with_denials`: also those after "not"."""
    choices = [spec for spec in specs if spec.kind is Kind.CHOICE]
    if not choices:
        return text
    plain = composed = unicodedata.normalize("NFC", text)
    for local in list_situations(situation):
        language = get_language(local.locale)
        tokens = language.read_tokens(composed)
        stems = [stem for token in tokens.tokens for stem in stem_words(token.text, language)]
        if len(stems) != len(tokens.tokens):
            continue
        for spec in choices:
            for first, last in _find_unmeant(spec, tokens, stems, language, with_denials=with_denials):
                start, end = tokens.tokens[first].start, tokens.tokens[last - 1].end
                composed = composed[:start] + " " * (end - start) + composed[end:]
    return text if composed == plain else composed


def blank_denials(text: str, phrases: Sequence[str], situation: ReadingSituation) -> str:
    """The text with blanks for the denials that the phrases have, too: "we can't come tomorrow" denies no day."""
    for local in list_situations(situation):
        language = get_language(local.locale)
        own = {word for phrase in phrases for word in _list_denials(phrase, language)}
        for token in language.read_tokens(text).tokens if own else ():
            if _is_denial(token.text, language) and _strip_apostrophe(token.text) in own:
                text = text[: token.start] + " " * (token.end - token.start) + text[token.end :]
    return text


def _list_denials(text: str, language: Language) -> Iterator[str]:
    words = (token.text for token in language.read_tokens(text).tokens)
    return (_strip_apostrophe(word) for word in words if _is_denial(word, language))


def _strip_apostrophe(word: str) -> str:
    return word.replace("'", "")


def speaks_to_somebody(text: str, situation: ReadingSituation) -> bool:
    """True for "sorry boss" and "danke Chef": courtesy, and somebody who is called by no name."""
    for local in list_situations(situation):
        language = get_language(local.locale)
        tokens = language.read_tokens(text)
        start = 0
        while size := max(_get_phrases(language, table).match_start(tokens.text, start) for table in _COURTESIES):
            start += size
        if start and language.is_in("addresses", tokens.text[start:]):
            return True
    return False


def _find_unmeant(
    spec: FieldSpec, tokens: TokenText, stems: Sequence[str], language: Language, *, with_denials: bool
) -> Iterator[tuple[int, int]]:
    """The options as ranges of tokens."""
    offsets = [*tokens.offsets, len(tokens.text)]
    for index, offset in enumerate(tokens.offsets):
        if size := _get_phrases(language, "exceptions").match_start(tokens.text, offset):
            yield from _list_options(spec, tokens, stems, offsets.index(offset + size), language)
        elif with_denials and _is_denial(tokens.tokens[index].text, language):
            yield from _list_options(spec, tokens, stems, index + 1, language)
        if size := _get_phrases(language, "addressing").match_start(tokens.text, offset):
            first = offsets.index(offset + size)
            last = first + _measure_option(spec, stems, first, language)
            if first < last == len(stems) and _is_joined(tokens, first):
                yield first, last


def _list_options(
    spec: FieldSpec, tokens: TokenText, stems: Sequence[str], first: int, language: Language
) -> Iterator[tuple[int, int]]:
    """The options behind the words of an exception: "Jonas or Anna" of "anyone but Jonas or Anna"."""
    while first < len(stems) and _is_joined(tokens, first):
        word = tokens.tokens[first].text
        if size := _measure_option(spec, stems, first, language):
            yield first, first + size
            first += size
        elif language.is_in("companions", word) or language.is_in("conjunctions", word) or _is_article(word, language):
            first += 1
        else:
            return


def _measure_option(spec: FieldSpec, stems: Sequence[str], first: int, language: Language) -> int:
    """How many words from the first one on are words of one option, in its order."""
    longest = 0
    for spelling in list_spellings(spec.options, language):
        for start in range(len(spelling.stems)):
            pairs = zip(spelling.stems[start:], stems[first:], strict=False)
            size = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            longest = max(longest, size)
    return longest


def _is_joined(tokens: TokenText, index: int) -> bool:
    """True when no sign stands before the token."""
    return 0 < index < len(tokens.tokens) and tokens.tokens[index].start - tokens.tokens[index - 1].end <= 1


def _is_denial(word: str, language: Language) -> bool:
    """True for "not", and not for "no", which may begin a correction: "no Jonas"."""
    return language.is_in("denials", word) and not language.is_in("leading_no", word)


def _is_article(word: str, language: Language) -> bool:
    return language.articles.match_start(f"{word} ", 0) > 0


@lru_cache(maxsize=16)
def _get_phrases(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words[name])
