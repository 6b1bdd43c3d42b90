"""Group what users wrote and the bot could not serve, in the background."""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.timezone import localdate

from audit.inbox.collect import read_messages, read_texts
from audit.inbox.entries import BY_WORDS, Entry, list_entries, load_entries, store_entries
from audit.inbox.grouping import (
    Group,
    Message,
    find_common_topics,
    group_by_leader,
    group_by_subject,
    list_wordings,
    merge_groups,
)
from audit.models import CeInboxGroup, CeInboxProgress
from audit.models.inbox import make_fingerprint
from convengine.engine.extras import is_installed
from convengine.engine.turn.job import Counts, Every, Job
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.server.database.release import release_connections
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import configuration
from convengine.server.model_clients import vectors

#: How far back messages are read.
PERIOD = timedelta(days=30)
#: How many groups of each kind are stored.
MOST_GROUPS = 2_000
_BATCH = 1_000
_WEEK = timedelta(days=7)
_STATUS = CeInboxGroup.Status
#: A turn is stored at most this much later than it began.
_SLACK = timedelta(minutes=10)
#: What the job writes; the rest is people's.
_COUNTED = (
    *("leader", "examples", "messages", "wordings", "this_week", "week_before", "first_at", "last_at"),
    *("status", "came_back", "decided_at", "fingerprint"),
)
#: The cosine of two texts that mean the same.
_SAME_MEANING = 0.85
#: A stored group by workspace and fingerprint.
_Key = tuple[str, str]


def update_inbox() -> Iterator[Counts]:
    """Read the messages of each kind that are new, and store the groups. Once a day all messages are read."""
    for kind in CeInboxGroup.Kind:
        yield _update_kind(kind, database_time())


def group_again() -> Iterator[Counts]:
    """Read all messages of the period, and store the groups."""
    CeInboxProgress.objects.all().delete()
    yield from update_inbox()


def _update_kind(kind: CeInboxGroup.Kind, now: datetime) -> Counts:
    entries, since = _load_known(kind, now)
    messages = list(read_messages(kind, since))
    # Grouping takes seconds; nobody waits for its connection.
    release_connections()
    contents: dict[str, str] = {}
    entries = list_entries(kind, messages, entries or [], contents)
    groups = _make_groups(kind, entries)
    understood = _list_understood(kind, groups[:MOST_GROUPS])
    release_connections()
    with transaction.atomic():
        rows = _store_groups(kind, groups, understood, now, contents)
        of_turn = {
            (message.turn, message.subject): row.pk
            for row, group in zip(rows, groups, strict=False)
            for message in group.messages
        }
        store_entries(kind, [entry._replace(group=of_turn.get(entry.key)) for entry in entries])
        _note_progress(kind, now, since)
    return {"messages": len(messages), "groups": len(groups)}


def _load_known(kind: CeInboxGroup.Kind, now: datetime) -> tuple[list[Entry] | None, datetime]:
    """The messages that were read before, or null if all must be read; and since when they are read now.

    All are read once a day, after a change of the secret, and when a message that was there is gone. A rating can be
    taken back, so the ratings are read every time; there are few of them.
    """
    progress = CeInboxProgress.objects.filter(kind=kind).first()
    is_fresh = progress is not None and localdate(progress.since + PERIOD) == localdate(now)
    if (
        progress is None
        or not is_fresh
        or kind == CeInboxGroup.Kind.NEGATIVE
        or progress.secret != make_fingerprint("")
    ):
        return None, now - PERIOD
    entries = load_entries(kind, progress.since)
    return (None, now - PERIOD) if entries is None else (entries, progress.read_at - _SLACK)


def _note_progress(kind: CeInboxGroup.Kind, now: datetime, since: datetime) -> None:
    progress = CeInboxProgress.objects.filter(kind=kind).first() or CeInboxProgress(kind=kind, since=since)
    if since == now - PERIOD:
        progress.since = since
    progress.read_at, progress.secret = now, make_fingerprint("")
    progress.save()


def _make_groups(kind: CeInboxGroup.Kind, entries: Sequence[Entry]) -> list[Group]:
    """The groups of all workspaces, largest first. Messages that are not compared are in none."""
    by_workspace: dict[str, list[Entry]] = {}
    for entry in entries:
        by_workspace.setdefault(entry.workspace, []).append(entry)
    groups = [group for own in by_workspace.values() for group in _group_workspace(kind, own)]
    return sorted(groups, key=lambda group: -len(group.messages))


def _group_workspace(kind: CeInboxGroup.Kind, entries: Sequence[Entry]) -> list[Group]:
    if kind not in BY_WORDS:
        return group_by_subject((entry.wording, entry.message) for entry in entries)
    compared = [entry for entry in entries if entry.leader]
    leader_of = {entry.wording: entry.leader for entry in compared}
    groups = group_by_leader(list_wordings((entry.wording, entry.message) for entry in compared), leader_of)
    groups = merge_groups(groups, lambda leaders: find_common_topics(_list_texts(leaders)))
    return merge_groups(groups, _find_same_meaning) if is_installed("semantic") else groups


def _find_same_meaning(leaders: Sequence[Message]) -> list[int | None]:
    return vectors.find_similar_earlier(_list_texts(leaders), _SAME_MEANING)


