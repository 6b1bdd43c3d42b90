"""Words that say that a value replaces an earlier one: "actually make it Tuesday", "nein, der 5." (R109)."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from convengine.engine.values.durations import Parts, match_durations
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import ReadingSituation
from convengine.engine.values.times import match_parts
from convengine.engine.values.tokens import TokenText

_GAP = re.compile(r"\s+")
_CLAUSE = re.compile(r"\s*[,;.!?]+(?:\s+|$)")
_SLOTS = {"{old}": r"(?P<old>\S.{0,60}?)", "{new}": r"(?P<new>\S.{0,60})"}
#: Earlier values of one, two and three words, where nothing stands between them and the new one.
_OLD_WORDS = tuple(rf"(?P<old>\S+(?:\s+\S+){{{more}}})" for more in range(3))
#: A correction says so in the first characters of a message.
MAX_LENGTH = 300
#: Lists of phrases that may stand before a corrected value.
_LEADING = ("slips", "corrections_first", "corrections", "before")
#: Lists of phrases between a value and the one that takes it back.
_RETRACTING = ("slips", "corrections_first", "leading_no", "retractions")
#: Lists of phrases that may stand around a value without changing it.
_AROUND = ("before", "after", "corrections", "corrections_first", "slips")


def is_correction(text: str, situation: ReadingSituation) -> bool:
    """True when the words correct something, in one of the languages of the situation."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    return any(_corrects(composed, language) for language in _list_languages(situation))


def asks_to_change(text: str, situation: ReadingSituation) -> bool:
    """True when the message begins by asking for a change: "yes but …", "change it to …"."""
    for language in _list_languages(situation):
        plain, start = language.read_tokens(unicodedata.normalize("NFC", text)[:MAX_LENGTH]).text, 0
        while size := _get_phrases(language, "courtesy_before").match_start(plain, start):
            start += size
        if _get_phrases(language, "change_requests").match_start(plain, start):
            return True
    return False


def is_slip(text: str, situation: ReadingSituation) -> bool:
    """True when the message begins by taking back the last answer: "sorry typo, 29", "oops, I meant 29"."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    return any(
        _begins_with_slip(language.read_tokens(composed).text, language) for language in _list_languages(situation)
    )


def is_only_slip(text: str, situation: ReadingSituation) -> bool:
    """True when the whole text tells of a slip: "sorry, typo"."""
    return any(_covers_slips(language.read_tokens(text).text, language) for language in _list_languages(situation))


def _covers_slips(text: str, language: Language) -> bool:
    start = 0
    while start < len(text):
        size = max(_get_phrases(language, name).match_start(text, start) for name in ("slips", "corrections_first"))
        if not size:
            return False
        start += size
    return start > 0


def _begins_with_slip(text: str, language: Language) -> bool:
    start = 0
    while not _get_phrases(language, "slips").match_start(text, start):
        courtesy = _get_phrases(language, "corrections_first").match_start(text, start)
        if not courtesy:
            return False
        start += courtesy
    return True


def is_indifferent(text: str, situation: ReadingSituation) -> bool:
    """True when the whole message says that it does not matter."""
    languages = _list_languages(situation)
    return any(language.is_in("indifferent", language.read_tokens(text).text) for language in languages)


def denies(text: str, situation: ReadingSituation) -> bool:
    """True when a word of the text denies. A "no" may only begin a correction."""
    return any(
        language.is_in("denials", token.text) and not language.is_in("leading_no", token.text)
        for language in _list_languages(situation)
        for token in language.read_tokens(text).tokens
    )


def has_number(text: str, situation: ReadingSituation) -> bool:
    """True when a word of the text is a number."""
    return any(
        any(map(str.isdigit, token.text)) or token.text in language.number_words
        for language in _list_languages(situation)
        for token in language.read_tokens(text).tokens
    )


def takes_back(text: str, situation: ReadingSituation) -> bool:
    """True for a clause that denies what stands beside it and says nothing else: "9, no, not that"."""
    return any(
        language.is_in("denials", token.text)
        for language in _list_languages(situation)
        for token in language.read_tokens(text).tokens[:3]
    )


def blank_leading_no(text: str, situation: ReadingSituation) -> str:
    """The text with blanks for a "no" at its beginning: "no, the 5th" does not deny the 5th."""
    for language in _list_languages(situation):
        tokens = language.read_tokens(text)
        if size := _get_phrases(language, "leading_no").match_start(tokens.text, 0):
            end = tokens.position(0, size)[1]
            return " " * end + text[end:]
    return text


def strip_correction(text: str, situation: ReadingSituation) -> str:
    """The text without the words of a correction at its beginning: "the 5th" of "no, sorry, the 5th"."""
    composed = unicodedata.normalize("NFC", text)
    for language in _list_languages(situation):
        tokens, start = language.read_tokens(composed), 0
        while size := max(_get_phrases(language, name).match_start(tokens.text, start) for name in _LEADING):
            start += size
        if 0 < start < len(tokens.text):
            return composed[tokens.tokens[tokens.offsets.index(start)].start :]
    return composed


def strip_tail(text: str, situation: ReadingSituation) -> str:
    """The text without the words behind it that say that it is meant: "KA 18" of "KA 18 muss es heißen"."""
    composed = unicodedata.normalize("NFC", text)
    for language in _list_languages(situation):
        tokens = language.read_tokens(composed)
        end = len(tokens.text)
        while (size := _get_phrases(language, "text_tails").match_end(tokens.text, end)) and size < end:
            end -= size
        if end < len(tokens.text):
            return composed[: tokens.position(0, end)[1]].rstrip(" ,;–-")
    return composed


def find_retraction(text: str, situation: ReadingSituation) -> tuple[str, str] | None:
    """The value that is taken back and the one that is meant, of "78, ach nein 87"; null for other texts."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    for language in _list_languages(situation):
        tokens = language.read_tokens(composed)
        for offset in tokens.offsets[1:]:
            end = offset
            while size := max(_get_phrases(language, name).match_start(tokens.text, end) for name in _RETRACTING):
                end += size
            if offset < end < len(tokens.text):
                first = tokens.position(0, offset)[1]
                return composed[:first], composed[tokens.tokens[tokens.offsets.index(end)].start :]
    return None


