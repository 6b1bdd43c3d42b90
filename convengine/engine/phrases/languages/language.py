"""What phrases need to know of a language."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from convengine.engine.text.words import fold


@dataclass(frozen=True, eq=False)
class Language:
    """Word tables of a language. All words are written as people type them, and folded when they are read."""

    code: str
    #: The name of the algorithm of snowballstemmer.
    stemmer: str
    #: Words that carry no meaning of their own: articles, pronouns, auxiliaries, courtesy.
    function_words: str
    #: Words that say when, how many or how asked, and rarely what: they count less.
    light_words: str
    #: Words that say little where no phrase has them: general words, relatives, names, places. They count less then.
    vague_words: str
    #: Pairs of words that are one word, one pair per line; they are joined.
    compounds: str
    #: Forms of one word that the stemmer does not join, one group per line; the first is the base form.
    irregular_forms: str
    #: Words that often mean the same, one group per line. They help only a word that no phrase has.
    related_words: str
    #: First words of questions.
    question_words: str = ""
    #: Beginnings of requests, one per line: "I need", "could I have".
    requests: str = ""
    #: Words behind the thing that is wanted: "a taxi for my appointment".
    purposes: str = ""
    #: Greetings and courtesies around a sentence, and particles inside it, which change nothing.
    courtesies: str = ""
    particles: str = ""
    #: Short forms in phrases of small words, with what they stand for, one per line.
    contractions: str = ""
    #: Beginnings of questions about what there is or what is done, one per line: "do you". They order nothing.
    inquiries: str = ""
    #: Words of a statement that asks: "I'd like to know if".
    asking_words: str = ""
    #: Words that deny what follows, without apostrophes.
    denials: str = ""
    #: Spellings of one sound, `from:to`, applied to every word.
    spellings: str = ""

    def normalise(self, word: str) -> str:
        """A folded word in the one spelling of its sounds."""
        for spelling in self.spellings.split():
            written, _, replacement = spelling.partition(":")
            word = word.replace(written, replacement)
        return word

    @cached_property
    def functions(self) -> frozenset[str]:
        """The function words."""
        return frozenset(self._words(self.function_words))

    @cached_property
    def denial_words(self) -> frozenset[str]:
        """The words that deny."""
        return frozenset(fold(self.denials).split())

    @cached_property
    def light(self) -> frozenset[str]:
        """The light words."""
        return frozenset(self._words(self.light_words))

    @cached_property
    def vague(self) -> frozenset[str]:
        """The vague words."""
        return frozenset(self._words(self.vague_words))

    @cached_property
    def pairs(self) -> frozenset[tuple[str, ...]]:
        """The pairs that are one word."""
        return frozenset(self._groups(self.compounds))

    @cached_property
    def base_forms(self) -> Mapping[str, str]:
        """The base form of each irregular form."""
        return {form: group[0] for group in self._groups(self.irregular_forms) for form in group}

    @cached_property
    def related(self) -> tuple[tuple[str, ...], ...]:
        """The groups of related words."""
        return tuple(self._groups(self.related_words))

    @cached_property
    def expansions(self) -> Mapping[str, tuple[str, ...]]:
        """What each short form stands for."""
        return {words[0]: words[1:] for words in self._groups(self.contractions)}

    def _words(self, text: str) -> tuple[str, ...]:
        return tuple(self.normalise(word) for word in fold(text).split())

    def _groups(self, text: str) -> Iterator[tuple[str, ...]]:
        return (self._words(line) for line in text.splitlines() if line.strip())
