"""Group short texts by likeness. Pure functions; 100,000 messages take seconds.

The wordings are compared in the order in which they came first. So one that comes later changes no group before it, and
groups that grow message by message are those of all messages at once.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from rapidfuzz import fuzz, process

from convengine.engine.phrases.words import detect_languages, read_telling_words
from convengine.engine.text.compare import match_text

#: How alike two texts must be, from 0 to 100.
_LIKENESS = 86
#: How many wordings are compared, the most frequent ones: comparing is quadratic, and the rest came once.
MOST_WORDINGS = 20_000
#: Wordings that a group names besides its leader.
MOST_EXAMPLES = 9
#: How many groups are compared by meaning, the largest ones.
MOST_MERGED = 2_000


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

    #: The words, or what stands for them.
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


#: Finds for each message the index of an earlier one that means the same; null for none.
FindSimilar = Callable[[Sequence[Message]], Sequence[int | None]]


def list_wordings(messages: Iterable[tuple[str, Message]], *, blank: bool = False) -> list[Wording]:
    """Messages, each with its words or what stands for them, by these. `blank`: also those without words."""
    by_words: dict[str, Wording] = {}
    for words, message in messages:
        if words or blank:
            by_words.setdefault(words, Wording(words)).messages.append(message)
    return list(by_words.values())


def choose_wordings(wordings: Iterable[Wording]) -> list[Wording]:
    """The most frequent ones, as many as are compared, in the order in which they came first.

    Each of them joins the likest one that leads a group. So a chain of texts, each like the next, is not one group.
    """
    by_count = sorted(wordings, key=lambda wording: (-len(wording.messages), wording.first_turn))
    return sorted(by_count[:MOST_WORDINGS], key=lambda wording: wording.first_turn)


def find_leaders(wordings: Iterable[str], leaders: Iterable[str]) -> dict[str, str]:
    """The likest leader of each wording, itself if none is like it. Leaders before them are in order, too."""
    known = list(leaders)
    leader_of: dict[str, str] = {}
    for words in wordings:
        nearest = process.extractOne(words, known, scorer=fuzz.ratio, score_cutoff=_LIKENESS)
        leader_of[words] = nearest[0] if nearest else words
        if not nearest:
            known.append(words)
    return leader_of


def group_by_leader(wordings: Iterable[Wording], leader_of: Mapping[str, str]) -> list[Group]:
    """A group for each leader, largest first."""
    groups: dict[str, list[Wording]] = defaultdict(list)
    for wording in wordings:
        groups[leader_of[wording.words]].append(wording)
    return _sort_groups(Group(_sort_wordings(members)) for members in groups.values())


def group_by_subject(messages: Iterable[tuple[str, Message]]) -> list[Group]:
    """A group for each field or row that the messages met, largest first."""
    by_subject: dict[Subject, list[tuple[str, Message]]] = defaultdict(list)
    for words, message in messages:
        by_subject[message.subject].append((words, message))
    return _sort_groups(
        Group(_sort_wordings(list_wordings(members, blank=True)), subject) for subject, members in by_subject.items()
    )


def _sort_wordings(wordings: Iterable[Wording]) -> list[Wording]:
    """The most frequent first, then the newest."""
    return sorted(wordings, key=lambda wording: (-len(wording.messages), -wording.newest.turn))


def _sort_groups(groups: Iterable[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-len(group.messages), -group.leader.turn, group.subject))


def merge_groups(groups: Sequence[Group], find_similar: FindSimilar) -> list[Group]:
    """Groups with the same meaning as one, largest first."""
    return _sort_groups(_merge_groups(groups, find_similar))


def _merge_groups(groups: Sequence[Group], find_similar: FindSimilar) -> list[Group]:
    """Each group joins the earlier, larger one that means the same, unless that one joined another."""
    joined: set[int] = set()
    for index, earlier in enumerate(find_similar([group.leader for group in groups[:MOST_MERGED]])):
        if earlier is not None and earlier not in joined:
            joined.add(index)
            groups[earlier].wordings += groups[index].wordings
    return [group for index, group in enumerate(groups) if index not in joined]


def normalise(text: str) -> str:
    """The telling words of a text in alphabetical order; of a text without any, the text itself."""
    terms: set[str] = set()
    for language in detect_languages(text)[:1]:
        terms.update(word.term for word in read_telling_words(text, language))
    return " ".join(sorted(terms)) or match_text(text)