def find_contrasts(text: str, situation: ReadingSituation) -> Iterator[tuple[str, str]]:
    """The earlier and the new value of "nicht 2 sondern 3", "3, not 2", in every way in which the text may be split."""
    composed = unicodedata.normalize("NFC", text).strip(" .!?")[:MAX_LENGTH]
    for language in _list_languages(situation):
        for pattern in _compile_contrasts(language):
            for start in _list_starts(composed, pattern.pattern.startswith("(?P<new>")):
                if match := pattern.fullmatch(composed, start):
                    yield match["old"].strip(" ,;–-"), match["new"].strip(" ,;–-")


def find_refused_words(text: str, situation: ReadingSituation) -> str:
    """What a clause refuses and nothing else: "Friday" of "Friday doesn't work for me"; blank for other clauses."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    for language in _list_languages(situation):
        tokens = language.read_tokens(composed).tokens
        if not any(language.is_in("value_refusals", token.text) for token in tokens):
            continue
        names = {name for listed in language.words["kind_names"].values() for name in listed}
        small = list_small_words(language) - names  # "The day doesn't suit"
        own = [
            token
            for token in tokens
            if not (
                token.text in small
                or any(language.is_in(table, token.text) for table in ("value_refusals", "refusing_words"))
            )
        ]
        if own:
            return composed[own[0].start : own[-1].end]
    return ""


def _list_starts(text: str, is_new_first: bool) -> list[int]:
    """Where the contrast may begin: at each word, but a new value that comes first begins with the text."""
    return [0] if is_new_first else [0, *(match.end() for match in _GAP.finditer(text))]


@lru_cache(maxsize=16)
def _compile_contrasts(language: Language) -> tuple[re.Pattern[str], ...]:
    return tuple(
        _compile_contrast(template, old)
        for template in language.words["contrasts"]
        for old in (_OLD_WORDS if "{old} {new}" in template else (_SLOTS["{old}"],))
    )


def _compile_contrast(template: str, old: str) -> re.Pattern[str]:
    """A pattern of "not {old}, {new}": a comma must be there where the template has one, and may be elsewhere."""
    slots = {**_SLOTS, "{old}": old}
    parts = (slots.get(part) or re.escape(part) for part in template.replace(",", " ,").split(" "))
    pattern = r"\s*,?\s+".join(parts).replace(r"\s*,?\s+,\s*,?\s+", r"\s*[,;–-]\s*")
    return re.compile(pattern, re.IGNORECASE)


def is_shift(text: str, situation: ReadingSituation) -> bool:
    """True for "a day later", which counts from the earlier value and not from now."""
    languages = list(_list_languages(situation))
    return any(
        language.is_in("shifts", token.text) for language in languages for token in language.read_tokens(text).tokens
    )


def lengthens(text: str, situation: ReadingSituation) -> bool:
    """True for "one day longer", which moves the end."""
    return any(
        language.is_in("lengths", token.text)
        for language in _list_languages(situation)
        for token in language.read_tokens(text).tokens
    )


def keeps_value(text: str, situation: ReadingSituation) -> bool:
    """True for a clause that says that something stays as it is: "same time", "die Uhrzeit bleibt"."""
    return any(
        language.is_in("keeping_words", token.text)
        for language in _list_languages(situation)
        for token in language.read_tokens(text).tokens
    )


def cut_kept(text: str, situation: ReadingSituation) -> str:
    """The text without what only says that something stays: "a week later" of "same time, but a week later"."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    clauses = [
        clause
        for clause in _CLAUSE.split(composed)
        if is_shift(clause, situation) or lengthens(clause, situation) or not keeps_value(clause, situation)
    ]
    plain = " ".join(clauses)
    for language in _list_languages(situation):
        tokens = language.read_tokens(plain)
        for offset in tokens.offsets:
            if size := _get_phrases(language, "kept_moments").match_start(tokens.text, offset):
                start, end = tokens.position(offset, offset + size)
                return f"{plain[:start]} {plain[end:]}"
    return plain


