"""What the words of a message are in a short text: frames before it, courtesies behind it, words of names."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise, product

from convengine.engine.understanding.form import MOST_SHORT
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover

_NOT_IN_NAMES = ("filler", "denial", "supposition", "question", "request")
#: Signs that end a text and do not belong to it.
_ENDS = frozenset(".,;:!?\n-–")
#: Classes of what stands before one.
_FRAMES = ("courtesy", "lead_in", "name_lead_in", "introduction")
_IN_ADDRESSES = frozenset("@/")
#: Signs between two values.
PARTING = frozenset(",;()")


class TextWords:
    def __init__(self, understanding: Understanding) -> None:
        self._words, self._chart = understanding.words, understanding.chart
        small = _find_small(understanding)
        words = [(index, word) for index, word in enumerate(self._words) if not word.is_sign]
        talk = {index for index in understanding.talk if understanding.text[self._words[index].start].islower()}
        self._not_in_names = [index for index, word in words if word.is_number or index in small | talk]
        #: In no table, or with a slip there.
        self._new = [index for index, word in words if word.key not in self._chart.grammar.words or word.is_mended]
        courtesies = product(("courtesy", "lead_out"), range(len(self._words)))
        #: By their end, where those begin that have no slip.
        self._courtesies = {match.end: at for name, at in courtesies if (match := self._chart.match_exactly(name, at))}
        self._begins = understanding.begins
        self._sorted_begins = sorted({0, *self._begins})
        self._talk = understanding.talk
        self._fillers = cover(cue for cue in understanding.cues if cue.name == "filler")
        self._small = cover(understanding.cues)
        self._stripped: dict[int, int] = {}
        self._frame_ends: dict[int, frozenset[int]] = {}

    def give_text(self, start: int, end: int, *, is_name: bool, is_held: bool) -> bool:
        """False for what is no name where a name is asked for, and for "wrong" of a field that has a text already."""
        return (self.are_name(start, end) or not is_name) and (self.have_new(start, end) or not is_held)

    def are_name(self, start: int, end: int) -> bool:
        """True for a few words of which one is in no table, and none a number, a small word or part of an address."""
        is_address = any(word.key in _IN_ADDRESSES for word in self._words[start:end])
        return self.have_new(start, end) and not (is_address or _has_between(self._not_in_names, start, end))

    def have_new(self, start: int, end: int) -> bool:
        """True when a word is in no table, or has a slip there."""
        return _has_between(self._new, start, end)

    def skip_frame(self, relations: frozenset[str], *, is_name: bool) -> int:
        """The word behind what stands before a short answer: "my job is", "it's in", "for my mother".

        `relations`: those of its field.
        """
        start, beside = 0, ("possessive", "relative") if is_name else ()
        if self.has_street():
            return 0
        while (end := self._skip(start, relations, (*_FRAMES, *beside))) > start:
            start, beside = end, (*beside, "short_article")
        article, after = self._chart.match_exactly("short_article", start), self._words[start + 1 : start + 2]
        if article and article.end == start + 1 and after and self._chart.text[after[0].start].islower():
            start += 1  # The "the" of "the oak table", but not of "The Fat Duck".
        return start if start < len(self._words) else 0

    def has_street(self) -> bool:
        """True for "Am Anger 3, at the back": a number beside words with capitals, up to a sign that parts."""
        end = next((at for at, word in enumerate(self._words) if word.key in PARTING), len(self._words))
        first, last = self._words[0].is_number, self._words[end - 1].is_number
        start, stop = int(first), end - last
        is_name = stop == start + 1 and self._chart.text[self._words[start].start].isupper()
        return first is not last and (is_name or self.are_title(start, stop))

    def _skip(self, start: int, relations: frozenset[str], names: Sequence[str]) -> int:
        """The word behind a sign, a frame or a courtesy that begins at a word; behind one, also behind "a" and "in"."""
        if start < len(self._words) and self._words[start].key in _ENDS:
            return start + 1
        ends = [match.end for name in names if (match := self._chart.match_exactly(name, start))]
        opening = self._chart.match_exactly("opening", start)
        if opening and opening.end < len(self._words) and self._words[opening.end].is_sign:
            ends.append(opening.end)  # "Yes. The Blue Door", and not "Yes Bar".
        related = self._chart.match("relation", start)
        ends += [
            match.end for match in related if "short_article" in names or not relations or match.value in relations
        ]
        return max(ends, default=start)

    def find_answer_end(self) -> int:
        """Where a sentence, or a part behind a comma, begins to tell something of its own: it has two small words.

        "5 Oak Street, sorry, we have lived there for years". The end of the message where nothing does.
        """
        marks = [at for at, word in enumerate(self._words) if word.key in PARTING]
        starts, answer_end = sorted({at + 1 for at in marks} | self._begins), len(self._words)
        for start, end in reversed([*pairwise((*starts, answer_end))]):
            words = [at for at in range(start, end) if not self._words[at].is_sign]
            small = self._small.intersection(words)
            tells = len(small) > 1 or (len(small) == len(words) and answer_end < len(self._words))
            if start and tells:
                answer_end = start
        return max((at for at in self._begins if 0 < at <= answer_end), default=answer_end)

    def skip_small(self, start: int, end: int) -> int:
        """The first word that does not only fill: "just EI 3288", "the sofa". A capital belongs to a name."""
        at = start
        while at < end - 1 and at in self._fillers and self._chart.text[self._words[at].start].islower():
            at += 1
        return at

    def is_framed(self, start: int) -> bool:
        """True for a word behind a frame, where only small words stand between it and the beginning of the sentence."""
        begin = self._sorted_begins[bisect_right(self._sorted_begins, start) - 1]
        if begin not in self._frame_ends:
            words = range(begin, len(self._words))
            last = next((at for at in words if at not in self._small), len(self._words))
            matches = (self._chart.match_exactly(name, at) for at in words[: last - begin + 1] for name in _FRAMES[1:])
            self._frame_ends[begin] = frozenset(match.end for match in matches if match)
        return not self._frame_ends[begin].isdisjoint((start - 1, start))

    def are_short(self, start: int, end: int) -> bool:
        """True for a few words of a sentence, with commas in an address only; small words of names do not count."""
        words = [index for index in range(start, end) if not self._words[index].is_sign]
        telling = [index for index in words if not self._chart.match("name_joint", index)]
        is_parted = any(word.key in PARTING for word in self._words[start:end])
        has_street = self.has_street()
        is_few = bool(words) and len(telling) <= MOST_SHORT * (1 + has_street) and len(words) <= 2 * MOST_SHORT
        return is_few and (has_street or not is_parted) and self._begins.isdisjoint(range(start + 1, end))

    def are_title(self, start: int, end: int) -> bool:
        """True for words that are written as a title: "The Fat Duck", "Fish and Chips at the Pier"."""
        words = [index for index in range(start, end) if not self._words[index].is_sign]
        words = words[:-1] if words and self._words[words[-1]].is_number else words
        capital = [index for index in words if self._chart.text[self._words[index].start].isupper()]
        small = [index for index in words if index not in capital and not self._is_joint(index)]
        is_framed = len(capital) > 1 and capital[0] == words[0] and capital[-1] == words[-1]
        return is_framed and words[0] not in self._talk and not small

    def _is_joint(self, index: int) -> bool:
        return any(self._chart.match(name, index) for name in ("name_joint", "relation", "short_article"))

    def widen(self, start: int, end: int, bounds: set[int]) -> tuple[int, int]:
        """A part of a sentence with the words that belong to it: "number 36 from Harrogate" for "36".

        `bounds`: words that it does not go over.
        """
        while start - 1 not in bounds and self._goes_back(start):
            start -= 1
        last, stops = end, self._begins | bounds
        while last < len(self._words) and last not in stops and self._goes_on(last):
            last += 1
            end = end if last - 1 in self._small or self._words[last - 1].is_sign or self._is_joint(last - 1) else last
        return start, end

    def _goes_back(self, start: int) -> bool:
        """True where the word before belongs to a text: it is new, or joins it to a new one: "Nottingham to"."""
        if start in self._begins or not start:
            return False
        before = self._words[start - 1]
        is_name = before.is_number or self._words[start].is_number or self._chart.text[before.start].isupper()
        if self._is_joint(start - 1) and start > 1 and start - 1 not in self._begins:
            is_small = start - 2 in self._small or start - 2 in self._talk
            return not is_small and self._chart.text[self._words[start - 2].start].isupper()
        return is_name and start - 1 not in self._small

    def _goes_on(self, at: int) -> bool:
        """True for a word that is no small one, or joins the next one: "on the third floor with a lift, no garden"."""
        if self._words[at].key in PARTING:
            return self._chart.match_exactly("denial", at + 1) is not None
        is_joint = self._is_joint(at) or self._chart.match_exactly("denial", at) is not None
        return not self._words[at].is_sign and (at not in self._small or is_joint)

    def strip_end(self, start: int, end: int) -> int:
        """The end of a text without the courtesies and signs behind it; all of it where it has nothing else."""
        if end not in self._stripped:
            shorter = end
            while shorter and (shorter in self._courtesies or self._words[shorter - 1].key in _ENDS):
                shorter = self._courtesies.get(shorter, shorter - 1)
            self._stripped[end] = shorter
        return self._stripped[end] if self._stripped[end] > start else end


def _find_small(understanding: Understanding) -> set[int]:
    """The words of cues that no name has. In a free text, a cue with a slip is rather a name: "Tom" is no "to"."""
    is_mended = understanding.chart.is_mended
    cues = (cue for cue in understanding.cues if cue.name in _NOT_IN_NAMES)
    return cover(cue for cue in cues if not is_mended(cue.start, cue.end))


def _has_between(positions: Sequence[int], start: int, end: int) -> bool:
    first = bisect_left(positions, start)
    return first < len(positions) and positions[first] < end
