"""The messages that the job has read: their wordings and leaders are stored, so that each text is read once."""

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from typing import NamedTuple

from audit.inbox.collect import read_texts
from audit.inbox.grouping import NO_SUBJECT, Message, Subject, choose_wordings, find_leaders, list_wordings, normalise
from audit.models import CeInboxGroup, CeInboxMessage
from audit.models.inbox import make_fingerprint
from convengine.engine.understanding.phrases.terms import is_bare_answer

Kind = CeInboxGroup.Kind
#: The kinds whose messages are grouped by their words; the others by what they met.
BY_WORDS = frozenset({Kind.NOT_UNDERSTOOD, Kind.TWO_INTENTS, Kind.HANDED_OVER})
_BATCH = 1_000
_SUBJECT = ("intent_code", "field_name", "detail", "table_name", "row_pk")
_Key = tuple[int, Subject]


class Entry(NamedTuple):
    """A message without its text."""

    turn: int
    at: datetime
    workspace: str
    #: The fingerprint of its words.
    wording: str
    #: The wording that leads its group; blank if it is not compared.
    leader: str = ""
    subject: Subject = NO_SUBJECT
    group: int | None = None

    @property
    def key(self) -> _Key:
        return self.turn, self.subject

    @property
    def message(self) -> Message:
        return Message(self.turn, "", self.at, self.workspace, self.subject)


def load_entries(kind: str, since: datetime) -> list[Entry] | None:
    """The stored messages of a kind; null if the turn of one is gone or empty."""
    stored = CeInboxMessage.objects.filter(kind=kind)
    alive = stored.filter(turn__created_at__gte=since, turn__user_input__isnull=False)
    columns = ("turn_id", "turn__created_at", "turn__conversation__workspace_id", "wording", "leader", "group_id")
    rows = alive.order_by("turn_id").values_list(*columns, *_SUBJECT)
    entries = [
        Entry(turn, at, workspace, wording, leader, Subject(*subject), group)
        for turn, at, workspace, wording, leader, group, *subject in rows
    ]
    return entries if len(entries) == stored.count() else None


def list_entries(
    kind: Kind, messages: Sequence[Message], known: Sequence[Entry], contents: MutableMapping[str, str]
) -> list[Entry]:
    """The known messages and the new ones, each in one entry, with leaders; `contents` gets what new wordings say."""
    entries = {entry.key: entry for entry in known}
    words_of: dict[str, str] = {}
    for message in messages:
        words = normalise(message.text)
        # Nobody can teach what no words, or a bare "yes", "no" or "1" mean.
        is_unteachable = kind in BY_WORDS and (not words or is_bare_answer(message.text))
        if (message.turn, message.subject) in entries or is_unteachable:
            continue
        # Messages that nobody understood had no kind before.
        content = words if kind == Kind.NOT_UNDERSTOOD else f"{kind}\0{words}"
        wording = make_fingerprint(content)
        words_of[wording], contents[wording] = words, content
        entry = Entry(message.turn, message.at, message.workspace, wording, subject=message.subject)
        entries[entry.key] = entry
    if kind not in BY_WORDS:
        return list(entries.values())
    leaders = _find_leaders(list(entries.values()), words_of)
    return [entry._replace(leader=leaders.get((entry.workspace, entry.wording), "")) for entry in entries.values()]


def _find_leaders(entries: Sequence[Entry], words_of: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """The leader of each wording of a workspace: as it was, or of a new wording the likest one."""
    by_workspace: dict[str, list[Entry]] = {}
    for entry in entries:
        by_workspace.setdefault(entry.workspace, []).append(entry)
    leaders: dict[tuple[str, str], str] = {}
    for workspace, own in by_workspace.items():
        before = {entry.wording: entry.leader for entry in own if entry.leader}
        new = [entry for entry in own if entry.wording in words_of and entry.wording not in before]
        leaders |= {(workspace, wording): leader for wording, leader in before.items()}
        leaders |= {(workspace, wording): leader for wording, leader in _compare(own, new, before, words_of)}
    return leaders


def _compare(
    entries: Sequence[Entry], new: Sequence[Entry], before: Mapping[str, str], words_of: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    if not new:
        return
    known = _read_words([entry for entry in entries if before.get(entry.wording) == entry.wording])
    wordings = choose_wordings(list_wordings((entry.wording, entry.message) for entry in new))
    wording_of = {words: wording for wording, words in known.items()}
    wording_of |= {words_of[wording.words]: wording.words for wording in wordings}
    leader_of = find_leaders((words_of[wording.words] for wording in wordings), known.values())
    for words, leader in leader_of.items():
        yield wording_of[words], wording_of[leader]


def _read_words(leading: Sequence[Entry]) -> dict[str, str]:
    """The words of some wordings, in the order in which they came first, from the newest message of each."""
    first, newest = dict[str, int](), dict[str, int]()
    for entry in leading:
        first[entry.wording] = min(entry.turn, first.get(entry.wording, entry.turn))
        newest[entry.wording] = max(entry.turn, newest.get(entry.wording, 0))
    texts = read_texts(newest.values())
    return {wording: normalise(texts.get(newest[wording], "")) for wording in sorted(first, key=lambda key: first[key])}


def store_entries(kind: str, entries: Sequence[Entry]) -> None:
    """Store what changed. Needs an open transaction."""
    columns = ("pk", "turn_id", "wording", "leader", "group_id", *_SUBJECT)
    stored = {}
    for pk, turn, wording, leader, group, *subject in CeInboxMessage.objects.filter(kind=kind).values_list(*columns):
        stored[turn, Subject(*subject)] = pk, (wording, leader, group)
    new, changed = list[CeInboxMessage](), list[CeInboxMessage]()
    for entry in entries:
        pk, values = stored.pop(entry.key, (None, None))
        if values == (entry.wording, entry.leader, entry.group):
            continue
        row = CeInboxMessage(
            pk=pk,
            kind=kind,
            turn_id=entry.turn,
            wording=entry.wording,
            leader=entry.leader,
            group_id=entry.group,
            **dict(zip(_SUBJECT, entry.subject, strict=True)),
        )
        (changed if pk else new).append(row)
    gone = [pk for pk, _ in stored.values()]
    for start in range(0, len(gone), _BATCH):
        CeInboxMessage.objects.filter(pk__in=gone[start : start + _BATCH]).delete()
    CeInboxMessage.objects.bulk_create(new, _BATCH)
    CeInboxMessage.objects.bulk_update(changed, ["wording", "leader", "group"], _BATCH)