def find_shift(text: str, situation: ReadingSituation, names: Collection[str] = ()) -> Parts | None:
    """The duration of "an hour later" and nothing else, negative for "earlier"; null for other texts.

    `names`: folded words that may stand beside it.
    """
    for language in _list_languages(situation):
        tokens = language.read_tokens(unicodedata.normalize("NFC", text)[:MAX_LENGTH])
        for offset in tokens.offsets:
            for end, parts in match_durations(tokens.text, offset, language):
                sign = _find_direction(tokens.text[:offset].strip(), tokens.text[end:].strip(), names, language)
                if sign:
                    return {unit: sign * number for unit, number in parts.items()}
    return None


def _find_direction(before: str, behind: str, names: Collection[str], language: Language) -> int:
    """1 for "later" directly behind a duration or "push it back" beside it, -1 for "earlier"; 0 for other words."""
    word, _, rest = behind.partition(" ")
    is_shift_word = language.is_in("shifts", word) or language.is_in("lengths", word)
    sides = [(before, rest, word)] if is_shift_word else []
    for direction in ("moves_later", "moves_earlier"):
        phrases = _get_phrases(language, direction).phrases
        sides += [
            (f" {before} ".replace(f" {phrase} ", " ", 1), f" {behind} ".replace(f" {phrase} ", " ", 1), direction)
            for phrase in sorted(phrases, key=len, reverse=True)
            if f" {phrase} " in f" {before} | {behind} "
        ]
    for first, last, shift in sides:
        around = {*first.split(), *last.split()} - list_small_words(language).union(names)
        if all(language.is_in("shift_words", item) for item in around):
            return -1 if shift == "moves_earlier" or language.is_in("shifts_back", shift) else 1
    return 0


def counts_persons(text: str, situation: ReadingSituation) -> bool:
    """True for "sorry, we're 5 now", "actually were only 5", "sorry, 5 of us": people come beside the number.

    "If 2 of us are ill" and "one of us" count nobody.
    """
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    return any(
        not _is_conditional(tokens, offset, language)
        and (
            (language.number_words.get(token.text) != 1 and _has_persons_behind(tokens, index, language))
            or _leads_to_persons(tokens, index, language)
        )
        for language in _list_languages(situation)
        for tokens in [language.read_tokens(composed)]
        for index, (token, offset) in enumerate(zip(tokens.tokens, tokens.offsets, strict=True))
        if token.text.isdigit() or language.number_words.get(token.text)  # "There are none" counts nobody.
    )


