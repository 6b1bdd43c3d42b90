"""Names of people: which fields take them, and the words that introduce one."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise, takewhile

from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, PhraseSet, get_language, list_languages
from convengine.engine.values.tokens import fold_text

#: Letters one by one behind a sign: "Sean Cole, S-E-A-N".
_SPELLED_OUT = re.compile(r"\s*[,;:(–-]\s*(?:[^\W\d_][-.\s]+){2,}[^\W\d_]\W*$")
#: Longest text of one letter with its plural ending: "t's".
_LONGEST_LETTER = 3
#: Letters one by one at the end: "R U I Z".
_LETTERS = re.compile(r"(?<!\w)(?:[^\W\d_][-.\s]+){2,}[^\W\d_]\W*$")
#: A remark behind a name: "Carol Webb (Mrs)".
_BRACKETS = re.compile(r"\s*\([^()]*\)?\s*$")
#: They lead to the next part of a surname.
_PARTICLES = frozenset({"van", "von", "der", "den", "de", "del", "la", "le", "di", "da", "zu"})
#: Two or more words that are written like a name.
_CAPITALS = re.compile(
    r"(?<![\w'’])(?:[A-ZÀ-ÖØ-Þ]\w{0,4}\. )*"
    rf"[A-ZÀ-ÖØ-Þ][\w'’-]+(?: (?:(?:{'|'.join(sorted(_PARTICLES))}) )*[A-ZÀ-ÖØ-Þ][\w'’-]+)+"
)
_CLAUSE = re.compile(r"[,;:.!–]+\s+|\s-\s")
#: Longest name that is typed without capitals, in words.
_MOST_SMALL_WORDS = 3
_EDGES = " \t,;:(–-"
_WORD = re.compile(r"\S+")
#: A first name and a surname.
_FEWEST_NAMES = 2
#: Tables of words that may stand behind a name and are none of it.
_BEHIND_NAMES = (
    "before", "after", "addressing", "fillers", "interjections", "sentence_words", "naming_verbs",
    "introductions_of_others", "corrections",
)  # fmt: skip
_MOST_FIRST_NAMES = 2
#: Longest short form of a weekday.
_SHORT_DAY = 2


def is_name_field(spec: FieldSpec, language: Language) -> bool:
    """True when the words of the field say that it takes a name."""
    names, others = (frozenset(language.words[table]) for table in ("name_fields", "no_name_fields"))
    return not names.isdisjoint(spec.words) and others.isdisjoint(spec.words)


def takes_name_of_other(spec: FieldSpec, language: Language) -> bool:
    """True when the field takes the name of somebody who belongs to the user: "What is your child's name?"."""
    question = [fold_text(word) for word in spec.question]
    words = [*map(fold_text, spec.words), *question]
    asks_name = any(language.is_in(table, word) for table in ("name_fields", "naming_verbs") for word in words)
    asks_which = any(language.is_in("which_words", word) for word in question[:1])
    is_other = any(language.is_in("others", word.partition("'")[0]) for word in words)
    is_no_name = any(language.is_in("no_name_fields", word) for word in spec.words)
    return is_other and (asks_name or asks_which) and not is_no_name


def names_other_kind(spec: FieldSpec, text: str, language: Language) -> bool:
    """True for "my dog is called …" where the field takes the name of a child: words for others than the field's."""
    own = _list_kinds((*spec.words, *spec.question), language)
    named = _list_kinds((token.text for token in language.read_tokens(text).tokens), language)
    return bool(own and named) and own.isdisjoint(named)


def _list_kinds(words: Iterable[str], language: Language) -> frozenset[int]:
    plain = {fold_text(word).partition("'")[0] for word in words}
    groups = enumerate(language.words["kinds_of_others"])
    return frozenset(index for index, group in groups if not plain.isdisjoint(map(fold_text, group)))


def asks_who(spec: FieldSpec, language: Language) -> bool:
    """True when the field's question asks for somebody: "Who are the flowers for?"."""
    return any(language.is_in("who_words", word) for word in spec.question)


def is_wording_field(spec: FieldSpec, language: Language) -> bool:
    """True when the text of a field is copied as it is written: "What should be on the cake?"."""
    if is_name_field(spec, language):
        return False
    if any(language.is_in("wording_fields", word) for word in spec.words):
        return True
    phrases = _get_phrases(language, "wording_questions")
    texts = (language.read_tokens(" ".join(words)) for words in (spec.question, spec.words))
    return any(phrases.match_start(tokens.text, offset) for tokens in texts for offset in tokens.offsets)


def has_sentence_word(text: str, language: Language) -> bool:
    """True when a text has a word that sentences have and names have not: "need", "brauche"."""
    return any(language.is_in("sentence_words", token.text) for token in language.read_tokens(text).tokens)


