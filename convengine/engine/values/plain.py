"""Free text, and texts of a given form (R114)."""

import re
from functools import lru_cache
from typing import Any

from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.dates import Unclear
from convengine.engine.text.formats import FORMATS
from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, PhraseSet, is_question
from convengine.engine.values.names import (
    asks_who,
    cut_spelling,
    get_relatives,
    has_sentence_word,
    is_name_field,
    takes_name_of_other,
)
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, Reason, accept, refuse
from convengine.engine.values.tokens import TokenText

Json = Any
_QUOTED = re.compile(r"\"(.+)\"|“(.+)”|„(.+)[“”]|«(.+)»|»(.+)«|'(.+)'")
_WORD_WITH_DIGIT = re.compile(r"\S*\d\S*")
_WORD_SIGNS = ".,;:!?()\"'“”„"
_CLOSING = " \t\r\n.!…,;:"
#: Longest answer that is read as a short text. `x-long` takes more.
MAX_LENGTH = 200
MAX_LONG = 4000
#: Most words of a thing behind "it's a".
_MOST_DESCRIBING = 3


def read_text(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read free text. A question, a denial, a thank-you or a wish to leave is none, unless the field is long."""
    if is_name_field(spec, language) and (name := cut_spelling(text, language)) != text:
        text, tokens = name, language.read_tokens(name)
    answer = text.strip()
    if len(answer) > MAX_LONG or not any(char.isalnum() for char in answer):
        return NOTHING
    if language.is_in("no_text", tokens.text):
        return NOTHING
    if not spec.long and (len(answer) > MAX_LENGTH or _is_no_answer(spec, answer, tokens, language)):
        return NOTHING
    if not spec.long:
        answer = _strip_lead(spec, answer, tokens, language)
        if is_name_field(spec, language) and has_sentence_word(answer, language):
            return NOTHING
    return _check_length(spec, answer)


def _is_no_answer(spec: FieldSpec, answer: str, tokens: TokenText, language: Language) -> bool:
    """True for a question, for "I don't want to say", and for a name with a denial or a number in it."""
    if is_question(answer, tokens, language) or _get_phrase_list(language, "refusals").match_start(tokens.text, 0):
        return True
    if not is_name_field(spec, language):
        return False
    digits = sum(char.isdigit() for char in answer)
    return digits > 2 or "@" in answer or any(language.is_in("denials", token.text) for token in tokens.tokens)


def _strip_lead(spec: FieldSpec, answer: str, tokens: TokenText, language: Language) -> str:
    """The text without "my name is", thanks, quotes and the last full stop."""
    if quoted := _QUOTED.fullmatch(answer.strip(_CLOSING)):
        return next(group for group in quoted.groups() if group).strip()
    text = tokens.text
    start, end = 0, len(text)
    is_name = is_name_field(spec, language)
    asks_name = is_name or asks_who(spec, language) or takes_name_of_other(spec, language)
    names = [_get_phrase_list(language, "before_name"), get_relatives(language)] if asks_name else []
    courtesies = _get_phrase_list(language, "courtesy_before")
    for phrases in (courtesies, _get_phrase_list(language, "before_text"), *names):
        while (size := phrases.match_start(text, start)) and start + size < end:
            if phrases is courtesies and not asks_name and _belongs_to_wish(answer, tokens, start + size, language):
                break
            start += size
    for name in ("courtesy_after", *(["after_name"] if is_name else [])):
        while (size := _get_phrase_list(language, name).match_end(text, end)) and end - size > start:
            end -= size
    if asks_name and (size := get_relatives(language).match_end(text, end)) and end - size > start:
        end -= size  # "Lena, my daughter"
    first, last = tokens.position(start, end)
    return answer[first : last if end < len(text) else len(answer)].strip(_CLOSING)


def _belongs_to_wish(answer: str, tokens: TokenText, behind: int, language: Language) -> bool:
    """True for the first word of "gerne am Fenster"; not for "gerne, am Fenster" and "ja am Fenster"."""
    index = tokens.offsets.index(behind)
    word, following = tokens.tokens[index - 1], tokens.tokens[index]
    return language.is_in("wish_openings", word.text) and not answer[word.end : following.start].strip()


def cut_description(text: str, language: Language) -> str:
    """The thing of "it's a Kemble" and "ist von Ikea", in at most three words; blank for other texts.

    It is one word behind an article, or ends with a capital: "it's a long story" is none.
    """
    tokens = language.read_tokens(text)
    start, end = 0, len(tokens.text)
    for name in ("courtesy_before", "hedges"):
        start += _get_phrase_list(language, name).match_start(tokens.text, start)
    for name in ("courtesy_after", "hedges"):
        end -= _get_phrase_list(language, name).match_end(tokens.text, end)
    lead = _get_phrase_list(language, "description_leads").match_start(tokens.text, start)
    size = lead or _get_phrase_list(language, "bare_description_leads").match_start(tokens.text, start)
    if not size or start + size >= end:
        return ""
    first, last = tokens.position(start + size, end)
    words = text[first:last].split()
    begins = words[0 if not lead else -1][:1]
    is_thing = (lead > 0 and len(words) == 1) or not begins.islower()
    return text[first:last] if is_thing and len(words) <= _MOST_DESCRIBING else ""


def measure_assent(text: str, language: Language) -> int:
    """How many characters of an answer only agree to give it: "na gut. Rita Stöger", "if you must: Tom Ball".

    A single word counts with a sign behind it, or in lower case before a capital: "fine Tom Ball", not "Fine Arts".
    """
    tokens, phrases, start = language.read_tokens(text), _get_phrase_list(language, "assents"), 0
    while (size := phrases.match_start(tokens.text, start)) and start + size < len(tokens.text):
        first = tokens.position(start, start + size)[0]
        if start and text[first].isupper() and not text[:first].rstrip().endswith((".", "!", "…")):
            break  # "Right, Thank you Mum"
        start += size
    if not start:
        return 0
    index = tokens.offsets.index(start)
    last, rest = tokens.tokens[index - 1].end, tokens.tokens[index].start
    is_plain = text[: tokens.tokens[0].end].islower() and (index > 1 or not text[rest].islower())
    return rest if is_plain or any(not char.isspace() for char in text[last:rest]) else 0


def _check_length(spec: FieldSpec, answer: str) -> Reading:
    if spec.format in FORMATS:
        try:
            return accept(FORMATS[spec.format].read(answer))
        except Unclear:
            return NOTHING
    if len(answer) < spec.min_length:
        return refuse(Reason.TOO_SHORT, min=spec.min_length)
    if spec.max_length is not None and len(answer) > spec.max_length:
        return refuse(Reason.TOO_LONG, max=spec.max_length)
    return accept(answer)


@lru_cache(maxsize=64)
def _get_phrase_list(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words.get(name) or language.words["yes_no"][name])


# --- a given form -----------------------------------------------------------------------------------------------


def read_pattern(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read a text that has to match the field's pattern, also without its blanks or in capitals."""
    if len(text) > MAX_LENGTH:
        return NOTHING
    try:
        pattern = compile_pattern(spec.pattern, ignore_case=False)
    except PatternError:
        return NOTHING  # The editor reports it on save.
    for answer in list_pattern_spellings(text, tokens, language):
        if pattern.occurs_in(answer):
            match = pattern.search(answer)
            return _check_length(spec, str(match.group(0)) if match and match.group(0) else answer)
    is_answer = situation.is_asked and len(tokens.tokens) <= 8 and any(char.isdigit() for char in text)
    return refuse(Reason.PATTERN_MISMATCH) if is_answer else NOTHING


def list_pattern_spellings(text: str, tokens: TokenText, language: Language) -> dict[str, None]:
    """The ways in which the answer may have the form: as written, in capitals, without blanks."""
    plain = text.strip().strip("\"'“”„").rstrip(".,!?")
    start, end = language.strip_fillers(tokens)
    part = plain
    if tokens.tokens and start < end:
        first, last = tokens.position(start, end)
        part = text[first:last]
    spellings: dict[str, None] = {}
    words = [word for word in plain.split() if any(char.isdigit() for char in word)]
    for answer in (text.strip(), plain, part, *(word.strip(".,;:!?()\"'") for word in words if len(words) == 1)):
        for joint in (" ", "", "-"):
            joined = joint.join(answer.split())
            spellings |= dict.fromkeys((joined, joined.upper()))
    return spellings


def find_pattern_words(spec: FieldSpec, text: str) -> list[tuple[int, int, Reading]]:
    """The words with a digit that have the form of the field's pattern as a whole."""
    try:
        pattern = compile_pattern(spec.pattern, ignore_case=False)
    except PatternError:
        return []
    pattern_words = []
    for match in _WORD_WITH_DIGIT.finditer(text):
        word = match.group().strip(_WORD_SIGNS)
        start = match.start() + match.group().index(word)
        value = next((spelling for spelling in (word, word.upper()) if pattern.fits(spelling)), None)
        if value is not None:
            pattern_words.append((start, start + len(word), accept(value)))
    return pattern_words
