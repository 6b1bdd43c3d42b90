"""A language: the word tables of its folder, and the phrases that are made of them."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from convengine.engine.values.templates import Phrase, Slot, alternate, compile_template, fold_keys, list_first_words
from convengine.engine.values.tokens import Spelling, Token, TokenText, fold_text, tokenize

Json = Any
#: The language of a blank locale.
DEFAULT = "en"
#: Names of days and months from this length on are read with a typing error.
_LONG_NAME = 6
#: Shortest word for a day from today, such as "tomorrow", that is read with a typing error.
_LONG_DAY = 8
_YEAR = re.compile(r"(?:19\d\d|20\d\d|2100) ")
_FILES = ("calendar", "numbers", "words", "say")


@lru_cache(maxsize=1)
def list_languages() -> tuple[str, ...]:
    """The languages that have a folder."""
    return tuple(sorted(folder.name for folder in _get_folder().iterdir() if folder.is_dir()))


@lru_cache(maxsize=16)
def get_language(code: str) -> "Language":
    """The language of a locale such as en-GB; English for a language without a folder."""
    name = code.replace("_", "-").partition("-")[0].lower()
    return _load_language(name if name in list_languages() else DEFAULT)


@lru_cache(maxsize=16)
def _load_language(name: str) -> "Language":
    folder = _get_folder() / name
    return Language(name, {file: tomllib.loads((folder / f"{file}.toml").read_text("utf-8")) for file in _FILES})


@lru_cache(maxsize=1)
def get_countries() -> Mapping[str, Mapping[str, Json]]:
    """What differs from country to country: order of dates, post codes, currencies."""
    text = (resources.files("convengine.engine.values") / "countries.toml").read_text("utf-8")
    return tomllib.loads(text)


def _get_folder() -> Traversable:
    return resources.files("convengine.engine.values") / "languages"


def get_country(locale: str) -> str:
    """The country of a locale: GB for en-GB, blank for en."""
    parts = locale.replace("_", "-").split("-")
    return next((part.upper() for part in parts[1:] if len(part) == 2 and part.isalpha()), "")


class Language:
    """The tables of one language, compiled when they are first used."""

    def __init__(self, name: str, tables: Mapping[str, Mapping[str, Json]]) -> None:
        self.name = name
        self.calendar = tables["calendar"]
        self.numbers = tables["numbers"]
        self.words = tables["words"]
        self.say = tables["say"]

    # --- texts ---------------------------------------------------------------------------------------------------

    def read_tokens(self, text: str) -> TokenText:
        """The tokens of a text, as the tables spell them."""
        return TokenText(self._write_articles(self.spelling.correct(tokenize(text))))

    def _write_articles(self, tokens: list[Token]) -> list[Token]:
        """The tokens with "eine" for the "ne" of "ne Stunde" and "brauche ne Massage", which is no "nein"."""
        articles = self.words["short_articles"]
        if articles.keys().isdisjoint(token.text for token in tokens):
            return tokens
        ends = [0, *(token.end for token in tokens)]
        starts = [*(token.start for token in tokens), -1]
        written = []
        for index, token in enumerate(tokens):
            article = articles.get(token.text)
            following = tokens[index + 1].text if 0 <= starts[index + 1] - token.end <= 1 else ""
            before = tokens[index - 1].text if index and token.start - ends[index] <= 1 else ""
            is_article = following.isalpha() and (
                self.is_in("nouns_behind_short_articles", following)
                or (
                    before.isalpha()
                    and not self.is_in("leads_of_short_no", before)
                    and not self.is_in("words_behind_short_no", following)
                )
            )
            written.append(replace(token, text=article) if article and is_article else token)
        return written

    @cached_property
    def spelling(self) -> Spelling:
        table = {fold_text(key) or key: fold_text(value) or value for key, value in self.calendar["spelling"].items()}
        for first, second in self.calendar.get("compounds", ()):
            for left in self._list_compound_words(first):
                for right in self._list_compound_words(second):
                    table.setdefault(left + right, f"{left} {right}")
        groups = (*self.calendar["weekdays"], *self.calendar["months"])
        names = [word for group in groups if len(word := fold_text(group[0])) >= _LONG_NAME]
        days = map(fold_text, self.calendar["relative_days"])
        names += [word for word in days if len(word) >= _LONG_DAY and " " not in word]
        return Spelling(table, names, [fold_text(word) for word in self.calendar["no_typing_errors"]])

    def _list_compound_words(self, table: str) -> list[str]:
        listed = self.calendar[table]
        words = [word for names in listed for word in names] if isinstance(listed[0], list) else listed
        return [fold_text(word) for word in words]

    @cached_property
    def before(self) -> "PhraseSet":
        return PhraseSet(self.words["before"])

    @cached_property
    def before_persons(self) -> "PhraseSet":
        return PhraseSet(self.words["before_persons"])

    @cached_property
    def totals(self) -> "PhraseSet":
        """What stands before the sum of what was counted."""
        return PhraseSet(self.words["totals"])

    @cached_property
    def before_age(self) -> "PhraseSet":
        return PhraseSet(self.words["before_age"])

    @cached_property
    def after_persons(self) -> "PhraseSet":
        return PhraseSet(self.words["after_persons"])

    @cached_property
    def after(self) -> "PhraseSet":
        return PhraseSet(self.words["after"])

    def strip_fillers(self, tokens: TokenText) -> tuple[int, int]:
        """Start and end of `tokens.text` without "please", "I'd like", "would be great" …"""
        start, end = 0, len(tokens.text)
        while (size := self.before.match_start(tokens.text, start)) and start + size < end:
            start += size
        while (size := self._match_end(tokens.text, end)) and end - size > start:
            end -= size
        return start, end

    def _match_end(self, text: str, end: int) -> int:
        """The length of what adds nothing behind a value: a phrase, or a polite condition, "if you have it"."""
        if size := self.after.match_end(text, end):
            return size
        start = end
        while start > 0:
            word = text[:start].rstrip(" ").rpartition(" ")[2]
            start -= len(word) + 1
            if self.is_in("condition_starts", word):
                return end - start
            if not self.is_in("condition_words", word):
                return 0
        return 0

    def is_in(self, table: str, words: str) -> bool:
        """True when a list of words.toml or calendar.toml has the folded words."""
        if table not in self._folded_sets:
            listed = self.words[table] if table in self.words else self.calendar[table]
            self._folded_sets[table] = frozenset(fold_text(word) or word for word in listed)
        return words.strip() in self._folded_sets[table]

    @cached_property
    def _folded_sets(self) -> dict[str, frozenset[str]]:
        return {}

    # --- slots and phrases ---------------------------------------------------------------------------------------

    def list_table_words(self) -> frozenset[str]:
        """All words of the lists in words.toml."""
        return self._table_words

    @cached_property
    def _table_words(self) -> frozenset[str]:
        return frozenset(part for text in _list_texts(self.words) for part in fold_text(text).split(" "))

    @cached_property
    def number_words(self) -> dict[str, int]:
        return fold_keys(self.numbers["words"])

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """What `{…}` stands for in the phrases."""
        calendar, numbers = self.calendar, self.number_words
        endings = self.numbers.get("ordinal_endings", [""])
        ordinals = fold_keys(
            {word + ending: value for word, value in self.numbers["ordinals"].items() for ending in endings}
        )
        articles = fold_keys(dict.fromkeys(self.numbers["articles"], 1))
        units = fold_keys(_invert(calendar["units"]))
        time_units = fold_keys(_invert(calendar["time_units"]))
        short_units = fold_keys(_invert(calendar["short_units"]))
        marks = "".join(f"|{alternate([mark])}" for mark in calendar["ordinal_marks"] if mark != ".")
        marks = f"(?:{marks.removeprefix('|') or '(?!)'}{'|[.] ' if '.' in calendar['ordinal_marks'] else ''})"
        ordinal_words = alternate(ordinals)
        hours = {word: value for word, value in numbers.items() if value <= 24}
        hours |= fold_keys(calendar.get("hour_words", {}))
        minutes = {word: value for word, value in numbers.items() if value in range(10, 60, 5)}
        any_units = {**units, **time_units, **short_units}
        return {
            "weekday": _make_table(_index(calendar["weekdays"])),
            "month": _make_table({word: value + 1 for word, value in _index(calendar["months"]).items()}),
            "relative_day": _make_table(fold_keys(calendar["relative_days"])),
            "holiday": _make_table(fold_keys(calendar["holidays"])),
            "part": _make_table(fold_keys(calendar["parts"])),
            "time_name": _make_table(fold_keys(calendar["times"])),
            "unit": _make_table(units),
            "time_unit": _make_table(time_units),
            "any_unit": _make_table(any_units),
            "number": Slot(rf"(?:\d{{1,3}} |{alternate(numbers)})", numbers),
            "count": Slot(rf"(?:\d{{1,3}} |{alternate([*numbers, *articles])})", {**numbers, **articles}),
            "amount": Slot(
                rf"(?:\d{{1,4}} (?:[.,] \d{{1,2}} )?|{alternate([*numbers, *articles])})", {**numbers, **articles}
            ),
            "ordinal": Slot(rf"(?:{ordinal_words}|\d{{1,2}} {marks})", ordinals),
            "day": Slot(rf"(?:\d{{1,2}} {marks}?|{ordinal_words})", ordinals),
            "marked_day": Slot(rf"\d{{1,2}} {marks}"),
            "bare_day": Slot(r"\d{1,2} "),
            "year": Slot(r"(?:19|20)\d\d "),
            "short_year": Slot(r"(?:(?:19|20)\d\d|\d\d) "),
            "a": Slot(r"\d{1,2} "),
            "b": Slot(r"\d{1,2} "),
            "c": Slot(r"\d{1,2} "),
            "hour": Slot(rf"(?:\d{{1,2}} |{alternate(hours)})", hours),
            "hour_word": _make_table(hours),
            "minute": Slot(r"\d\d (?!min(?:s|ut\w*)? )"),  # "10 Uhr, 30 Minuten"
            "second": Slot(r"\d\d "),
            "minute_word": _make_table(minutes),
            "minutes": Slot(rf"(?:\d{{1,2}} |{alternate(numbers)})", numbers),
            "minutes_word": _make_table({word: value for word, value in numbers.items() if value in (5, 10, 20, 25)}),
            "joint_day": Slot(r"(?:\d{8}|\d{6}) "),
            "joint": Slot(r"\d{4} "),
            "short_joint": Slot(r"\d{3} "),
        }

    @cached_property
    def date_phrases(self) -> tuple[Phrase, ...]:
        return tuple(self._list_phrases("date"))

    @cached_property
    def time_phrases(self) -> tuple[Phrase, ...]:
        return tuple(self._list_phrases("time"))

    @cached_property
    def month_of_year_phrases(self) -> tuple[Phrase, ...]:
        """A month and its year, beside which a day may be named."""
        return tuple(self._list_phrases("month_of_year"))

    @cached_property
    def duration_phrases(self) -> tuple[Phrase, ...]:
        return tuple(self._list_phrases("duration"))

    @cached_property
    def stay_phrases(self) -> tuple[Phrase, ...]:
        """Numbers of nights or weeks."""
        return tuple(self._list_phrases("stay"))

    @cached_property
    def whole_month_phrases(self) -> tuple[Phrase, ...]:
        """Phrases that mean all days of a month: "all of July"."""
        return tuple(self._list_phrases("whole_month"))

    @cached_property
    def range_joints(self) -> "PhraseSet":
        """What stands between the first and the last day: "bis zum"."""
        return PhraseSet(self.calendar["range_joints"])

    @cached_property
    def range_leads(self) -> "PhraseSet":
        """What stands before two days that a conjunction joins: "between"."""
        return PhraseSet(self.calendar["range_leads"])

    @cached_property
    def range_conjunctions(self) -> "PhraseSet":
        return PhraseSet(self.calendar["range_conjunctions"])

    @cached_property
    def retractions(self) -> "PhraseSet":
        """What stands between a value and the one that replaces it: "no wait"."""
        return PhraseSet(self.words["retractions"])

    @cached_property
    def start_leads(self) -> "PhraseSet":
        return PhraseSet(self.words["start_leads"])

    def _list_phrases(self, table: str) -> Iterable[Phrase]:
        for entry in self.calendar[table]:
            constants = {key: value for key, value in entry.items() if key not in ("means", "text")}
            for template in entry["text"]:
                yield Phrase(entry["means"], template, self.slots, constants)

    @cached_property
    def part_pattern(self) -> re.Pattern[str]:
        return re.compile(self.slots["part"].pattern)

    @cached_property
    def general_parts(self) -> dict[str, list[int]]:
        """Hours of "evenings", which say no time."""
        return fold_keys(self.calendar["general_parts"])

    @cached_property
    def trailing_parts(self) -> frozenset[str]:
        """Parts of the day that are other words when they come first: "morgen" is tomorrow."""
        return frozenset(fold_text(word) for word in self.calendar.get("trailing_parts", ()))

    @cached_property
    def before_date(self) -> "PhraseSet":
        return PhraseSet(self.calendar["before_date"])

    @cached_property
    def before_time(self) -> "PhraseSet":
        return PhraseSet(self.calendar["before_time"])

    def names_year(self, text: str, start: int) -> bool:
        """True for the "2027" of "in 2027" in a token text, which counts nothing and is no time."""
        return bool(_YEAR.match(text, start)) and self._before_years.match_end(text, start) > 0

    def names_age_of_one(self, text: str, start: int) -> bool:
        """True for the 4 of "my son is 4", which counts no children."""
        return self._before_ages_of_one.match_end(text, start) > 0

    @cached_property
    def _before_ages_of_one(self) -> "PhraseSet":
        plural = self.words["before_ages_of_many"]
        return PhraseSet(phrase for phrase in self.words["before_age"] if phrase not in plural)

    @cached_property
    def _before_years(self) -> "PhraseSet":
        return PhraseSet(self.words["before_years"])

    @cached_property
    def between(self) -> "PhraseSet":
        return PhraseSet(self.calendar["between"])

    @cached_property
    def limits_before(self) -> "PhraseSet":
        return PhraseSet(self.calendar["limits_before"])

    @cached_property
    def denials_after(self) -> "PhraseSet":
        return PhraseSet(self.calendar["denials_after"])

    @cached_property
    def ranges(self) -> frozenset[str]:
        return frozenset(fold_text(word) or word for word in self.calendar["ranges"])

    @cached_property
    def clause_words(self) -> frozenset[str]:
        """The words that may follow a day or a time in a sentence."""
        phrases = (*self.calendar["after_clause"], *self.words["after"], *self.words["before"])
        return frozenset(fold_text(phrase).split(" ")[0] for phrase in phrases)

    @cached_property
    def calendar_starts(self) -> frozenset[str]:
        """The words with which a phrase for a day or a time may begin."""
        words = {phrase.split(" ")[0] for phrases in (self.before_date, self.before_time) for phrase in phrases.phrases}
        for phrase in (*self.date_phrases, *self.time_phrases, *self.whole_month_phrases):
            words |= set(list_first_words(phrase.template, self.slots))
        words |= {part.split(" ")[0] for part in self.slots["part"].values or {}}
        return frozenset(words)

    @cached_property
    def questions(self) -> "PhraseSet":
        words = self.words
        pairs = [f"{word} {verb}" for word in words["question_words"] for verb in words["question_verbs"]]
        contracted = [f"{word}'s" for word in words["question_words"]]
        return PhraseSet([*words["questions"], *pairs, *contracted])

    @cached_property
    def articles(self) -> "PhraseSet":
        return PhraseSet(self.calendar["articles"])

    @cached_property
    def distances(self) -> frozenset[str]:
        """Words that make a duration a distance from now: "in two weeks", "two weeks ago"."""
        return frozenset(fold_text(word) for word in self.calendar["distances"])

    @cached_property
    def ambiguous(self) -> frozenset[str]:
        return frozenset(fold_text(word) for word in self.calendar["ambiguous"])

    @cached_property
    def never_alone(self) -> frozenset[str]:
        return frozenset(fold_text(word) for word in self.calendar["never_alone"])

    def compile(self, template: str) -> str:
        """The pattern of a template with this language's slots."""
        return compile_template(template, self.slots)


