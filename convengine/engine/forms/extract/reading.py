"""A message prepared for reading: folded, with a map to the original characters, clauses and sentences."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from convengine.engine.forms.extract.language import (
    ASKS,
    DENIED,
    DENIES,
    DENIES_NEXT,
    OFFERS,
    OWNS,
    REACH,
    REQUESTS,
    STATES,
)
from convengine.engine.rules.patterns import MAX_INPUT
from convengine.engine.text.formats import FORMATS, is_evident_phone
from convengine.engine.values.names import blank_title_stops

Span = tuple[int, int]

#: How many characters before a value are examined.
_NEAR = 120
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "`": "'", "´": "'"})
_ZERO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_CLAUSE_END = re.compile(r",(?!\d)|[;!?\n…()]|\.(?=\s|$)|\bbut\b|\bhowever\b|\bsondern\b|\s[–-]\s")
#: Before a "but" that excludes instead of starting a clause: "any day but Monday".
_ALL = re.compile(r"\b(?:any|every|all|each|what|when|where)(?:ever|thing|one|body|where|day|time)?(?:\s+\w+){0,3}\s*$")
_SENTENCE_END = re.compile(r"[.!?]+(?=\s|$)|\n")
_CLOCK = re.compile(r"(?<![\w.:])\d{1,2}(?::\d{2}){1,2}\s?(?:[ap]\.?m\b)?|(?<![\w.:,])\d{1,2}\s?(?:[ap]\.?m\b|o'clock)")
#: A national phone number: "0800 55501".
_TRUNK = re.compile(r"\(?0\d*[\s)./-]")
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?\n]))\W*\w")
_I = re.compile(r"\bI\b")
_NEXT_WORD = re.compile(r"[ -]?([^\W\d_]+)")
_GREETING = re.compile(r"\b(?:good|have\s+a\s+nice)\s+(?:morning|afternoon|evening|day|night|weekend)\b")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


class Reading:
    """One message. `text` is folded: lower case, no accents, plain apostrophes, blanks for tabs; line breaks stay."""

    def __init__(self, message: str, *, is_first: bool = False) -> None:
        #: The message begins a form, so that "do you make …?" asks for it.
        self._is_first = is_first
        self.original = message[:MAX_INPUT]
        plain = blank_title_stops(self.original)
        folded = [(part, index) for index, char in enumerate(plain) for part in _fold_char(char)]
        self.text = "".join(part for part, _ in folded)
        self._offsets = [index for _, index in folded]

    def span(self, start: int, end: int) -> Span:
        """The position of a part of `text` in the message."""
        if start >= end:
            return (0, 0)
        last = self._offsets[end - 1] + 1
        while last < len(self.original) and unicodedata.combining(self.original[last]):
            last += 1
        return self._offsets[start], last

    def to_text_position(self, position: int) -> int:
        """The position in `text` of a position in the message."""
        return bisect_left(self._offsets, position)

    def quote(self, start: int, end: int) -> str:
        """A part of `text` as the user wrote it."""
        first, last = self.span(start, end)
        return self.original[first:last]

    @cached_property
    def is_shouting(self) -> bool:
        """True when capitals carry no information: all letters, or only sentence starts and "I", are capital."""
        letters = [char for char in self.original if char.isalpha()]
        inner = _SENTENCE_START.sub("", _I.sub("i", self.original))
        return all(char.isupper() for char in letters) or not any(char.isupper() for char in inner)

    @cached_property
    def formats(self) -> Mapping[str, tuple[re.Match[str], ...]]:
        """Matches of all formats, by format name."""
        return {name: tuple(known.pattern.finditer(self.text)) for name, known in FORMATS.items()}

    @cached_property
    def greetings(self) -> tuple[Span, ...]:
        """Spans of greetings with a part of the day: "good morning"."""
        return tuple(match.span() for match in _GREETING.finditer(self.text))

    @cached_property
    def structured(self) -> tuple[Span, ...]:
        """Spans of addresses, ids, dates, times, phone numbers and greetings; no part of them is a value."""
        spans = [*self.greetings, *(match.span() for match in _CLOCK.finditer(self.text))]
        for name, matches in self.formats.items():
            spans += [match.span() for match in matches if name != "phone" or is_evident_phone(match.group())]
        return tuple(_merge_spans(spans))

    @cached_property
    def solid(self) -> tuple[tuple[str, re.Match[str]], ...]:
        """Dates, phone numbers and e-mail addresses by format. A part of one has no meaning."""
        return tuple(
            (name, match)
            for name in ("date", "date-time", "phone", "email")
            for match in self.formats[name]
            if name != "phone" or is_evident_phone(match.group()) or _TRUNK.match(match.group())
        )

    def touches_structure(self, start: int, end: int) -> bool:
        """True when a span touches something structured."""
        after = bisect_left(self.structured, end, key=lambda span: span[0])
        return after > 0 and self.structured[after - 1][1] > start

    def clause(self, position: int) -> Span:
        """Start and end of the clause around a position."""
        return _find_span_around(self._clause_ends, position, len(self.text))

    def sentence(self, position: int) -> Span:
        """Start and end of the sentence around a position, including its final punctuation."""
        return _find_span_around(self._sentence_ends, position, len(self.text))

    @cached_property
    def _clause_ends(self) -> tuple[Span, ...]:
        return tuple(
            match.span()
            for match in _CLAUSE_END.finditer(self.text)
            if match.group() != "but" or not _ALL.search(self.text, max(0, match.start() - _NEAR), match.start())
        )

    @cached_property
    def _sentence_ends(self) -> tuple[Span, ...]:
        return tuple((match.end(), match.end()) for match in _SENTENCE_END.finditer(self.text))

    def words(self, start: int, end: int) -> list[str]:
        return _WORD.findall(self.text[start:end])

    def word_after(self, position: int) -> re.Match[str] | None:
        """The next word of the clause as group 1; null at punctuation or the end."""
        return _NEXT_WORD.match(self.text, position)

    def is_denied(self, start: int, end: int) -> bool:
        """True when the clause denies the span: "not Dallas", "I don't live in Dallas", "Dallas is wrong"."""
        if DENIES.search(self.reach(start)) or DENIES_NEXT.search(self.before(start)):
            return True
        # "My tablet doesn't charge" denies no tablet.
        return DENIED.match(self.text, end) is not None and not OWNS.search(self.text[:start])

    def reach(self, position: int) -> str:
        """The last words before a position that a denial can cover."""
        before = self.before(position)
        ends = [match.end() for match in _WORD.finditer(before)][-REACH - 1 :]
        return before[ends[0] - 1 :] if len(ends) > REACH else before

    def before(self, position: int) -> str:
        """The text before a position in its clause, as far as it can matter."""
        first, _ = self.clause(position)
        return self.text[max(first, position - _NEAR) : position]

    def is_question(self, position: int) -> bool:
        """True inside a question that is not a request: "is Dallas possible?", "what is 5 in euro?"."""
        first, last = self.sentence(position)
        sentence = self.text[first:last]
        if self._is_first and OFFERS.match(sentence):
            return False
        question = sentence.rstrip().endswith("?") or ASKS.match(sentence) is not None
        return question and REQUESTS.match(sentence) is None and not self._is_statement(position, last)

    def _is_statement(self, position: int, sentence_end: int) -> bool:
        """True in a clause about the user before the question: "I have a toothache, is tomorrow possible?"."""
        start, end = self.clause(position)
        return end < sentence_end - 1 and STATES.match(self.text, start, end) is not None


def _merge_spans(spans: Iterable[Span]) -> Iterator[Span]:
    """Merge overlapping spans, in order."""
    held: Span | None = None
    for first, last in sorted(spans):
        if held and first <= held[1]:
            held = held[0], max(held[1], last)
            continue
        if held:
            yield held
        held = first, last
    if held:
        yield held


def _fold_char(char: str) -> str:
    """One character without its accent."""
    if char.isspace():
        return "\n" if char == "\n" else " "
    plain = unicodedata.normalize("NFKD", char.lower()).translate(_APOSTROPHES)
    return "".join(part for part in plain if not unicodedata.combining(part) and part not in _ZERO_WIDTH)


def _find_span_around(ends: tuple[Span, ...], position: int, length: int) -> Span:
    before = bisect_right(ends, position, key=lambda span: span[1])
    after = bisect_left(ends, position, key=lambda span: span[0])
    start = ends[before - 1][1] if before else 0
    later = next((span[0] for span in ends[max(before, after) :] if span[0] >= position), length)
    return start, later
