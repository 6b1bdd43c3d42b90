"""Choices as people say them: labels, synonyms, word forms, near-misses, "the second one" (R114)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from convengine.engine.text.words import split_name
from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, PhraseSet, is_question
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, Reason, accept, offer, refuse
from convengine.engine.values.templates import fold_keys
from convengine.engine.values.tokens import Token, TokenText, fold_text, tokenize

Json = Any
#: Longest answer in characters, and longest one that is refused with the list of options.
MAX_LENGTH = 120
_MAX_REFUSED_WORDS = 4
#: A near-miss has at least this similarity (0 to 100), and is so much ahead of the next option.
_MIN_RATIO = 85.0
#: Letters that are spoken like others: c like k, y like j.
_SOUNDS = str.maketrans("cy", "kj")
_MARGIN = 10.0
#: Longest answer in words that may name an option by some of its words.
_MAX_TELLING_WORDS = 12
#: How many words beside those of the option and the small ones: "we know Bachmann from last year".
_MAX_OTHER_WORDS = 4
#: How many options there are where one stands for both others.
_MOST_COMBINED = 3
#: Shorter spellings are compared exactly.
_MIN_FUZZY = 4


#: Shorter spellings are not looked for in sentences.
_MIN_NAMED = 3
#: Shortest word of a sentence that may name an option with a typing error, and how alike they must be.
_MIN_LONG, _MIN_RATIO_IN_SENTENCE = 7, 88.0
#: Shortest word that may name an option with two letters exchanged: "tyers".
_MIN_SWAPPED = 4
#: Shortest spelling in which a vowel may be missing.
_MIN_WITH_VOWEL = 6
#: Shortest word that may be written apart or together, or begin the word of an option.
_MIN_JOINED = 5


@dataclass(frozen=True)
class Spelling:
    """One folded spelling of an option."""

    text: str
    index: int
    stems: tuple[str, ...]

    @cached_property
    def joined(self) -> str:
        """Without blanks: "check up" and "checkup" are equal."""
        return self.text.replace(" ", "")


def read_choice(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read a whole answer for a field with options."""
    exact = [option.value for option in spec.options if text.strip() == option.value]
    if exact:
        return accept(exact[0])
    if len(text) > MAX_LENGTH or not tokens.tokens:
        return NOTHING
    spellings = list_spellings(spec.options, language)
    tokens = _join_words(tokens, spellings)
    if title := list_title_words(spec):
        tokens = TokenText([token for token in tokens.tokens if token.text not in title])
        if not tokens.tokens:
            return NOTHING
    start, end = language.strip_fillers(tokens)
    answers = dict.fromkeys((tokens.text.strip(), tokens.text[start:end].strip()))
    for answer in answers:
        if indexes := find_options(answer, spellings, language):
            return _offer_options(spec, indexes)
    position = find_position_word(tokens.text[start:end].strip(), language) if situation.listed_options else None
    if position:
        return _take_position(spec, position, situation)
    if situation.is_asked and (index := _find_none(spec, text, tokens, language)) is not None:
        return accept(spec.options[index].value)
    denied = any(token.text in _get_denials(language) for token in tokens.tokens) or _has_exception(tokens, language)
    if situation.is_asked and (index := _find_indifferent(answers, spellings, language)) is not None:
        return accept(spec.options[index].value)
    # "the tariff" names the field, not the option "evening tariff".
    fillers = _get_fillers(language) | frozenset(split_name(spec.name))
    if _asks_about(tokens, language):
        return NOTHING  # "How big are they?" names no big one.
    takes_all = not denied and any(language.is_in("all_of_them", answer) for answer in answers)
    if takes_all and (combined := _find_combination(spec, language)) is not None:
        return accept(spec.options[combined].value)
    if not denied and (indexes := _find_contained(answers, spellings, fillers, language)):
        return _offer_options(spec, _drop_combinations(spec, indexes, tokens, language))
    if not denied and (indexes := _find_similar(answers, spellings, fillers)):
        return _offer_options(spec, indexes)
    if not denied and (indexes := _find_each(answers, spellings, fillers, language)):
        return _offer_options(spec, _drop_combinations(spec, indexes, tokens, language))
    content = [word for token in tokens.tokens if (word := token.text) not in fillers]
    if not denied and len(content) == 1:
        index = _find_nearly_named(content[0], spec, language)
        index = _find_beginning(content[0], spellings, language) if index is None else index
        if index is not None:
            return accept(spec.options[index].value)
    asks = is_question(text, tokens, language)
    if situation.is_asked and not denied and not asks:
        index = _find_named_in_part(tokens, spellings, fillers, language)
        if index is not None:
            return accept(spec.options[index].value)
    is_other = asks or language.is_in("no_text", tokens.text)
    if denied or is_other or len(tokens.tokens) > _MAX_REFUSED_WORDS or not situation.is_asked:
        return NOTHING
    return refuse(Reason.NOT_AN_OPTION, options=[option.label for option in spec.options])