class PhraseSet:
    """Phrases that are tried at a token, the longest first."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self.phrases = frozenset(fold_text(phrase) or phrase for phrase in phrases)
        self._sizes = sorted({phrase.count(" ") + 1 for phrase in self.phrases}, reverse=True)

    def match_start(self, text: str, start: int) -> int:
        """The length of the phrase that begins at `start`, its blank included; 0 for none."""
        words = text[start : start + 60].split(" ")
        for size in self._sizes:
            if size < len(words) and " ".join(words[:size]) in self.phrases:
                return len(" ".join(words[:size])) + 1
        return 0

    def match_end(self, text: str, end: int) -> int:
        """The length of the phrase that ends at `end`, its blank included; 0 for none."""
        words = text[max(0, end - 60) : end].split(" ")[:-1]
        for size in self._sizes:
            if size <= len(words) and " ".join(words[-size:]) in self.phrases:
                return len(" ".join(words[-size:])) + 1
        return 0


def is_question(text: str, tokens: TokenText, language: Language) -> bool:
    """True for a text that ends with a question mark, or that begins as questions do."""
    return text.rstrip().endswith("?") or language.questions.match_start(tokens.text, 0) > 0


def _index(groups: Iterable[Iterable[str]]) -> dict[str, int]:
    return fold_keys({word: index for index, words in enumerate(groups) for word in words})


def _invert(table: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {word: name for name, words in table.items() for word in words}


def _make_table(values: Mapping[str, Json]) -> Slot:
    return Slot(alternate(values), values)


def _list_texts(table: Json) -> Iterator[str]:
    """All texts inside a table."""
    if isinstance(table, str):
        yield table
    elif isinstance(table, (list, dict)):
        for item in table.values() if isinstance(table, dict) else table:
            yield from _list_texts(item)
