"""Group short texts by likeness, then groups by topic. Pure functions; 100,000 messages take seconds.

The wordings are compared in the order in which they came first: one that comes later changes no group before it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from rapidfuzz import fuzz, process

from convengine.engine.text.compare import match_text
from convengine.engine.understanding.phrases.terms import is_bare_answer, read_text

#: How alike two texts must be, from 0 to 100.
_LIKENESS = 86
#: How many wordings are compared, the most frequent ones: comparing is quadratic, and the rest came once.
MOST_WORDINGS = 10_000
#: Wordings that a group names besides its leader.
MOST_EXAMPLES = 9
#: How many groups are compared with each other, the largest ones.
MOST_MERGED = 2_000
#: What two messages about the same share: more than this part of their words, and at least words of this weight.
_COMMON_SHARE, _COMMON_WEIGHT = 0.5, 2.0
#: How much a word counts that says when or how many.
_LIGHT = 0.5


class Subject(NamedTuple):
    """What the messages of a group met: the field of a form, or the row that answered."""

    intent: str = ""
    field: str = ""
    detail: str = ""
    table: str = ""
    row: str = ""


NO_SUBJECT = Subject()


@dataclass(frozen=True)
class Message:
    """A message of a turn, or the part of it that was refused."""

    turn: int
    text: str
    at: datetime
    workspace: str = ""
    subject: Subject = NO_SUBJECT


@dataclass
class Wording:
    """Messages with the same words."""

    words: str
    messages: list[Message] = field(default_factory=list)

    @property
    def newest(self) -> Message:
        return max(self.messages, key=lambda message: (message.at, message.turn))

    @property
    def first_turn(self) -> int:
        return min(message.turn for message in self.messages)


@dataclass
class Group:
    """Wordings that are alike, the most frequent first."""

    wordings: list[Wording]
    #: What identifies the group besides its words.
    subject: Subject = NO_SUBJECT

    @property
    def messages(self) -> list[Message]:
        return [message for wording in self.wordings for message in wording.messages]

    @property
    def leader(self) -> Message:
        """The newest message of the most frequent wording."""
        return self.wordings[0].newest

    @property
    def examples(self) -> list[Message]:
        """The newest message of the most frequent other wordings."""
        return [wording.newest for wording in self.wordings[1 : MOST_EXAMPLES + 1]]

    @property
    def workspace(self) -> str:
        return self.leader.workspace


#: Finds for each text the index of an earlier one about the same; null for none.
FindSimilar = Callable[[Sequence[str]], Sequence[int | None]]


def group_by_words(messages: Sequence[Message]) -> list[Group]:
    """A group for each wording that is like none before it, largest first; the others join the likest one.

    So a chain of texts, each like the next, is not one group. Bare answers, and messages without words, are in none.
    """
    by_count = sorted(_list_wordings(messages), key=lambda wording: (-len(wording.messages), wording.first_turn))
    teachable = map(_without_bare_answers, (wording for wording in by_count[:MOST_WORDINGS] if wording.words))
    compared = [wording for wording in teachable if wording.messages]
    groups: dict[str, list[Wording]] = {}
    for wording in sorted(compared, key=lambda wording: wording.first_turn):
        nearest = process.extractOne(wording.words, groups.keys(), scorer=fuzz.ratio, score_cutoff=_LIKENESS)
        groups.setdefault(nearest[0] if nearest else wording.words, []).append(wording)
    return _sort_groups(Group(_sort_wordings(members)) for members in groups.values())


def _without_bare_answers(wording: Wording) -> Wording:
    """Nobody can teach what a bare "yes", "no" or "1" means, which may have the words of another message."""
    bare = {text for text in {message.text for message in wording.messages} if is_bare_answer(text)}
    return Wording(wording.words, [message for message in wording.messages if message.text not in bare])


def group_by_subject(messages: Iterable[Message]) -> list[Group]:
    """A group for each field or row that the messages met, largest first."""
    by_subject: dict[Subject, list[Message]] = defaultdict(list)
    for message in messages:
        by_subject[message.subject].append(message)
    return _sort_groups(
        Group(_sort_wordings(_list_wordings(members)), subject) for subject, members in by_subject.items()
    )


def _list_wordings(messages: Sequence[Message]) -> list[Wording]:
    """Messages by their words."""
    words_of = {text: normalise(text) for text in {message.text for message in messages}}
    by_words: dict[str, Wording] = {}
    for message in messages:
        words = words_of[message.text]
        by_words.setdefault(words, Wording(words)).messages.append(message)
    return list(by_words.values())


def _sort_wordings(wordings: Iterable[Wording]) -> list[Wording]:
    """The most frequent first, then the newest."""
    return sorted(wordings, key=lambda wording: (-len(wording.messages), -wording.newest.turn))


def _sort_groups(groups: Iterable[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-len(group.messages), -group.leader.turn, group.subject))


def merge_groups(groups: Sequence[Group], find_similar: FindSimilar) -> list[Group]:
    """Groups about the same as one, largest first."""
    joined: set[int] = set()
    # Each joins the earlier, larger one about the same, unless that one joined another.
    for index, earlier in enumerate(find_similar([group.leader.text for group in groups[:MOST_MERGED]])):
        if earlier is not None and earlier not in joined:
            joined.add(index)
            groups[earlier].wordings = _sort_wordings(groups[earlier].wordings + groups[index].wordings)
    return _sort_groups(group for index, group in enumerate(groups) if index not in joined)


def find_common_topics(texts: Sequence[str]) -> list[int | None]:
    """For each text the index of an earlier one about the same; null for none.

    The text that is like most others stands for a topic: a phrase of its words would catch the others. Then the one
    that is like most of the rest. So all texts of a topic are like one text, and no chain of them is a topic.
    """
    alike = _find_alike(list(map(_weigh_words, texts)))
    first_of: list[int | None] = [None] * len(texts)
    free = set(range(len(texts)))
    # The size of a topic only gets smaller, so it is counted again when it comes up.
    queue = [(-len(others), index) for index, others in alike.items()]
    heapify(queue)
    while queue:
        size, index = heappop(queue)
        topic = (alike[index] | {index}) & free if index in free else set()
        if len(topic) < 2:
            continue
        if len(topic) - 1 < -size:
            heappush(queue, (1 - len(topic), index))
            continue
        first = min(topic)
        for member in topic - {first}:
            first_of[member] = first
        free -= topic
    return first_of


def _find_alike(weighed: Sequence[Mapping[str, float]]) -> dict[int, set[int]]:
    """The texts that share enough words, by index, for each that has any."""
    having: dict[str, list[int]] = defaultdict(list)
    for index, weights in enumerate(weighed):
        for term in weights:
            having[term].append(index)
    totals = [sum(weights.values()) for weights in weighed]
    alike: dict[int, set[int]] = defaultdict(set)
    for index, weights in enumerate(weighed):
        shared: dict[int, float] = defaultdict(float)
        for term, weight in weights.items():
            for other in having[term]:
                shared[other] += weight
        for other, common in shared.items():
            together = totals[index] + totals[other] - common
            if other != index and common >= _COMMON_WEIGHT and common > _COMMON_SHARE * together:
                alike[index].add(other)
    return alike


def _weigh_words(text: str) -> dict[str, float]:
    """The telling words of a text, each with how much it counts."""
    return {word.term: _LIGHT if word.light else 1.0 for word in read_text(text)[0]}


def normalise(text: str) -> str:
    """The telling words of a text in alphabetical order; of a text without any, the text itself."""
    return " ".join(sorted({word.term for word in read_text(text)[0]})) or match_text(text)