def is_named_like_day(text: str, language: Language) -> bool:
    """True for "peter freitag" and "Tom May", where a name is asked: a surname that is a weekday or a month.

    A sign or a small word between the two says that the day is one: "Tom, Friday", "am Freitag", "any Monday".
    """
    tokens = language.read_tokens(text)
    *first_names, surname = [token.text for token in tokens.tokens] or [""]
    is_day = len(surname) > _SHORT_DAY and any(
        surname in (language.slots[slot].values or {}) for slot in ("weekday", "month")
    )
    return (
        is_day
        and 0 < len(first_names) <= _MOST_FIRST_NAMES
        and all(after.start - before.end == 1 for before, after in pairwise(tokens.tokens))
        and all(_may_be_first_name(word, language) for word in first_names)
    )


def _may_be_first_name(word: str, language: Language) -> bool:
    tables = (
        "before", "corrections", "corrections_first", "assents", "fillers", "sentence_words", "denials",
        "conjunctions",
    )  # fmt: skip
    is_small = word in language.calendar_starts or language.limits_before.match_start(f"{word} ", 0)
    return len(word) > 1 and word.isalpha() and not (is_small or any(language.is_in(table, word) for table in tables))


def cut_behind_name(text: str, language: Language) -> str:
    """The full name without the small words behind it: "Ines Roth, danke schonmal", "Sam Okafor btw"."""
    words = list(_WORD.finditer(text))
    names = list(takewhile(lambda word: word[0][0].isupper(), words))
    if len(names) < _FEWEST_NAMES or len(names) == len(words) or any(map(str.isupper, text[names[-1].end() :])):
        return text
    tokens = language.read_tokens(text[names[-1].end() :])
    is_small = any(_get_phrases(language, table).match_start(tokens.text, 0) for table in _BEHIND_NAMES)
    name = text[: names[-1].end()].rstrip(_EDGES + ".!")
    return name if is_small and not _denies_or_places("", name, language) else text


def cut_spelling(text: str, language: Language) -> str:
    """The text without the words behind a name that say how it is spelled: "Ines Kahle, mit e hinten"."""
    text = _SPELLED_OUT.sub("", _cut_letters(_BRACKETS.sub("", text) or text, language))
    tokens = language.read_tokens(text)
    remarks, counts = _get_phrases(language, "spelling_remarks"), _get_phrases(language, "letter_counts")
    for token, offset in zip(tokens.tokens[1:], tokens.offsets[1:], strict=True):
        size = counts.match_start(tokens.text, offset)
        letter = tokens.text[offset + size :].split(" ", 1)[0] if size else ""
        if remarks.match_start(tokens.text, offset) or 0 < len(letter.partition("'")[0]) < _LONGEST_LETTER:
            return text[: token.start].rstrip(_EDGES)
    return text


def _cut_letters(text: str, language: Language) -> str:
    """The text without the letters of one of its words at its end: "Ana Ruiz. That's R U I Z"."""
    match = _LETTERS.search(text)
    tokens = language.read_tokens(text[: match.start()]).tokens if match else []
    spelled = fold_text("".join(filter(str.isalpha, match.group()))) if match else ""
    ends = [token.end for token in tokens if token.text == spelled]
    if not ends:
        return text
    while tokens[-1].end > ends[-1] and tokens[-1].text in language.list_table_words():
        tokens.pop()
    return text[: tokens[-1].end]


def find_only_name(text: str, language: Language) -> str | None:
    """The name in an answer that says more: "the tickets are for Ana Ruiz", "carol webb, she will pick them up".

    It is the only one of at least two words that is written like a name, or the only clause of words that are in no
    table; null where there is none, or nothing beside it.
    """
    text = cut_spelling(text, language).strip()
    words = [token.text for token in language.read_tokens(text).tokens]
    if "?" in text or any(_corrects(word, language) for word in words):
        return None
    names = [name for match in _CAPITALS.finditer(text) if (name := _cut_small_words(match.group(), language))]
    if not names:
        clauses = [clause.strip() for clause in _CLAUSE.split(text)]
        names = [clause for clause in clauses if len(clauses) > 1 and is_small_name(clause, language)]
    if len(names) != 1:
        return None
    before, _, behind = text.partition(names[0])
    if _denies_or_places(before, names[0], language) or _may_go_on(behind, language):
        return None
    joints = language.numbers["headcounts"]["joints"]
    if any(fold_text(word) in joints for word in (*before.split()[-1:], *behind.split()[:1])):
        return None  # "Mr and Mrs Webb"
    others = (word.strip(_EDGES + ".!)") for word in (*before.split()[1:], *behind.split()))
    known = language.list_table_words()
    is_only = all(word[:1].islower() or fold_text(word) in known for word in others if word)
    return names[0] if is_only and (before or behind).strip(_EDGES + ".!") else None


def _denies_or_places(before: str, name: str, language: Language) -> bool:
    """True for "not Tom Hill", "we live in New York" and "Oxford Street"."""
    tokens = language.read_tokens(_CLAUSE.split(before)[-1])
    denies = any(language.is_in("denials", token.text) for token in tokens.tokens)
    is_street = language.is_in("street_words", fold_text(name.rsplit(maxsplit=1)[-1]))
    return denies or is_street or _get_phrases(language, "before_places").match_end(tokens.text, len(tokens.text)) > 0