def _has_persons_behind(tokens: TokenText, index: int, language: Language) -> bool:
    behind = tokens.offsets[index] + len(tokens.tokens[index].text) + 1
    return language.after_persons.match_start(tokens.text, behind) > 0


def _is_conditional(tokens: TokenText, end: int, language: Language) -> bool:
    """True when a word such as "if" stands before `end`, and not only a polite condition."""
    conditions = PhraseSet(language.words["yes_no"]["conditions"])
    polite = PhraseSet(language.words["yes_no"]["polite_conditions"])
    starts = (offset for offset in tokens.offsets if offset < end)
    return any(conditions.match_start(tokens.text, at) and not polite.match_start(tokens.text, at) for at in starts)


def _leads_to_persons(tokens: TokenText, index: int, language: Language) -> bool:
    """True when words that people come behind lead to this token, be it over small words: "wir sind jetzt doch"."""
    while index and language.is_in("number_particles", tokens.tokens[index - 1].text):
        index -= 1
    words = [token.text for token in tokens.tokens[:index]]
    return bool(words) and (
        language.before_persons.match_end(tokens.text, tokens.offsets[index]) > 0
        or (
            language.is_in("first_before_persons", words[-1])
            and all(word in list_small_words(language) for word in words[:-1])
        )
    )


def find_core(text: str, situation: ReadingSituation) -> str:
    """The text without the small words at both ends: "3 hours" of "could you make it 3 hours instead?"."""
    composed = unicodedata.normalize("NFC", text)
    for language in _list_languages(situation):
        tokens = language.read_tokens(composed).tokens
        own = [token for token in tokens if token.text not in list_small_words(language)]
        if own and len(own) < len(tokens):
            return composed[own[0].start : own[-1].end]
    return composed


def find_bare_number(text: str, situation: ReadingSituation) -> str | None:
    """The number that is all of a correction but its small words: "10" of "can we do 10 instead"; null for others."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    for language in _list_languages(situation):
        tokens = language.read_tokens(composed)
        if any(next(match_parts(tokens.text, offset, language), None) for offset in tokens.offsets):
            continue  # "Make it 8 in the morning"
        words = [token.text for token in tokens.tokens]
        others = [word for word in words if word not in list_small_words(language)] or words[-1:]
        if any(language.names_year(tokens.text, offset) for offset in tokens.offsets):
            continue  # "Not in 1980"
        if any(_is_limit(tokens, offset, language) for offset in tokens.offsets):
            continue  # "Can we do after 6 instead"
        if len(others) == 1 and (others[0].isdigit() or others[0] in language.number_words):
            return None if _is_denied(words, others[0], language) else others[0]
    return None


def _is_limit(tokens: TokenText, start: int, language: Language) -> bool:
    """True for the number of "after 6"."""
    word = tokens.text[start:].split(" ", 1)[0]
    is_number = word.isdigit() or word in language.number_words
    return is_number and any(
        PhraseSet(language.calendar[table]).match_end(tokens.text, start) for table in ("limits_first", "limits_last")
    )


def is_hour(text: str, situation: ReadingSituation) -> bool:
    """True for "at 4 instead": a number behind words that stand before a time."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    for language in _list_languages(situation):
        tokens = language.read_tokens(composed)
        for token, offset in zip(tokens.tokens, tokens.offsets, strict=True):
            if token.text.isdigit() or token.text in language.number_words:
                lead = tokens.text[offset - language.before_time.match_end(tokens.text, offset) : offset]
                return language.is_in("before_time_in_sentence", lead)
    return False


def _is_denied(words: Sequence[str], number: str, language: Language) -> bool:
    """True for the number of "just me, not 2"; a "no" may begin a correction."""
    before = words[: words.index(number)][-1:]
    return any(language.is_in("denials", word) and not language.is_in("leading_no", word) for word in before)


