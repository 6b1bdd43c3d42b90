"""Occurrences of a word in a text: as a whole word or inside others, in words or in what the text computes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from convengine.engine.cached_property import cached_property

#: What a template computes names fields and tools, and is no text for people.
_COMPUTED = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
#: Ends of sentences, with the blanks after them.
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?]+|\n|$)\s*")
#: A word that commas enclose, or brackets or quotation marks alone, leaves no hole.
_LISTED_BEFORE, _LISTED_AFTER = re.compile(r",\s*$"), re.compile(r"\s*,")
_BRACKETS = {"(": ")", "[": "]", "“": "”", "„": "“", "«": "»", '"': '"'}


class WordOccurrence(NamedTuple):
    start: int
    end: int
    #: True in a part that is computed, such as `{{ bike }}`.
    is_computed: bool


@dataclass(frozen=True)
class SoughtWord:
    """A word, or several in a row, and whether it counts inside other words."""

    text: str
    inside: bool = False

    @cached_property
    def folded(self) -> str:
        """For a quick test whether a text may have it."""
        return self.text.lower()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Case does not matter. Letters, digits and underscores beside it make it a part of another word."""
        words = r"\s+".join(map(re.escape, self.text.split()))
        # In a pattern, the letter of `\b` is no part of the word after it.
        return re.compile(words if self.inside else rf"(?:(?<!\w)|(?<=\\[A-Za-z])){words}(?!\w)", re.IGNORECASE)

    def list_spans(self, text: str) -> list[WordOccurrence]:
        computed = [match.span() for match in _COMPUTED.finditer(text)]
        return [
            WordOccurrence(match.start(), match.end(), any(start <= match.start() < end for start, end in computed))
            for match in self.pattern.finditer(text)
        ]

    def is_whole(self, text: str) -> bool:
        return self.pattern.fullmatch(text.strip()) is not None

    def replace(self, text: str, new: str) -> str:
        """The text with another word, in the case of each occurrence; what is computed stays."""
        for span in reversed(self.list_spans(text)):
            if not span.is_computed:
                text = text[: span.start] + self._fit_case(text[span.start : span.end], new) + text[span.end :]
        return text

    def _fit_case(self, written: str, new: str) -> str:
        """The new word in upper or lower case as the word that it replaces was written."""
        if written == self.text:
            return new
        if written.isupper() and len(written) > 1:
            return new.upper()
        if written[0].isupper() == self.text[0].isupper():
            return new
        return (new[0].upper() if written[0].isupper() else new[0].lower()) + new[1:]

    def take_out(self, text: str) -> str:
        """The text without the word where signs enclose it; other sentences would have a hole and stay."""
        for span in reversed(self.list_spans(text)):
            if span.is_computed:
                continue
            before, after = text[: span.start], text[span.end :]
            listed = _LISTED_BEFORE.search(before)
            if listed and _LISTED_AFTER.match(after):
                text = before[: listed.start()] + after
            elif before and after and _BRACKETS.get(before[-1]) == after[0]:
                text = before[:-1].rstrip() + after[1:]
        return text

    def list_holes(self, text: str) -> Iterator[str]:
        """The sentences in which taking the word out leaves a hole, with a mark in the place of the word."""
        for sentence in _SENTENCE.findall(self.take_out(text)):
            marked, end = "", 0
            for span in self.list_spans(sentence):
                if not span.is_computed:
                    marked, end = f"{marked}{sentence[end : span.start]}[…]", span.end
            if end:
                yield (marked + sentence[end:]).strip()
