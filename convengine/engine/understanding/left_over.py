"""The short text of a field is what is left of the message when everything that is explained is taken away."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from convengine.engine.cached_property import cached_property
from convengine.engine.understanding.assign import FieldClaim
from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.decide import Explained
from convengine.engine.understanding.span import Sort
from convengine.engine.understanding.words import cover

#: Signs within a code: "B-17", "2024/17".
_JOINTS = frozenset("-_/")
#: No more small words stand between a word of relation and what it is about.
_MOST_SMALL = 8


@dataclass(frozen=True)
class LeftOverPiece:
    """A part of the message that nothing explains, from one word up to another."""

    start: int
    end: int
    #: What the word before it says of it: "in" says where.
    relations: frozenset[str]
    #: It is written like a name, in a message where other words are not.
    is_capital: bool
    clause: Clause | None


class LeftOver:
    """The pieces of a message."""

    def __init__(self, explained: Explained, claims: Sequence[FieldClaim]) -> None:
        understanding = explained.understanding
        self._understanding, self._chart = understanding, understanding.chart
        self._explained = explained
        named = (Sort.OPTION, Sort.PATTERN, Sort.PERSON, Sort.NUMBER)
        plain = [span for span in understanding.spans if not (span.is_weak or span.sort in named)]
        plain += [claim.span for claim in claims]
        moves = (move for move in understanding.moves if move.is_whole and not move.is_mended)
        self._valued = cover(plain) | cover(moves)

    @cached_property
    def pieces(self) -> tuple[LeftOverPiece, ...]:
        """Its pieces, without those that its clauses deny or only ask about."""
        content = self._list_content(with_question=False) or self._list_content(with_question=True)
        runs: list[tuple[int, int]] = []
        for index in sorted({*content, *self._list_numbers()}):
            if runs and self._belongs(runs[-1][1], index):
                runs[-1] = runs[-1][0], index + 1
            else:
                runs.append((index, index + 1))
        pieces, last = list[LeftOverPiece](), 0
        for first, stop in runs:
            if stop > last:  # Else it is written together with the piece before it.
                start, last = self._widen(first, stop)
                relations, clause = frozenset(self._list_relations(start)), self._understanding.find_clause(start)
                pieces.append(LeftOverPiece(start, last, relations, self._is_name(start), clause))
        return tuple(pieces)

    @cached_property
    def uses_capitals(self) -> bool:
        """True where a capital means a name: in the language, and in a message that has other words, too."""
        text = self._understanding.text
        has_lower = any(text[word.start].islower() and not word.is_glued for word in self._understanding.words)
        return has_lower and bool(self._chart.grammar.nodes.get("capital_word"))

    def _list_content(self, *, with_question: bool) -> list[int]:
        """The words that nothing explains, and those that are written as names."""
        known = self._explained.list_saying_nothing(with_question=not with_question)
        return [
            index
            for index, word in enumerate(self._understanding.words)
            if not (word.is_sign or word.is_number or index in self._valued)
            and (index not in known or word.is_mended or self._is_name(index))
            and self._may_give(index, states=with_question)
        ]

    def _list_numbers(self) -> list[int]:
        """Numbers that no field takes, with what is written together with them: "12345", "A12"."""
        words = self._understanding.words
        numbers = {
            n for n, word in enumerate(words) if word.key[0].isdigit() and self._is_free(n) and self._may_give(n)
        }
        glued = {n - 1 for n in numbers if n and words[n].is_glued}
        glued |= {n + 1 for n in numbers if n + 1 < len(words) and words[n + 1].is_glued}
        return sorted(numbers | {n for n in glued if self._is_free(n)})

    def _is_free(self, index: int) -> bool:
        word = self._understanding.words[index]
        return index not in self._valued and not (word.is_sign and word.key not in _JOINTS)

    def _may_give(self, index: int, *, states: bool = False) -> bool:
        """False in a clause that denies; and with `states` in one that does not state: "I don't know the place"."""
        clause = self._understanding.find_clause(index)
        return clause is None or clause.force is Force.STATES or not (states or clause.force is Force.DENIES)

    def _is_name(self, index: int) -> bool:
        """True for a capital letter that does not begin a sentence, in a message that has small letters, too."""
        if not (self.uses_capitals and self._is_capital(index)) or index in self._understanding.begins:
            return False
        is_emphasised = self._chart.is_abbreviation(index) and index in self._explained.talk  # "I TOLD you"
        return not is_emphasised and self._chart.match_longest("capital_word", index) is None

    def _is_capital(self, index: int) -> bool:
        return self._understanding.text[self._understanding.words[index].start].isupper()

    def _belongs(self, end: int, index: int) -> bool:
        """True where the words from one piece to the next word belong to both."""
        words = self._understanding.words
        if not self._understanding.begins.isdisjoint(range(end, index + 1)):
            return False
        if any(words[n].key == ":" for n in range(end, index)):
            return False
        joints = [n for n in range(end, index) if not words[n].is_sign and not words[n].is_number]
        is_name = not self.uses_capitals or (self._is_capital(end - 1) and self._is_capital(index))
        return not joints or (is_name and all(self._chart.match("name_joint", n) for n in joints))

    def _widen(self, start: int, end: int) -> tuple[int, int]:
        """The piece with numbers beside it, and what is written together: "2306 Almaden Road", "Area 51", "B-17"."""
        words = self._understanding.words
        while start > 0 and self._is_beside(start - 1, words[start].is_glued):
            start -= 1
        while end < len(words) and self._is_beside(end, words[end].is_glued):
            end += 1
        # A sign that leads to nothing is no part of it.
        while words[start].key in _JOINTS and start + 1 < end and not words[start + 1].is_number:
            start += 1
        while words[end - 1].key in _JOINTS and start < end - 1:
            end -= 1
        return start, end

    def _is_beside(self, index: int, is_glued: bool) -> bool:
        """True for a number, and where no blank is between, for words and the signs of codes."""
        word = self._understanding.words[index]
        if index in self._valued:
            return False
        return word.is_number or (is_glued and (word.key in _JOINTS or not word.is_sign))

    def _list_relations(self, start: int) -> Iterator[str]:
        """What the nearest word of relation before a piece says, with nothing but small words between."""
        at, begins = start - 1, self._understanding.begins
        while at >= max(0, start - _MOST_SMALL) and at + 1 not in begins:
            matches = [match for match in self._chart.match("relation", at) if match.end <= start]
            if matches or at in self._explained.content:
                yield from (str(match.value) for match in matches)
                return
            at -= 1
