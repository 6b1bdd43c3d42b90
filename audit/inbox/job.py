"""Group what users wrote and the bot could not serve, in the background."""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from audit.inbox.collect import BY_WORDS, PERIOD, RECHECKED, read_messages
from audit.inbox.grouping import GroupSubject, InboxMessage, WordingGroup, group_by_meaning, group_by_subject
from audit.inbox.status import settle
from audit.models import CeInboxGroup, CeInboxMessage
from audit.models.inbox import make_fingerprint
from audit.record.days import WEEK, choose_days
from convengine.engine.documents.index import get_document_index
from convengine.engine.turn.job import Counts, Every, Job, Retention
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.server.database.sql import database_time, release_connections
from convengine.server.interfaces.configuration import configuration

#: How many groups of each kind are stored.
MOST_GROUPS = 2_000
_BATCH = 1_000
_STATUS = CeInboxGroup.Status
#: What the job writes; the rest is people's.
_COUNTED = (
    *("leader", "examples", "messages", "wordings", "this_week", "week_before", "first_at", "last_at"),
    *("status", "came_back", "decided_at", "fingerprint", "intent_code", "detail"),
)
#: A stored group by workspace and fingerprint.
_Key = tuple[str, str]


def update_inbox() -> Iterator[Counts]:
    for kind in CeInboxGroup.Kind:
        yield _update_kind(kind, database_time())


def _update_kind(kind: CeInboxGroup.Kind, now: datetime) -> Counts:
    by_turn: dict[tuple[int, GroupSubject], InboxMessage] = {}
    for message in read_messages(kind, now - PERIOD):
        # Two people may rate one answer; the newest comes first.
        by_turn.setdefault((message.turn, message.subject), message)
    messages = list(by_turn.values())
    # Grouping takes seconds; nobody waits for its connection.
    release_connections()
    by_workspace: dict[str, list[InboxMessage]] = {}
    for message in messages:
        by_workspace.setdefault(message.workspace, []).append(message)
    group_workspace = group_by_meaning if kind in BY_WORDS else group_by_subject
    groups = [group for own in by_workspace.values() for group in group_workspace(own)]
    # The largest first.
    groups.sort(key=lambda group: -len(group.messages))
    understood = _list_understood(kind, groups[:MOST_GROUPS])
    release_connections()
    with transaction.atomic():
        rows = _store_groups(kind, groups, understood, now)
        wanted = {(row.pk, message.turn) for row, group in rows for message in group.messages}
        of_kind = CeInboxMessage.objects.filter(group__kind=kind)
        stored = {(group, turn): pk for pk, group, turn in of_kind.values_list("pk", "group_id", "turn_id")}
        gone = [stored[key] for key in stored.keys() - wanted]
        for start in range(0, len(gone), _BATCH):
            CeInboxMessage.objects.filter(pk__in=gone[start : start + _BATCH]).delete()
        new = sorted(wanted - stored.keys())
        CeInboxMessage.objects.bulk_create(
            (CeInboxMessage(group_id=group, turn_id=turn) for group, turn in new), _BATCH
        )
    return {"messages": len(messages), "groups": len(groups)}


def _list_understood(kind: CeInboxGroup.Kind, groups: Sequence[WordingGroup]) -> set[int]:
    """The turns of the leaders that a phrase gives exactly one intent today, or any where none was known; and of those
    that a section of a document is asked as.
    """
    if kind not in RECHECKED:
        return set()
    snapshot = configuration().current()
    most = 1 if kind == CeInboxGroup.Kind.TWO_INTENTS else 99
    is_unknown, leaders = kind == CeInboxGroup.Kind.NOT_UNDERSTOOD, (group.leader for group in groups)
    index = get_document_index(snapshot)
    return {
        leader.turn
        for leader in leaders
        if (is_unknown and index.is_asked_as(leader.text)) or 0 < len(match_phrases(snapshot, leader.text).hits) <= most
    }


def _store_groups(
    kind: CeInboxGroup.Kind, groups: Sequence[WordingGroup], understood: Set[int], now: datetime
) -> list[tuple[CeInboxGroup, WordingGroup]]:
    """Store the largest groups, each in the row of the group that it was before; `understood`: their leaders' turns."""
    of_kind = CeInboxGroup.objects.select_for_update().filter(kind=kind).order_by("id")
    stored = {(row.workspace_id, row.fingerprint): row for row in of_kind}
    before = {row.pk: _read_counted(row) for row in stored.values()}
    largest = groups[:MOST_GROUPS]
    rows = [_update_row(_find_row(kind, group, stored), group, understood, now) for group in largest]
    known = [row for row in rows if row.pk]
    CeInboxGroup.objects.bulk_create([row for row in rows if not row.pk], _BATCH)
    changed = [row for row in known if _read_counted(row) != before[row.pk]]
    CeInboxGroup.objects.bulk_update(changed, _COUNTED, _BATCH)
    # What people decided or noted about a group is kept, also when its messages are older than the period.
    updated = {row.pk for row in known}
    rest = [row for row in stored.values() if row.pk not in updated]
    gone = [row.pk for row in rest if row.status != _STATUS.DISMISSED and not row.note]
    CeInboxGroup.objects.filter(pk__in=gone).delete()
    return list(zip(rows, largest, strict=True))


def _read_counted(row: CeInboxGroup) -> list[Any]:
    return [getattr(row, name) for name in _COUNTED]


def _find_row(kind: CeInboxGroup.Kind, group: WordingGroup, stored: Mapping[_Key, CeInboxGroup]) -> CeInboxGroup:
    """The stored row with one of the wordings, rather a decided one; else a new row."""
    contents = _list_contents(kind, group)
    keys = [(group.workspace, make_fingerprint(content)) for content in contents]
    # After a change of the secret, a group is known by the one before.
    older = [
        (group.workspace, make_fingerprint(content, secret))
        for secret in settings.SECRET_KEY_FALLBACKS
        for content in contents
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


def _list_contents(kind: CeInboxGroup.Kind, group: WordingGroup) -> list[str]:
    """What identifies a group: each of its wordings, or what its messages met."""
    if kind not in BY_WORDS:
        return ["\0".join((kind, *group.subject))]
    # Messages that nobody understood had no kind before.
    prefix = "" if kind == CeInboxGroup.Kind.NOT_UNDERSTOOD else f"{kind}\0"
    return [f"{prefix}{wording.words}" for wording in group.wordings]


def _update_row(row: CeInboxGroup, group: WordingGroup, understood: Set[int], now: datetime) -> CeInboxGroup:
    times = [message.at for message in group.messages]
    row.leader, row.examples = group.leader.turn, [message.turn for message in group.examples]
    row.messages, row.wordings = len(times), len(group.wordings)
    since, until = choose_days(WEEK.days, now)
    row.this_week = sum(since <= at for at in times)
    row.week_before = sum(since - WEEK <= at < until - WEEK for at in times)
    row.first_at, row.last_at = min(times), max(times)
    if row.kind in BY_WORDS:
        intent, count = group.later_intent
        row.intent_code, row.detail = intent, str(count or "")
    settle(row, now, is_understood=group.leader.turn in understood)
    return row


JOB = Job(
    "update_inbox",
    "Group messages for the inbox",
    "Groups the messages of the last 30 days that the bot could not serve: not understood, refused, handed over, "
    "rated down.",
    Every(300),
    update_inbox,
    removes=[Retention(["audit.CeInboxGroup", "audit.CeInboxMessage"], PERIOD, "unless dismissed or noted")],
)
