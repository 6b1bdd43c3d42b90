"""How often something happens: "twice a day", "dreimal die Woche" (R114)."""

from functools import lru_cache

from convengine.engine.text.words import Words, fold
from convengine.engine.values.language import Language, PhraseSet, get_language, list_languages
from convengine.engine.values.templates import fold_keys
from convengine.engine.values.tokens import fold_text


class OccasionTables:
    """The words of one language for how often, and for the time in which it is so often."""

    def __init__(self, language: Language) -> None:
        words = language.numbers["occasions"]
        self.counts = fold_keys(words["counts"])
        self.count_words = PhraseSet(self.counts)
        self.periods = {fold_text(phrase): unit for unit, listed in words["periods"].items() for phrase in listed}
        self.period_words = PhraseSet(self.periods)
        self.questions = tuple(f" {fold(phrase)} " for phrase in words["questions"])
        self.nouns = frozenset(map(fold, words["nouns"]))


@lru_cache(maxsize=16)
def get_occasion_tables(language: Language) -> OccasionTables:
    return OccasionTables(language)


@lru_cache(maxsize=1024)
def find_period(words: Words) -> tuple[str, Words]:
    """The time that the words of a field name, and the other words: `day` and "visits" of "visits a day"."""
    for code in list_languages():
        for unit, listed in get_language(code).numbers["occasions"]["periods"].items():
            for phrase in sorted(map(fold, listed), key=len, reverse=True):
                text = f" {' '.join(words)} "
                if f" {phrase} " in text:
                    return unit, tuple(text.replace(f" {phrase} ", " ").split())
    return "", words


@lru_cache(maxsize=1024)
def asks_how_often(words: Words) -> bool:
    """True for the words of "How often?" and "How many visits?"."""
    text = f" {' '.join(words)} "
    tables = [get_occasion_tables(get_language(code)) for code in list_languages()]
    return any(
        not table.nouns.isdisjoint(words) or any(question in text for question in table.questions) for table in tables
    )


def match_occasions(text: str, start: int, language: Language) -> tuple[int, int] | None:
    """The end and the number of "twice"; null for none."""
    tables = get_occasion_tables(language)
    size = tables.count_words.match_start(text, start)
    return (start + size, tables.counts[text[start : start + size - 1]]) if size else None


def match_period(text: str, start: int, language: Language) -> tuple[int, str]:
    """The end of "a day" and its unit; the start and no unit for no such time."""
    tables = get_occasion_tables(language)
    size = tables.period_words.match_start(text, start)
    return (start + size, tables.periods[text[start : start + size - 1]]) if size else (start, "")
