"""Phrases of the word tables, matched against words: `[on] [the] {day} of|in {month}` (docs/forms.md).

In a template `[x]` may be left out, `a|b` are alternatives, `a_b` are two words of one alternative, `{name}` is a class
of words, a number or another phrase, and `~x` follows without a blank. `{name_2}` is a second `{name}`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from convengine.engine.cached_property import cached_property
from convengine.engine.understanding.words import Word, split_text
from convengine.json_value import Json

#: A phrase with this meaning is its only slot or constant itself: `[[count]] means = "value" text = ["{digits}"]`.
VALUE = "value"
ANY_WORD = "any_word"
#: No phrase has more words: one that contains itself, such as a sum of people, could have all of a message.
_MOST_WORDS = 32
#: Reads a value that begins with a number: each possible end, with the value. The reader of ANY_WORD reads any word.
Reader = Callable[[Sequence[Word], int], Iterable[tuple[int, Json]]]


@dataclass(frozen=True, slots=True)
class GrammarPhrase:
    """A phrase of a table that words match: what it means, and the values of its slots and constants."""

    means: str
    slots: Mapping[str, Json]


class GrammarMatch(NamedTuple):
    """A phrase or a value from one word up to another."""

    end: int
    value: Json


@dataclass(slots=True)
class _Node:
    """A place in the phrases of one name: what may follow, and what ends here."""

    words: dict[str, "_Node"] = field(default_factory=dict)
    glued_words: dict[str, "_Node"] = field(default_factory=dict)
    #: Name of the class or phrase, name of the slot, whether it follows without a blank; then what follows.
    slots: dict[tuple[str, str, bool], "_Node"] = field(default_factory=dict)
    ends: list[tuple[str | None, Json]] = field(default_factory=list)


class _Element(NamedTuple):
    text: str
    is_slot: bool = False
    is_glued: bool = False


class Grammar:
    """The classes and phrases of one or two languages."""

    def __init__(self, readers: Mapping[str, Reader]) -> None:
        self.readers = readers
        self.nodes: dict[str, _Node] = {}
        self._beginnings: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        #: By the name of a phrase: the names of its slots.
        self._slots: dict[str, set[str]] = {}
        self._recursive: dict[str, bool] = {}
        #: The users' language is another one, of which it has the calendar alone.
        self.is_borrowed = False
        #: Every word that some phrase or class has.
        self.words: set[str] = set()
        #: Words that say nothing of a value.
        self.talk: frozenset[str] = frozenset()
        #: Endings with which a word is still the same one.
        self.endings: tuple[str, ...] = ()

    def add_class(self, name: str, values: Mapping[str, Json]) -> None:
        """Add words with their values: `{"monday": 0}`."""
        for text, value in values.items():
            self._insert(name, [_Element(word.key) for word in split_text(text)], None, value)

    def add_phrase(self, name: str, template: str, means: str, constants: Mapping[str, Json]) -> None:
        """Add one template. Raises ValueError for one that cannot be read."""
        for elements in _expand(template):
            self._insert(name, elements, means, constants)

    def list_words(self, name: str) -> Iterator[tuple[str, Json]]:
        """The single words of a class, with their values."""
        for word, node in self.nodes.get(name, _Node()).words.items():
            for means, value in node.ends:
                if means is None:
                    yield word, value

    def list_beginnings(self, name: str) -> tuple[frozenset[str], frozenset[str]]:
        """The words and the readers that some phrase of a name begins with. Ask only when all phrases are added."""
        if name not in self._beginnings:
            words, readers, seen, following = set[str](), set[str](), {name}, [name]
            while following:
                kind = following.pop()
                readers |= {kind} & self.readers.keys()
                node = self.nodes.get(kind, _Node())
                words |= node.words.keys() | node.glued_words.keys()
                inner = {slot for slot, _, _ in node.slots} - seen
                seen |= inner
                following += inner
            self._beginnings[name] = frozenset(words), frozenset(readers)
        return self._beginnings[name]

    def contains_itself(self, name: str) -> bool:
        """True for a phrase with a slot for such a phrase, or with one that has it. Ask only when all are added."""
        if name not in self._recursive:
            seen, following = set[str](), {name}
            while following:
                following = set[str]().union(*(self._slots.get(kind, ()) for kind in following)) - seen
                seen |= following
            self._recursive[name] = name in seen
        return self._recursive[name]

    def list_names(self, word: str, readers: Iterable[str]) -> frozenset[str]:
        """The classes and phrases that may begin with a word, or with what these readers read.

        Ask only when all phrases are added.
        """
        by_word, by_reader = self._names_by_beginning
        return by_word.get(word, frozenset()).union(*(by_reader[reader] for reader in readers))

    @cached_property
    def _names_by_beginning(self) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
        """By each word, and by each reader, the classes and phrases that may begin with it."""
        maps: tuple[dict[str, set[str]], dict[str, set[str]]] = {}, {reader: set() for reader in self.readers}
        for name in {*self.nodes, *self.readers}:
            for names, beginnings in zip(maps, self.list_beginnings(name), strict=True):
                for beginning in beginnings:
                    names.setdefault(beginning, set()).add(name)
        by_word, by_reader = ({key: frozenset(names) for key, names in each.items()} for each in maps)
        return by_word, by_reader

    def _insert(self, name: str, elements: Sequence[_Element], means: str | None, value: Json) -> None:
        """Add one sequence of words and slots, with what it means. Raises ValueError for an empty one."""
        if not elements:
            raise ValueError(f"{name}: a phrase without words")
        node = self.nodes.setdefault(name, _Node())
        for element in elements:
            if element.is_slot:
                kind = element.text.rstrip("_0123456789") if element.text[-1].isdecimal() else element.text
                node = node.slots.setdefault((kind, element.text, element.is_glued), _Node())
                self._slots.setdefault(name, set()).add(kind)
            else:
                self.words.add(element.text)
                node = (node.glued_words if element.is_glued else node.words).setdefault(element.text, _Node())
        if (means, value) not in node.ends:
            node.ends.append((means, value))


def _make_value(means: str | None, value: Json, slots: Mapping[str, Json]) -> Json:
    """What a match gives: the value of a word, the only slot of a phrase that means VALUE, or the phrase."""
    if means is None:
        return value
    named = {**value, **slots}
    return next(iter(named.values())) if means == VALUE else GrammarPhrase(means, named)


def _expand(template: str) -> list[list[_Element]]:
    """The templates without optional parts and alternatives."""
    sequences: list[list[_Element]] = [[]]
    for item in _split_items(template):
        is_optional = item.startswith("[")
        choices = _expand(item[1:-1]) if is_optional else [list(_list_elements(choice)) for choice in item.split("|")]
        added = [[*sequence, *choice] for sequence in sequences for choice in choices]
        sequences = [*sequences, *added] if is_optional else added
    return [sequence for sequence in sequences if sequence]


def _split_items(template: str) -> Iterator[str]:
    """The parts of a template between blanks; brackets stay whole. Raises ValueError for one that is not closed."""
    depth, start = 0, 0
    for index, char in enumerate(f"{template} "):
        depth += (char == "[") - (char == "]")
        if char == " " and not depth:
            if template[start:index]:
                yield template[start:index]
            start = index + 1
    if depth:
        raise ValueError(f"{template!r}: a bracket is not closed")


def _list_elements(choice: str) -> Iterator[_Element]:
    """The words of one alternative, or its slot."""
    is_glued = choice.startswith("~")
    text = choice.removeprefix("~")
    if text.startswith("{"):
        yield _Element(text[1:-1], True, is_glued)
        return
    for word in text.split("_"):
        for number, part in enumerate(split_text(word)):
            yield _Element(part.key, is_glued=is_glued and not number)


class Chart:
    """What each phrase of a grammar matches in one message. Each question is answered once."""

    def __init__(self, grammar: Grammar, words: Sequence[Word], text: str = "") -> None:
        self.grammar = grammar
        self.words = words
        #: The message that the positions of the words are in.
        self.text = text
        #: True for a message in capitals, which then tell nothing.
        self.is_shouted = text.isupper()
        self._known: dict[tuple[str, int], tuple[GrammarMatch, ...]] = {}
        #: For a phrase that may contain itself, the word from which on its matches are known.
        self._known_from: dict[str, int] = {}
        self._occurs: dict[str, bool] = {}
        #: Its words without the small ones beside an answer, once they are known.
        self.telling: frozenset[int] | None = None
        #: By word, what may begin there.
        self._names: dict[int, frozenset[str]] = {}

    def quote(self, start: int, end: int) -> str:
        """The text from one word up to another, as typed."""
        return self.text[self.words[start].start : self.words[end - 1].end] if start < end else ""

    def is_abbreviation(self, at: int) -> bool:
        """True for the "IT" of "IT manager"."""
        typed = self.quote(at, at + 1)
        return len(typed) > 1 and typed.isupper() and not self.is_shouted

    @cached_property
    def content(self) -> frozenset[int]:
        """Its words without signs."""
        return frozenset(index for index, word in enumerate(self.words) if not word.is_sign)

    def match(self, name: str, start: int) -> tuple[GrammarMatch, ...]:
        """The matches of a class, a number or a phrase that begin at a word; the longest first.

        Where words have the same meaning with the same slots in several ways, the first way counts.
        """
        known = self._known.get((name, start))
        if known is None:
            last = start
            if self.grammar.contains_itself(name):
                # From the end on, so that what a phrase contains of its own kind is known before it.
                last = max(start, self._known_from.get(name, len(self.words)) - 1)
                self._known_from[name] = start
            for at in range(last, start - 1, -1):
                known = self._match_new(name, at)
        return known or ()

    def _match_new(self, name: str, start: int) -> tuple[GrammarMatch, ...]:
        self._known[name, start] = ()  # A phrase that begins with itself matches nothing.
        if name not in self.list_names(start):
            return ()
        matches, last = list[GrammarMatch](), start + _MOST_WORDS
        if reader := self.grammar.readers.get(name):
            matches += (GrammarMatch(end, value) for end, value in reader(self.words, start))
        if node := self.grammar.nodes.get(name):
            self._walk(node, start, start, {}, matches)
        matches = [match for match in matches if match.end <= last]
        if len(matches) > 1:
            distinct: dict[tuple[Json, ...], GrammarMatch] = {}
            for match in matches:
                value = match.value
                meaning = (value.means, *value.slots) if isinstance(value, GrammarPhrase) else (repr(value),)
                distinct.setdefault((match.end, *meaning), match)
            matches = sorted(distinct.values(), key=lambda match: -match.end)
        self._known[name, start] = tuple(matches)
        return self._known[name, start]

    def match_longest(self, name: str, start: int) -> GrammarMatch | None:
        """The longest match that begins at a word. Returns None if there is none."""
        matches = self.match(name, start)
        return matches[0] if matches else None

    def match_exactly(self, name: str, start: int) -> GrammarMatch | None:
        """The longest match that begins at a word. Returns None if there is none, or if a word of it has a slip."""
        match = self.match_longest(name, start)
        return None if match is None or self.is_mended(start, match.end) else match

    def occurs(self, name: str) -> bool:
        """True for a class, a number or a phrase that begins at some word."""
        known = self._occurs.get(name)
        if known is None:
            known = self._occurs[name] = any(self.match(name, at) for at in range(len(self.words)))
        return known

    def cover(self, names: Iterable[str]) -> set[int]:
        """The words of the longest matches of these names, from each word on."""
        longest = ((at, self.match_longest(name, at)) for name in names for at in range(len(self.words)))
        return {index for start, match in longest if match for index in range(start, match.end)}

    def is_mended(self, start: int, end: int) -> bool:
        """True when a word of a part has a slip."""
        return any(word.is_mended for word in self.words[start:end])

    def list_names(self, start: int) -> frozenset[str]:
        """The classes and phrases that may begin at a word; no other does."""
        known = self._names.get(start)
        if known is None:
            word = self.words[start].key if start < len(self.words) else ""
            readers = self.grammar.readers if word.isdecimal() else (ANY_WORD,)
            reading = [name for name in readers if any(True for _ in self.grammar.readers[name](self.words, start))]
            known = self._names[start] = self.grammar.list_names(word, reading)
        return known

    def _walk(self, node: _Node, start: int, at: int, slots: dict[str, Json], matches: list[GrammarMatch]) -> None:
        """Add the matches that go on from a node.

        `start` is the first word of the phrase, `at` the next one to read, and `slots` what was read.
        """
        for means, value in node.ends:
            matches.append(GrammarMatch(at, _make_value(means, value, slots)))
        for position in self._list_positions(start, at) if node.words or node.glued_words or node.slots else ():
            word = self.words[position]
            if following := node.words.get(word.key):
                self._walk(following, start, position + 1, slots, matches)
            is_next = word.is_glued and position == at
            if is_next and (following := node.glued_words.get(word.key)):
                self._walk(following, start, position + 1, slots, matches)
            names = self.list_names(position)
            for (kind, slot, is_glued), following in node.slots.items():
                if kind in names and (is_next or not is_glued):
                    for match in self.match(kind, position):
                        self._walk(following, start, match.end, {**slots, slot: match.value}, matches)

    def _list_positions(self, start: int, at: int) -> Sequence[int]:
        """The next word; inside a phrase also the one behind a comma, the full stop of a short form, or a hyphen."""
        words = self.words
        if not start < at < len(words) - 1 or words[at].key not in (",", ".", "-"):
            return (at,) if at < len(words) else ()
        sign, following = words[at], words[at + 1]
        is_hyphen = sign.key == "-" and sign.is_glued and following.is_glued and not following.is_number
        if is_hyphen or (sign.key != "-" and not following.is_glued):
            return at, at + 1
        # "Mon., 5 Dec"
        return (at, at + 2) if sign.key == "." and following.key == "," and at + 2 < len(words) else (at,)