@lru_cache(maxsize=1024)
def list_spellings(options: tuple[Json, ...], language: Language) -> tuple[Spelling, ...]:
    """Every spelling of every option."""
    return tuple(
        Spelling(folded, index, stem_words(folded, language))
        for index, option in enumerate(options)
        for folded in dict.fromkeys(
            _fold_spelling(text, language)
            for spelling in option.spellings
            for text in (spelling, spelling.replace("'", ""), *_list_calendar_names(spelling, language))
        )  # "can't swim" is typed "cant swim".
        if folded
    )


def _list_calendar_names(spelling: str, language: Language) -> list[str]:
    """All names of the weekday or month that is a spelling: "Thu", "thurs" and "Thursday"; those of one day only."""
    word = _fold_spelling(spelling, language)
    return [
        name
        for groups in (language.calendar["weekdays"], language.calendar["months"])
        for group in groups
        if word in map(fold_text, group)
        for name in group
        if len(name) >= _MIN_NAMED or not language.is_in("fillers", name)
    ]


@lru_cache(maxsize=1024)
def list_title_words(spec: FieldSpec) -> frozenset[str]:
    """The folded title of a field, if it is one word that no option has: "Größe" is not the option "groß"."""
    title = [token.text for token in tokenize(spec.title)]
    options = {token.text for option in spec.options for text in option.spellings for token in tokenize(text)}
    return frozenset(title) - options if len(title) == 1 else frozenset()


def _fold_spelling(text: str, language: Language) -> str:
    tokens = language.read_tokens(text.replace("_", " "))
    return " ".join(token.text for token in tokens.tokens)


def find_options(answer: str, spellings: tuple[Spelling, ...], language: Language) -> list[int]:
    """The options that an answer names: by the same words, else by forms of the same words."""
    same = {spelling.index for spelling in spellings if spelling.text == answer}
    if not same:
        compact = answer.replace(" ", "")
        same = {spelling.index for spelling in spellings if spelling.joined == compact}
    if not same:
        stems = stem_words(answer, language)
        same = {spelling.index for spelling in spellings if spelling.stems == stems}
    return sorted(same)


@lru_cache(maxsize=4096)
def stem_words(text: str, language: Language) -> tuple[str, ...]:
    """The word stems of a text; words with digits stay as they are."""
    stemmer = _get_stemmer(str(language.words["stemmer"]))
    forms = _get_word_forms(language)
    words = (forms.get(word, word) for word in text.split(" "))
    return tuple(stemmer.stemWord(word) if word.isalpha() and len(word) > 3 else word for word in words)


@lru_cache(maxsize=16)
def _get_word_forms(language: Language) -> dict[str, str]:
    """The word that a stemmer does not find: "vorne" for "vordere"."""
    groups = ([fold_text(word) for word in group] for group in language.words["word_forms"])
    return {word: group[0] for group in groups for word in group}


