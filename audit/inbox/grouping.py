"""Group short texts by likeness. Pure functions; 100,000 messages take seconds."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
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

    words: str
    messages: list[Message] = field(default_factory=list)

    @property
    def newest(self) -> Message:
        return max(self.messages, key=lambda message: (message.at, message.turn))


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

    def list_contents(self, kind: str) -> Iterator[str]:
        """What a fingerprint is made of, for each wording: a group is known again by any of them."""
        if self.subject != NO_SUBJECT:
            yield "\0".join((kind, *self.subject))
            return
        # Messages that nobody understood had no kind before.
        prefix = "" if kind == "NOT_UNDERSTOOD" else f"{kind}\0"
        yield from (prefix + wording.words for wording in self.wordings)


#: Finds for each text the index of an earlier one that means the same; null for none.
FindSimilar = Callable[[Sequence[str]], Sequence[int | None]]


def group_messages(messages: Iterable[Message], find_similar: FindSimilar | None = None) -> list[Group]:
    """The groups of a workspace, largest first.

    Each text joins the likest one that leads a group. So a chain of texts, each like the next, is not one group.
    `find_similar`: finished groups with the same meaning are merged.
    """
    by_count = _list_wordings(messages)
    leaders: list[str] = []
    groups: list[Group] = []
    for wording in by_count[:MOST_WORDINGS]:
        nearest = process.extractOne(wording.words, leaders, scorer=fuzz.ratio, score_cutoff=_LIKENESS)
        if nearest:
            groups[nearest[2]].wordings.append(wording)
        else:
            leaders.append(wording.words)
            groups.append(Group([wording]))
    groups = _sort_groups(groups)
    return _sort_groups(_merge_groups(groups, find_similar)) if find_similar else groups


def group_by_subject(messages: Iterable[Message]) -> list[Group]:
    """A group for each field or row that the messages met, largest first."""
    by_subject: dict[Subject, list[Message]] = defaultdict(list)
    for message in messages:
        by_subject[message.subject].append(message)
    return _sort_groups(Group(_list_wordings(of, blank=True), subject) for subject, of in by_subject.items())


def _list_wordings(messages: Iterable[Message], *, blank: bool = False) -> list[Wording]:
    """The most frequent first. `blank`: also of messages without words."""
    by_words: dict[str, Wording] = {}
    for message in messages:
        words = normalise(message.text)
        if words or blank:
            by_words.setdefault(words, Wording(words)).messages.append(message)
    return sorted(by_words.values(), key=lambda wording: (-len(wording.messages), wording.words))


def _sort_groups(groups: Iterable[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-len(group.messages), group.wordings[0].words, group.subject))


def _merge_groups(groups: list[Group], find_similar: FindSimilar) -> list[Group]:
    """Each group joins the earlier, larger one that means the same, unless that one joined another."""
    joined: set[int] = set()
    for index, earlier in enumerate(find_similar([group.leader.text for group in groups[:MOST_MERGED]])):
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