def is_bare_cardinal(text: str, number: str, situation: ReadingSituation) -> bool:
    """True for the number of "actually 4", which is no day of a month: not "on 4", "the 4th" or "am 4."."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    for language in _list_languages(situation):
        tokens = language.read_tokens(composed)
        for token, offset in zip(tokens.tokens, tokens.offsets, strict=True):
            if token.text == number:
                is_led = any(
                    phrases.match_end(tokens.text, offset) for phrases in (language.before_date, language.articles)
                )
                is_ordinal = re.match(language.slots["marked_day"].pattern, tokens.text[offset:])
                return not (is_led or is_ordinal)
    return False


def concludes(text: str, situation: ReadingSituation) -> bool:
    """True when a word says that what follows is the result: "the wedding is on the 18th, so by the 10th"."""
    return cut_to_conclusion(text, situation) != text


def cut_to_conclusion(text: str, situation: ReadingSituation) -> str:
    """The text behind the last word that concludes, "5" of "my sister comes too so 5"; else the whole text."""
    for language in _list_languages(situation):
        tokens = language.read_tokens(text).tokens
        ends = [token.end for token in tokens if language.is_in("conclusions", token.text)]
        if ends:
            return text[ends[-1] :].strip()
    return text


def cut_to_other_name(text: str, situation: ReadingSituation, table: str = "renames") -> str:
    """The words of "could you put it under Omar Khan instead" that name somebody; blank for other texts.

    `table`: the phrases that lead to the name.
    """
    for language in _list_languages(situation):
        tokens = language.read_tokens(text)
        for index, offset in enumerate(tokens.offsets):
            size = _get_phrases(language, table).match_start(tokens.text, offset)
            if size and all(token.text in list_small_words(language) for token in tokens.tokens[:index]):
                behind = [token for token, at in zip(tokens.tokens, tokens.offsets, strict=True) if at >= offset + size]
                while behind and (
                    behind[-1].text in list_small_words(language) or language.is_in("behind_names", behind[-1].text)
                ):
                    behind.pop()
                words = text[behind[0].start : behind[-1].end] if behind else ""
                return words.removesuffix("'s").removesuffix("’s")
    return ""


def find_total(text: str, situation: ReadingSituation) -> str | None:
    """The number of "so 2" or "makes 3"; null for other texts."""
    for language in _list_languages(situation):
        tokens = language.read_tokens(unicodedata.normalize("NFC", text)[:MAX_LENGTH])
        word = tokens.tokens[-1].text if tokens.tokens else ""
        is_number = word.isdigit() or word in language.number_words
        if is_number and _is_total(tokens.text[: -len(word) - 1], language):
            return word
    return None


def _is_total(text: str, language: Language) -> bool:
    """True for words that sum up and nothing else."""
    start = 0
    while start < len(text) and (size := language.totals.match_start(text, start)):
        start += size
    return 0 < start == len(text)


def has_only_fillers(texts: Iterable[str], situation: ReadingSituation) -> bool:
    """True when these parts of a message add nothing to the values between them: "I'd like … please"."""
    parts = [unicodedata.normalize("NFC", text) for text in texts]
    return any(
        all(token.text in list_small_words(language) for part in parts for token in language.read_tokens(part).tokens)
        for language in _list_languages(situation)
    )


def _list_languages(situation: ReadingSituation) -> Iterator[Language]:
    return (get_language(local.locale) for local in list_situations(situation))


def _corrects(text: str, language: Language) -> bool:
    tokens = language.read_tokens(text)
    # "No problem" corrects nothing.
    start = PhraseSet(language.words["yes_no"]["friendly_noes"]).match_start(tokens.text, 0)
    if any(_get_phrases(language, name).match_start(tokens.text, start) for name in ("corrections_first", "slips")):
        return True
    phrases = _get_phrases(language, "corrections")
    return any(phrases.match_start(tokens.text, offset) for offset in tokens.offsets)


@lru_cache(maxsize=16)
def _get_phrases(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words[name])


@lru_cache(maxsize=16)
def list_small_words(language: Language) -> frozenset[str]:
    """The words of the phrases that stand around values."""
    phrases = {phrase for name in _AROUND for phrase in _get_phrases(language, name).phrases}
    fillers = _get_phrases(language, "fillers").phrases
    return frozenset(word for phrase in (*phrases, *fillers) for word in phrase.split(" "))