def _may_go_on(behind: str, language: Language) -> bool:
    """True for the "schmidt" of "Anna Maria schmidt" and the "de la cruz" of "Maria Lopez de la cruz"."""
    words = [token.text for token in language.read_tokens(_CLAUSE.split(behind)[0]).tokens]
    if not behind[:1].isspace() or not words:
        return False
    tokens = language.read_tokens(behind)
    if any(_get_phrases(language, table).match_start(tokens.text, 0) for table in _BEHIND_NAMES):
        return False
    return len(words) == 1 or words[0] in _PARTICLES or words[0] not in language.list_table_words()


def find_name_behind(text: str, language: Language) -> str:
    """The full name of "yes, for Tom Hill", behind a word that leads to the name of a booking; blank for none."""
    leads = _get_phrases(language, "before_other_names")
    for match in _CAPITALS.finditer(text):
        name = _cut_small_words(match.group(), language)
        before = language.read_tokens(text[: match.start()] + match.group().removesuffix(name))
        if name and leads.match_end(before.text, len(before.text)):
            return name
    return ""


def _corrects(word: str, language: Language) -> bool:
    return language.is_in("changes", word) and not language.is_in("soft_changes", word)


def _cut_small_words(words: str, language: Language) -> str:
    """The words with a capital without those that only begin the sentence: "Put Ana Ruiz"; blank for no name."""
    known, parts = language.list_table_words(), words.split()
    titles = {*language.words["titles"], *map(fold_text, language.words["written_titles"])}
    while parts and fold_text(parts[0].rstrip(".")) in known - titles:
        parts.pop(0)
    folded = [fold_text(part) for part in parts]
    if len(parts) == 1 or known.issuperset(folded) or any(_is_day_word(word, language) for word in folded):
        return ""
    return " ".join(parts)


def is_small_name(clause: str, language: Language) -> bool:
    """True for "carol webb", which has no capitals: words that are in no table."""
    words = [fold_text(word) for word in clause.split()]
    known = language.list_table_words()
    return 1 < len(words) <= _MOST_SMALL_WORDS and all(word.isalpha() and word not in known for word in words)


def _is_day_word(word: str, language: Language) -> bool:
    return any(word in (language.slots[slot].values or {}) for slot in ("weekday", "month", "relative_day"))


def blank_title_stops(text: str) -> str:
    """The text with a blank for the full stop of "Dr. Kahle" and "Mrs. J. Smith", which ends no sentence."""
    return _compile_titles().sub(lambda match: match.group().replace(".", " "), text)


@cache
def _compile_titles() -> re.Pattern[str]:
    languages = [get_language(code) for code in list_languages()]
    any_case, written = (
        "|".join(sorted({title for language in languages for title in language.words[table]}))
        for table in ("titles", "written_titles")
    )
    first_name = r"(?: [^\W\d_]\.)*(?=[ -]+[^\W\d_])"
    return re.compile(rf"\b(?i:{any_case})\.{first_name}|\b(?:{written})\.(?= [A-ZÄÖÜ])")


def find_introduction(text: str, language: Language) -> int | None:
    """The position after "my name is", or after "book it under", in a text; null if no name is introduced."""
    booked = _find_end_of_phrase(text, language, "booking_names")
    return _find_end_of_phrase(text, language, "introductions") if booked is None else booked


def find_introduction_of_other(text: str, language: Language) -> int | None:
    """The position after "my son is called" in a text; null if nobody else is introduced."""
    return _find_end_of_phrase(text, language, "introductions_of_others")


def find_related_person(text: str, language: Language) -> int | None:
    """The position after "my daughter" in a text, where a name may follow."""
    return _find_end_of_phrase(text, language, "relations")


def _find_end_of_phrase(text: str, language: Language, table: str) -> int | None:
    tokens, phrases = language.read_tokens(text), _get_phrases(language, table)
    for offset in tokens.offsets:
        end = offset + phrases.match_start(tokens.text, offset)
        if offset < end < len(tokens.text):
            return tokens.tokens[tokens.offsets.index(end)].start
    return None


@lru_cache(maxsize=16)
def get_relatives(language: Language) -> PhraseSet:
    """What people call those whom they speak for: "my daughter", "my daughter's called", "is my son"."""
    words = language.numbers["headcounts"]
    plain = [f"{owner} {relative}" for owner in words["owners"] for relative in words["relatives"]]
    called = (f"{phrase}{called}" for phrase in plain for called in language.words["called"])
    behind = (f"{verb} {phrase}" for phrase in plain for verb in language.words["before_relative"])
    return PhraseSet([*plain, *called, *behind])


@lru_cache(maxsize=16)
def _get_phrases(language: Language, table: str) -> PhraseSet:
    return PhraseSet(language.words[table])
