"""Group messages by their meaning: the same words first, then what is near as sentences. Pure functions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import numpy as np

from convengine.engine.text.compare import match_text
from convengine.engine.understanding.encoder import encode
from convengine.engine.understanding.phrases.terms import is_bare_answer, read_text

#: Sentences that are no further apart, by one minus their cosine, are about the same. With less, "u deliver to france?"
#: and "do you send parcels abroad" stay apart; with more, siblings such as two kinds of fees become one.
_DISTANCE = 0.43
#: How many wordings are compared with each other, the most frequent ones: comparing is quadratic. The others join the
#: nearest group.
MOST_COMPARED = 5_000
#: Wordings beyond these came once, and are left out.
MOST_WORDINGS = 10_000
#: Wordings that a group names besides its leader.
MOST_EXAMPLES = 9


class GroupSubject(NamedTuple):
    """What the messages of a group met: the field of a form, the row that answered, or what their users got then."""

    intent: str = ""
    field: str = ""
    detail: str = ""
    table: str = ""
    row: str = ""


NO_SUBJECT = GroupSubject()


@dataclass(frozen=True)
class InboxMessage:
    """A message of a turn, or the part of it that was refused."""

    turn: int
    text: str
    at: datetime
    workspace: str = ""
    subject: GroupSubject = NO_SUBJECT


@dataclass
class Wording:
    words: str
    messages: list[InboxMessage] = field(default_factory=list)

    @property
    def newest(self) -> InboxMessage:
        return max(self.messages, key=lambda message: (message.at, message.turn))

    @property
    def first_turn(self) -> int:
        return min(message.turn for message in self.messages)


@dataclass
class WordingGroup:
    """Wordings that are alike, the most frequent first."""

    wordings: list[Wording]
    #: What identifies the group besides its words.
    subject: GroupSubject = NO_SUBJECT

    @property
    def messages(self) -> list[InboxMessage]:
        return [message for wording in self.wordings for message in wording.messages]

    @property
    def leader(self) -> InboxMessage:
        """The newest message of the most frequent wording."""
        return self.wordings[0].newest

    @property
    def later_intent(self) -> tuple[str, int]:
        """The intent that most users got after these messages, and how many did; blank and 0 if none is known."""
        intents = Counter(message.subject.intent for message in self.messages if message.subject.intent)
        return max(intents.items(), key=lambda item: (item[1], item[0]), default=("", 0))

    @property
    def examples(self) -> list[InboxMessage]:
        """The newest message of the most frequent other wordings."""
        return [wording.newest for wording in self.wordings[1 : MOST_EXAMPLES + 1]]

    @property
    def workspace(self) -> str:
        return self.leader.workspace


def group_by_meaning(messages: Sequence[InboxMessage]) -> list[WordingGroup]:
    """A group for each meaning, largest first. Bare answers, and messages without words, are in none."""
    by_count = sorted(_list_wordings(messages), key=lambda wording: (-len(wording.messages), wording.first_turn))
    teachable = map(_without_bare_answers, (wording for wording in by_count[:MOST_WORDINGS] if wording.words))
    wordings = [wording for wording in teachable if wording.messages]
    groups: dict[int, list[Wording]] = defaultdict(list)
    for number, wording in zip(_number_meanings([wording.newest.text for wording in wordings]), wordings, strict=True):
        groups[number].append(wording)
    return _sort_groups(WordingGroup(_sort_wordings(members)) for members in groups.values())


def _number_meanings(texts: Sequence[str]) -> Iterator[int]:
    """Yield the number of the group of each text.

    Texts that are near only through others in between are in different groups.
    """
    if len(texts) < 2:
        yield from range(len(texts))
        return
    from sklearn.cluster import AgglomerativeClustering

    vectors = encode(texts)
    compared = vectors[:MOST_COMPARED]
    clustering = AgglomerativeClustering(None, metric="cosine", linkage="average", distance_threshold=_DISTANCE)
    numbers = clustering.fit_predict(compared)
    yield from map(int, numbers)
    centres = np.stack([compared[numbers == number].mean(axis=0) for number in range(numbers.max() + 1)])
    for index, vector in enumerate(vectors[MOST_COMPARED:]):
        distances = 1 - centres @ vector
        nearest = int(distances.argmin())
        yield nearest if distances[nearest] <= _DISTANCE else len(centres) + index


def _without_bare_answers(wording: Wording) -> Wording:
    """Nobody can teach what a bare "yes", "no" or "1" means, which may have the words of another message."""
    bare = {text for text in {message.text for message in wording.messages} if is_bare_answer(text)}
    return Wording(wording.words, [message for message in wording.messages if message.text not in bare])


def group_by_subject(messages: Iterable[InboxMessage]) -> list[WordingGroup]:
    """A group for each field or row that the messages met, largest first."""
    by_subject: dict[GroupSubject, list[InboxMessage]] = defaultdict(list)
    for message in messages:
        by_subject[message.subject].append(message)
    return _sort_groups(
        WordingGroup(_sort_wordings(_list_wordings(members)), subject) for subject, members in by_subject.items()
    )


def _list_wordings(messages: Sequence[InboxMessage]) -> list[Wording]:
    words_of = {text: normalise(text) for text in {message.text for message in messages}}
    by_words: dict[str, Wording] = {}
    for message in messages:
        words = words_of[message.text]
        by_words.setdefault(words, Wording(words)).messages.append(message)
    return list(by_words.values())


def _sort_wordings(wordings: Iterable[Wording]) -> list[Wording]:
    """The most frequent first, then the newest."""
    return sorted(wordings, key=lambda wording: (-len(wording.messages), -wording.newest.turn))


def _sort_groups(groups: Iterable[WordingGroup]) -> list[WordingGroup]:
    return sorted(groups, key=lambda group: (-len(group.messages), -group.leader.turn, group.subject))


def normalise(text: str) -> str:
    """The telling words of a text in alphabetical order; of a text without any, the text itself."""
    return " ".join(sorted({word.term for word in read_text(text)[0]})) or match_text(text)