def _list_texts(leaders: Sequence[Message]) -> list[str]:
    texts = read_texts(leader.turn for leader in leaders)
    return [texts.get(leader.turn, "") for leader in leaders]


def _list_understood(kind: CeInboxGroup.Kind, groups: Sequence[Group]) -> set[int]:
    """The turns of the leaders that a phrase gives exactly one intent today, or any where none was known."""
    if kind not in (CeInboxGroup.Kind.NOT_UNDERSTOOD, CeInboxGroup.Kind.TWO_INTENTS):
        return set()
    snapshot = configuration().current()
    most = 1 if kind == CeInboxGroup.Kind.TWO_INTENTS else 99
    texts = read_texts(group.leader.turn for group in groups)
    return {turn for turn, text in texts.items() if 0 < _count_intents(snapshot, text) <= most}


def _count_intents(snapshot: Snapshot, text: str) -> int:
    return len(match_phrases(snapshot, text).hits)


def _store_groups(
    kind: CeInboxGroup.Kind,
    groups: Sequence[Group],
    understood: Set[int],
    now: datetime,
    contents: Mapping[str, str],
) -> list[CeInboxGroup]:
    """Store the largest groups, each in the row of the group that it was before; `understood`: their leaders' turns."""
    of_kind = CeInboxGroup.objects.select_for_update().filter(kind=kind).order_by("id")
    stored = {(row.workspace_id, row.fingerprint): row for row in of_kind}
    before = {row.pk: _read_counted(row) for row in stored.values()}
    rows = [
        _update_row(_find_row(kind, group, stored, contents), group, understood, now) for group in groups[:MOST_GROUPS]
    ]
    known = [row for row in rows if row.pk]
    CeInboxGroup.objects.bulk_create([row for row in rows if not row.pk], _BATCH)
    changed = [row for row in known if _read_counted(row) != before[row.pk]]
    CeInboxGroup.objects.bulk_update(changed, _COUNTED, _BATCH)
    # What people decided or noted about a group is kept, also when its messages are older than the period.
    updated = {row.pk for row in known}
    rest = [row for row in stored.values() if row.pk not in updated]
    gone = [row.pk for row in rest if row.status != _STATUS.DISMISSED and not row.note]
    CeInboxGroup.objects.filter(pk__in=gone).delete()
    return rows


def _read_counted(row: CeInboxGroup) -> list[Any]:
    return [getattr(row, name) for name in _COUNTED]


def _find_row(
    kind: CeInboxGroup.Kind, group: Group, stored: Mapping[_Key, CeInboxGroup], contents: Mapping[str, str]
) -> CeInboxGroup:
    """The stored row with one of the wordings, rather a decided one; else a new row."""
    if kind in BY_WORDS:
        fingerprints = [wording.words for wording in group.wordings]
        known_contents = [contents[words] for words in fingerprints if words in contents]
    else:
        known_contents = ["\0".join((kind, *group.subject))]
        fingerprints = list(map(make_fingerprint, known_contents))
    keys = [(group.workspace, fingerprint) for fingerprint in fingerprints]
    # After a change of the secret, a group is known by the one before.
    older = [
        (group.workspace, make_fingerprint(content, secret))
        for secret in settings.SECRET_KEY_FALLBACKS
        for content in known_contents
    ]
    known = [stored[key] for key in (*keys, *older) if key in stored]
    decided = [row for row in known if row.status != _STATUS.OPEN]
    if row := next(iter(decided or known), None):
        if (row.workspace_id, row.fingerprint) not in keys:
            row.fingerprint = next((key[1] for key in keys if key not in stored), row.fingerprint)
        return row
    subject = group.subject
    return CeInboxGroup(
        kind=kind,
        workspace_id=group.workspace,
        fingerprint=keys[0][1],
        intent_code=subject.intent,
        field_name=subject.field,
        detail=subject.detail,
        table_name=subject.table,
        row_pk=subject.row,
    )


def _update_row(row: CeInboxGroup, group: Group, understood: Set[int], now: datetime) -> CeInboxGroup:
    times = [message.at for message in group.messages]
    row.leader, row.examples = group.leader.turn, [message.turn for message in group.examples]
    row.messages, row.wordings = len(times), len(group.wordings)
    row.this_week = sum(at > now - _WEEK for at in times)
    row.week_before = sum(now - 2 * _WEEK < at <= now - _WEEK for at in times)
    row.first_at, row.last_at = min(times), max(times)
    is_understood = group.leader.turn in understood
    is_decided = row.status != _STATUS.OPEN
    if is_decided and row.decided_at and row.last_at > row.decided_at:
        row.status, row.came_back = _STATUS.OPEN, True
        # A group that came back although its phrase is known stays open until somebody decides about it.
        row.decided_at = row.decided_at if is_understood else None
    elif not is_decided and not is_understood:
        row.decided_at = None
    elif not is_decided and row.decided_at is None:
        row.status, row.decided_at, row.came_back = _STATUS.UNDERSTOOD, now, False
    elif row.status == _STATUS.UNDERSTOOD and not is_understood:
        row.status, row.decided_at = _STATUS.OPEN, None
    return row


JOB = Job(
    "update_inbox",
    "Group messages for the inbox",
    "Groups the messages of the last 30 days that the bot could not serve: not understood, refused, handed over, "
    "rated down.",
    Every(300),
    update_inbox,
)
