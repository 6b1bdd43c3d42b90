"""The tables of a conversation: one language, and for words that it does not have a second one."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable

from convengine.engine.turn import live_settings
from convengine.engine.turn.local_time import LANGUAGES, LOCALE, find_language_code
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.grammar import Grammar, Reader
from convengine.engine.understanding.kinds.readers import READERS
from convengine.engine.understanding.words import Lexicon, split_text
from convengine.json_value import Json

Table = Mapping[str, Json]
#: The language of a blank locale.
DEFAULT = "en"
#: Moves and "none of them" are learned from these. A workspace that names no languages has them besides its own.
LEARNED_FROM = ("de", "en")
_FILES = ("words", "calendar", "numbers")
_PLAIN = frozenset({"classes", "values", "spelling", "compounds", "typed", "talk", "endings"})


@dataclass(frozen=True, eq=False)
class Tables:
    """What a message is compared with, besides the form."""

    #: Such as `en`.
    name: str
    grammar: Grammar
    lexicon: Lexicon
    #: How values and default texts are said.
    say: Table
    #: Words that say nothing of a value.
    talk: frozenset[str] = frozenset()
    #: Name of the stemmer of the language, for example `english`.
    stemmer: str = ""


def find_language(locale: str) -> str:
    """The folder of a locale's language: `de` for de-DE; English where there is none."""
    name = find_language_code(locale)
    return name if name in list_languages() else DEFAULT


#: Users of different countries (ISO 3166 leaves the code free): no country is assumed for them.
MANY_COUNTRIES = "ZZ"


def find_country(locale: str) -> str:
    """The country of a locale: GB for en-GB, blank for en."""
    parts = locale.replace("_", "-").split("-")
    return next((part.upper() for part in parts[1:] if len(part) == 2 and part.isalpha()), "")


@lru_cache(maxsize=1)
def list_languages() -> tuple[str, ...]:
    return tuple(sorted(item.name for item in _get_folder().iterdir() if (item / "words.toml").is_file()))


def list_own_languages(snapshot: Snapshot) -> tuple[str, ...]:
    """The languages that the users of a workspace may speak, as far as there are tables of them."""
    locales = live_settings.read(snapshot, LANGUAGES).value
    locales = locales or (live_settings.read(snapshot, LOCALE).value, *LEARNED_FROM)
    return tuple(sorted({*map(find_language, locales)}))


@lru_cache(maxsize=256)
def get_tables(locale: str, *fallbacks: str) -> Tables:
    """The tables of a locale's language; words that it does not have are looked up in those of `fallbacks`."""
    locales = (locale, *(fallback for fallback in fallbacks if fallback))
    calendars = dict.fromkeys(code for each in locales if (code := find_language_code(each)) in _get_calendars())
    # A language without a folder is read by the tables of another one.
    is_borrowed = bool(locale.strip()) and find_language_code(locale) not in list_languages()
    return _load_tables(tuple(dict.fromkeys(map(find_language, locales))), tuple(calendars), is_borrowed)


@lru_cache(maxsize=1)
def get_countries() -> Table:
    """What differs from country to country: order of dates, post codes, currencies."""
    return _read_file(resources.files("convengine.engine.understanding") / "countries.toml")


def read_table(name: str, file: str) -> Table:
    """A file of a language's folder; empty where there is none."""
    return _read_file(_get_folder() / name / f"{file}.toml")


@lru_cache(maxsize=1)
def _get_calendars() -> Table:
    """The calendars of languages without a folder, by the code of the language."""
    listed = _read_file(resources.files("convengine.engine.understanding") / "calendars.toml")
    return {code: calendar for code, calendar in listed.items() if code not in list_languages()}


@lru_cache(maxsize=64)
def _load_tables(names: tuple[str, ...], calendars: tuple[str, ...], is_borrowed: bool) -> Tables:
    files = [[read_table(name, file) for file in _FILES] for name in names]
    files += [[_make_calendar(_get_calendars()[code])] for code in calendars]
    return make_tables(names[0], files, read_table(names[0], "say"), is_borrowed=is_borrowed)


def _make_calendar(calendar: Table) -> Table:
    """A calendar of `calendars.toml` in the form of a file of tables."""
    values = [
        {"class": "month", "words": [[number, *words] for number, words in enumerate(calendar["months"], 1)]},
        {"class": "weekday", "words": [[number, *words] for number, words in enumerate(calendar["weekdays"])]},
    ]
    return {"values": values, "date": [{"means": "day_of_month", "text": [calendar["day"]]}]}


def make_tables(
    name: str,
    languages: Iterable[Iterable[Table]],
    say: Table,
    readers: Mapping[str, Reader] = READERS,
    *,
    is_borrowed: bool = False,
) -> Tables:
    """Tables from the files of one language or of several, of which the first has precedence.

    `is_borrowed`: users write another language, so that no word is mended to one of these.
    """
    grammar, compounds, stemmer, typed = Grammar(readers), [], "", list[str]()
    spelling: dict[str, str] = {}
    known: frozenset[str] = frozenset()
    talk: set[str] = set()
    endings: list[str] = []
    for files in languages:
        for file in files:
            for class_name, words in _list_classes(file):
                grammar.add_class(class_name, {text: value for text, value in words.items() if text not in known})
            for phrase_name, means, template, constants in _list_phrases(file):
                grammar.add_phrase(phrase_name, template, means, constants)
            for word, meant in file.get("spelling", {}).items():
                spelling.setdefault(_fold(word), _fold(meant))
            compounds += file.get("compounds", ())
            typed += file.get("typed", ())
            endings += file.get("endings", ())
            talk |= {_fold(word) for word in file.get("talk", ())}
            if "stemmer" in file and not stemmer:
                stemmer = file["stemmer"]
                grammar.add_class("stemmer", {stemmer: stemmer})
        known = frozenset(grammar.words)
    grammar.is_borrowed = is_borrowed
    grammar.talk, grammar.endings = frozenset(talk), tuple(dict.fromkeys(endings))
    only_typed = set[str]().union(*(_list_class(grammar, class_name) for class_name in typed))
    lexicon = Lexicon(
        grammar.words | talk,
        spelling=spelling,
        compounds=[(_list_class(grammar, row["first"]), _list_class(grammar, row["second"])) for row in compounds],
        typed=grammar.words | talk if is_borrowed else only_typed | talk,
    )
    return Tables(name, grammar, lexicon, say, frozenset(talk), stemmer)


def _list_class(grammar: Grammar, name: str) -> set[str]:
    return {word for word, _ in grammar.list_words(name)}


def _list_classes(file: Table) -> Iterator[tuple[str, Table]]:
    """Each class with the value of each of its words; None for each word of a plain list."""
    for name, words in file.get("classes", {}).items():
        yield name, words if isinstance(words, Mapping) else dict.fromkeys(words)
    for row in file.get("values", ()):
        yield row["class"], {word: value for value, *words in row["words"] for word in words}


def _list_phrases(file: Table) -> Iterator[tuple[str, str, str, Table]]:
    """Each template of a phrase: its name, its meaning, the template, and its constants."""
    for name, rows in file.items():
        if name not in _PLAIN and isinstance(rows, list):
            for row in rows:
                constants = {key: value for key, value in row.items() if key not in ("means", "text")}
                for template in row["text"]:
                    yield name, row.get("means", name), template, constants


def _fold(text: str) -> str:
    return " ".join(word.key for word in split_text(text))


def _get_folder() -> Traversable:
    return resources.files("convengine.engine.understanding") / "languages"


def _read_file(file: Traversable) -> Table:
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