@lru_cache(maxsize=8)
def _get_stemmer(name: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(name)


@lru_cache(maxsize=16)
def _get_fillers(language: Language) -> frozenset[str]:
    return frozenset(fold_text(word) for word in (*language.words["fillers"], *language.words["conjunctions"]))


@lru_cache(maxsize=16)
def _get_denials(language: Language) -> frozenset[str]:
    return frozenset(fold_text(word) for word in language.words["denials"])


def _has_exception(tokens: TokenText, language: Language) -> bool:
    """True for "anyone but Jonas"."""
    return any(_get_exceptions(language).match_start(tokens.text, offset) for offset in tokens.offsets)


@lru_cache(maxsize=16)
def _get_exceptions(language: Language) -> PhraseSet:
    return PhraseSet(language.words["exceptions"])


@lru_cache(maxsize=16)
def _get_doubts(language: Language) -> PhraseSet:
    return PhraseSet(language.words["yes_no"]["doubts"])


def _asks_about(tokens: TokenText, language: Language) -> bool:
    """True for a short question with a question word, also behind "hm" or "oh"."""
    words = [token.text for token in tokens.tokens]
    first = next((word for word in words if not language.is_in("interjections", word)), "")
    return language.is_in("question_words", first)


def _drop_combinations(spec: FieldSpec, indexes: list[int], tokens: TokenText, language: Language) -> list[int]:
    """Without the options that join what is named with something else: "the front" is not "front and back".

    Who names both other options takes the only one that stands for them.
    """
    words = [token.text for token in tokens.tokens]
    if len(indexes) < 2 or any(language.is_in("additions", word) for word in words):
        return indexes
    single = [index for index in indexes if not _joins_things(spec, index, language)]
    joined = [index for index in indexes if index not in single]
    if len(single) == 1 and all(
        _list_content(spec, single[0], language) <= _list_content(spec, index, language) for index in joined
    ):
        return single
    joins = not any(language.is_in("alternatives", word) for word in words) and any(
        language.is_in("conjunctions", word) for word in words
    )
    combination = _find_combination(spec, language)
    is_both = combination is not None and {*single, combination} == {*range(len(spec.options))}
    return [combination] if joins and combination is not None and is_both else indexes


@lru_cache(maxsize=1024)
def _find_combination(spec: FieldSpec, language: Language) -> int | None:
    """The only one of three options that stands for both others: "inside and outside", "both wheels"."""
    indexes = [index for index in range(len(spec.options)) if _joins_things(spec, index, language)]
    if len(indexes) != 1 or len(spec.options) != _MOST_COMBINED:
        return None
    words = language.read_tokens(spec.options[indexes[0]].label).tokens
    if any(language.is_in("all_of_them", word.text) for word in words):
        return indexes[0]
    content = [_list_content(spec, index, language) for index in range(len(spec.options)) if index not in indexes]
    own = _list_content(spec, indexes[0], language)
    is_sum = content[0] != content[1] and all(stems and not own.isdisjoint(stems) for stems in content)
    return indexes[0] if is_sum else None


def _joins_things(spec: FieldSpec, index: int, language: Language) -> bool:
    label = spec.options[index].label
    return not {"+", "&"}.isdisjoint(label) or any(
        language.is_in("all_of_them", token.text)
        or (language.is_in("conjunctions", token.text) and not language.is_in("alternatives", token.text))
        for token in language.read_tokens(label).tokens
    )


@lru_cache(maxsize=1024)
def _list_content(spec: FieldSpec, index: int, language: Language) -> frozenset[str]:
    """The stems of an option's label without small words."""
    words = [token.text for token in language.read_tokens(spec.options[index].label).tokens]
    fillers = _get_fillers(language)
    return frozenset(stem for word in words if word not in fillers for stem in stem_words(word, language))


def _offer_options(spec: FieldSpec, indexes: list[int]) -> Reading:
    values = [spec.options[index].value for index in indexes]
    return accept(values[0]) if len(values) == 1 else offer(values)


# --- "the second one" -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Positions:
    before: PhraseSet
    after: PhraseSet
    numbers: dict[str, int]


@lru_cache(maxsize=16)
def _get_positions(language: Language) -> _Positions:
    table = language.words["options"]
    endings = language.numbers.get("ordinal_endings", [""])
    numbers = {
        word + ending: value for word, value in language.numbers["ordinals"].items() for ending in endings
    } | language.numbers["words"]
    numbers |= dict.fromkeys(table["last"], -1) | dict.fromkeys(table["second_last"], -2)
    return _Positions(PhraseSet(table["before"]), PhraseSet(table["after"]), fold_keys(numbers))


def find_position_word(words: str, language: Language) -> int | None:
    """The position that the words name, from 1, or from -1 for the end: "the second one"."""
    positions = _get_positions(language)
    text = f"{words} "
    start, end = 0, len(text)
    while (size := positions.before.match_start(text, start)) and start + size < end:
        start += size
    while (size := positions.after.match_end(text, end)) and start < end - size:
        end -= size
    word = text[start:end].strip().removesuffix(" .")
    for mark in language.calendar["ordinal_marks"]:
        word = word.removesuffix(f" {mark}")
    if word.isdigit() and len(word) < 4:
        return int(word)
    return positions.numbers.get(word)


def _take_position(spec: FieldSpec, position: int, situation: ReadingSituation) -> Reading:
    count = len(situation.listed_options)
    index = position - 1 if position > 0 else count + position
    if 0 <= index < count:
        return accept(situation.listed_options[index])
    return refuse(Reason.NOT_AN_OPTION, options=[option.label for option in spec.options])


# --- parts and near-misses --------------------------------------------------------------------------------------


def _find_contained(
    answers: dict[str, None], spellings: tuple[Spelling, ...], fillers: frozenset[str], language: Language
) -> list[int]:
    """The options whose words are in the answer beside fillers, else those whose label has the words of the answer."""
    for answer in answers:
        stems = stem_words(answer, language)
        words = answer.split(" ")
        if indexes := _find_options_among_fillers(words, stems, spellings, fillers):
            return indexes
        content = tuple(stem for stem, word in zip(stems, words, strict=True) if word not in fillers)
        size = sum(len(word) for word in words if word not in fillers)
        for part in (stems, content) if content else ():
            if max(size, sum(map(len, part))) < _MIN_FUZZY:
                continue
            partial = {
                spelling.index
                for spelling in spellings
                if _find_sequence(part, spelling.stems) is not None or _begins_spelling(part, spelling)
            }
            if partial:
                return sorted(partial)
    return []


def _find_named_in_part(
    tokens: TokenText, spellings: tuple[Spelling, ...], fillers: frozenset[str], language: Language
) -> int | None:
    """The only option that has some words of a longer answer: "just the 1 hour one to start with"."""
    words = [token.text for token in tokens.tokens]
    if len(words) > _MAX_TELLING_WORDS:
        return None
    stems = [stem for word in words for stem in stem_words(word, language)]
    owners = set[int]()
    for size in range(1, len(stems) + 1):
        for at in range(len(stems) - size + 1):
            part = tuple(stems[at : at + size])
            content = [word for word in words[at : at + size] if word not in fillers and not word.isdigit()]
            if sum(map(len, content)) < _MIN_FUZZY:
                continue
            having = {spelling.index for spelling in spellings if _find_sequence(part, spelling.stems) is not None}
            if len(having) == 1:
                owners |= having
    # "Two dogs and a cat" names two options, also where one of them is a short word.
    owners |= {spelling.index for spelling in spellings if _find_sequence(spelling.stems, tuple(stems)) is not None}
    known = {stem for spelling in spellings if spelling.index in owners for stem in spelling.stems}
    others = [word for word, stem in zip(words, stems, strict=True) if stem not in known and word not in fillers]
    is_report = any(language.is_in("other_subject", word) for word in words)
    return owners.pop() if len(owners) == 1 and len(others) <= (1 if is_report else _MAX_OTHER_WORDS) else None


def _find_indifferent(answers: dict[str, None], spellings: tuple[Spelling, ...], language: Language) -> int | None:
    """The index of the option "no preference", if the answer says "whoever". Null if no option or several fit."""
    if not any(language.is_in("indifferent", answer) for answer in answers):
        return None
    # "No" beside "yes" is what "not really" says, and not what "whatever" says.
    says_no = any(answer in map(fold_text, language.words["yes_no"]["first_no"]) for answer in answers)
    indexes = {
        spelling.index
        for spelling in spellings
        if language.is_in("indifferent", spelling.text) and (says_no or not language.is_in("leading_no", spelling.text))
    }
    return indexes.pop() if len(indexes) == 1 else None


def _find_none(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> int | None:
    """The only option that is nothing, "None", for an answer that only denies: "none at all", "no experience"."""
    table = language.words["options"]
    nothing, no_words = ({fold_text(word) for word in table[name]} for name in ("nothing", "no_words"))
    indexes = {item.index for item in list_spellings(spec.options, language) if item.text in nothing}
    words = [token.text for token in tokens.tokens]
    if len(indexes) != 1 or "?" in text or not any(word in nothing | no_words for word in words):
        return None
    own = {fold_text(word) for word in (*spec.words, *spec.question)}
    own -= {token.text for option in spec.options for name in option.spellings for token in tokenize(name)}
    if any(_get_doubts(language).match_start(tokens.text, offset) for offset in tokens.offsets):
        return None  # "I don't know"
    small = {fold_text(word) for word in table["nothing_words"]} | nothing | no_words | own
    return indexes.pop() if small.issuperset(words) else None


def _begins_spelling(part: tuple[str, ...], spelling: Spelling) -> bool:
    """True for "pickup" and "Pick up in store"."""
    joined = "".join(part)
    return len(joined) > _MIN_FUZZY and any(
        joined == "".join(spelling.stems[:size]) for size in range(1, len(spelling.stems))
    )


def _find_each(
    answers: dict[str, None], spellings: tuple[Spelling, ...], fillers: frozenset[str], language: Language
) -> list[int]:
    """The options of "express or standard", each named by a part of its label."""
    conjunctions = {fold_text(word) for word in language.words["conjunctions"]}
    for answer in answers:
        parts: list[list[str]] = [[]]
        for word in answer.split(" "):
            if word in conjunctions:
                parts.append([])
            else:
                parts[-1].append(word)
        named = [_find_contained({" ".join(part): None}, spellings, fillers, language) for part in parts if part]
        if len(named) > 1 and all(named):
            return sorted({index for indexes in named for index in indexes})
    return []


def _find_options_among_fillers(
    words: list[str], stems: tuple[str, ...], spellings: tuple[Spelling, ...], fillers: frozenset[str]
) -> list[int]:
    """The options that are named one after the other; none if anything else is said. The longest spelling counts."""
    remaining = [None if word in fillers else stem for word, stem in zip(words, stems, strict=True)]
    taken = [False] * len(words)
    indexes: list[int] = []
    for spelling in sorted(spellings, key=lambda item: -len(item.text)):
        at = _find_sequence(spelling.stems, stems)
        if at is None or (len(spelling.text) < 2 and not spelling.text.isdigit()):
            continue
        span = range(at, at + len(spelling.stems))
        if not any(taken[index] for index in span):
            for index in span:
                taken[index] = True
            indexes.append(spelling.index)
    is_all = all(done or stem is None for done, stem in zip(taken, remaining, strict=True))
    return sorted(set(indexes)) if is_all else []


def find_named_options(spec: FieldSpec, tokens: TokenText, language: Language) -> list[tuple[int, int, Reading]]:
    """The options that are named in a sentence, in the tokens' text. Short and general words name none."""
    stems = tuple(stem for token in tokens.tokens for stem in stem_words(token.text, language))
    fillers, words = _get_fillers(language), [token.text for token in tokens.tokens]
    title = list_title_words(spec)
    taken = {index for index, word in enumerate(words) if word in title}
    options = []
    for spelling in sorted(list_spellings(spec.options, language), key=lambda item: -len(item.text)):
        size = len(spelling.stems)
        if len(spelling.joined) < _MIN_NAMED or spelling.joined.isdigit():
            continue
        for at in range(len(stems) - size + 1):
            span = range(at, at + size)
            if stems[at : at + size] != spelling.stems or not taken.isdisjoint(span):
                continue
            if all(words[index] in fillers for index in span):
                continue
            taken.update(span)
            end = tokens.offsets[at + size] if at + size < len(tokens.offsets) else len(tokens.text)
            options.append((tokens.offsets[at], end, accept(spec.options[spelling.index].value)))
    if not options:
        # "A baby grnad" is no "grand".
        options = _find_companions(spec, tokens, language) or list(_find_pairs(spec, tokens, language))
    if not options and len(stems) == len(words):
        options = [
            (offset, offset + len(word) + 1, accept(spec.options[index].value))
            for offset, word in zip(tokens.offsets, words, strict=True)
            if word not in fillers
            and word not in title
            and (index := _find_nearly_named(word, spec, language)) is not None
        ]
    return options


def _find_pairs(spec: FieldSpec, tokens: TokenText, language: Language) -> Iterator[tuple[int, int, Reading]]:
    """The option of two words with two letters exchanged, "raod bike", or of one that is written as two, "mail box"."""
    spellings = list_spellings(spec.options, language)
    for first, second, offset in zip(tokens.tokens, tokens.tokens[1:], tokens.offsets, strict=False):
        joined = first.text + second.text
        swapped = {item.index for item in spellings if " " in item.text and _swaps_letters(joined, item.joined)}
        swapped |= {item.index for item in spellings if item.text == joined and len(joined) >= _MIN_JOINED}
        if len(swapped) == 1:
            yield offset, offset + len(first.text) + len(second.text) + 2, accept(spec.options[swapped.pop()].value)


def _find_companions(spec: FieldSpec, tokens: TokenText, language: Language) -> list[tuple[int, int, Reading]]:
    """The option that is a person's name, by a part of it behind "with": "a tattoo with Jonas"."""
    owners: dict[str, set[int]] = {}
    for index, option in enumerate(spec.options):
        names = option.label.split()
        if len(names) > 1 and all(name[0].isupper() and len(name) >= _MIN_NAMED for name in names):
            for name in names:
                owners.setdefault(fold_text(name), set()).add(index)
    options = []
    for before, token, offset in zip(tokens.tokens, tokens.tokens[1:], tokens.offsets[1:], strict=False):
        indexes = owners.get(token.text, set())
        if len(indexes) == 1 and language.is_in("companions", before.text):
            reading = accept(spec.options[min(indexes)].value)
            options.append((offset, offset + len(token.text) + 1, reading))
    return options


def _find_nearly_named(word: str, spec: FieldSpec, language: Language) -> int | None:
    """The only option that a longer word is nearly spelled like, or begins with where words are joined."""
    if len(word) < _MIN_SWAPPED or any(char.isdigit() for char in word):
        return None
    spellings = list_spellings(spec.options, language)
    slips = {item.index for item in spellings if _swaps_letters(word, item.joined) or _lacks_vowel(word, item.joined)}
    if slips or len(word) < _MIN_LONG:
        return slips.pop() if len(slips) == 1 else None
    from rapidfuzz import fuzz

    nearly = {
        spelling.index
        for spelling in spellings
        if len(spelling.joined) >= _MIN_LONG - 1
        and (
            fuzz.ratio(word, spelling.joined) >= _MIN_RATIO_IN_SENTENCE
            or (language.words.get("joins_words") and word.startswith(spelling.joined))
        )
    }
    nearly |= {spelling.index for spelling in spellings if _begins_compound(word, spelling.joined, language)}
    return nearly.pop() if len(nearly) == 1 else None


def _begins_compound(word: str, spelled: str, language: Language) -> bool:
    """True for "Videotermin" and the option "Video"."""
    if not language.words.get("joins_words") or len(spelled) < _MIN_FUZZY or not word.startswith(spelled):
        return False
    return language.is_in("compound_endings", word[len(spelled) :])


def _find_sequence(part: tuple[str, ...], whole: tuple[str, ...]) -> int | None:
    size = len(part)
    return next((at for at in range(len(whole) - size + 1) if whole[at : at + size] == part), None)


def _find_beginning(word: str, spellings: tuple[Spelling, ...], language: Language) -> int | None:
    """The only option whose joined word begins so: "Haustür" for "Haustürschlüssel"."""
    if not language.words.get("joins_words") or len(word) < _MIN_JOINED:
        return None
    indexes = {item.index for item in spellings if item.joined.startswith(word)}
    return indexes.pop() if len(indexes) == 1 else None


def _join_words(tokens: TokenText, spellings: tuple[Spelling, ...]) -> TokenText:
    """The tokens with the words of the options as these write them: "mailbox" for "mail box", "house key" together."""
    known = {word for spelling in spellings for word in spelling.text.split(" ")}
    split = {item.joined: item.text.split(" ") for item in spellings if " " in item.text}
    joined: list[Token] = []
    for token in tokens.tokens:
        whole = joined[-1].text + token.text if joined else ""
        if len(whole) >= _MIN_JOINED and whole in known and known.isdisjoint((joined[-1].text, token.text)):
            joined[-1] = replace(joined[-1], text=whole, end=token.end)
        elif len(token.text) >= _MIN_JOINED and token.text in split and token.text not in known:
            joined += [replace(token, text=word) for word in split[token.text]]
        else:
            joined.append(token)
    return TokenText(joined)


def _find_similar(answers: dict[str, None], spellings: tuple[Spelling, ...], fillers: frozenset[str]) -> list[int]:
    """The option that is spelled nearly so. Two that are equally near are both given."""
    from rapidfuzz import fuzz

    points: dict[int, float] = {}
    for answer in answers:
        compact = answer.replace(" ", "")
        if all(word in fillers for word in answer.split(" ")):
            continue
        for spelled, index in _list_fuzzy_spellings(spellings):
            if min(len(compact), len(spelled)) < _MIN_FUZZY or _get_digits(compact) != _get_digits(spelled):
                continue
            ratio = fuzz.ratio(compact, spelled)
            if ratio < _MIN_RATIO and (_swaps_letters(compact, spelled) or _sounds_like(compact, spelled)):
                ratio = _MIN_RATIO
            points[index] = max(points.get(index, 0.0), ratio)
    best = max(points.values(), default=0.0)
    if best < _MIN_RATIO:
        return []
    return sorted(index for index, ratio in points.items() if ratio > best - _MARGIN and ratio >= _MIN_RATIO - _MARGIN)


@lru_cache(maxsize=1024)
def _list_fuzzy_spellings(spellings: tuple[Spelling, ...]) -> tuple[tuple[str, int], ...]:
    """The spellings without blanks, and the longer words that only one option has."""
    owners: dict[str, set[int]] = {}
    for spelling in spellings:
        for word in spelling.text.split(" "):
            owners.setdefault(word, set()).add(spelling.index)
    words = [(word, min(indexes)) for word, indexes in owners.items() if len(indexes) == 1 and len(word) > _MIN_FUZZY]
    return (*((spelling.joined, spelling.index) for spelling in spellings), *words)


def _get_digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


def _lacks_vowel(word: str, spelled: str) -> bool:
    """True when only a vowel inside the spelling is missing: "gazbo" and "gazebo"."""
    if len(spelled) < _MIN_WITH_VOWEL or len(word) != len(spelled) - 1:
        return False
    inner = range(1, len(spelled) - 1)
    return any(spelled[index] in "aeiou" and word == spelled[:index] + spelled[index + 1 :] for index in inner)


def _sounds_like(first: str, second: str) -> bool:
    """True for "kayak" and "Kajak", "foto" and "photo": letters that are spoken alike."""
    return _write_sound(first) == _write_sound(second)


def _write_sound(text: str) -> str:
    return text.replace("ph", "f").replace("ck", "k").translate(_SOUNDS)


def _swaps_letters(first: str, second: str) -> bool:
    """True when only two neighbouring letters are exchanged: "pian" and "pain"."""
    if len(first) != len(second):
        return False
    differing = [index for index, (left, right) in enumerate(zip(first, second, strict=True)) if left != right]
    return (
        len(differing) == 2
        and differing[1] == differing[0] + 1
        and first[differing[0]] == second[differing[1]]
        and first[differing[1]] == second[differing[0]]
    )
