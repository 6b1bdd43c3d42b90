"""The data of an evidence file: the sealed bytes of turns, and the releases that they ran on."""

import base64
import hashlib
import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from audit.export.evidence.sealed_row import SealedRow, list_turn_events, select_turn_rows
from audit.models import CeLedger
from audit.narration import narrate_turn
from audit.record.events import Event
from audit.seal import SEALED, encode_parts
from convengine.engine.steps.state_graph.step import STATE_GRAPH_VALID
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.rows import ROW_TYPE_OF, Intent, StateEdge
from convengine.json_value import Json
from convengine.server.database.unreadable import read_rows
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.release_history import release_history
from convengine.server.sessions.models import ADDITION, CeConversation, CeConversationHistory

#: The form of the data.
FORMAT = 2
#: Turns of one file.
MAX_TURNS = 200
CONVERSATION, SEARCH = "conversation", "search"
_PROOF = "convengine evidence"


@dataclass(frozen=True)
class EvidenceOrder:
    """Who wants evidence, and which configuration tables they may read."""

    by: str
    may_read: Callable[[str], bool]


def collect_conversation(
    row: CeConversation, order: EvidenceOrder, first: int = 1, last: int = 2**31 - 1
) -> dict[str, Json]:
    """The data of the first MAX_TURNS turns of a conversation from `first` to `last`, with what was added to them.

    Events outside of turns are included only if all turns are.
    """
    stored = CeConversationHistory.objects.filter(conversation_id=row.pk)
    wanted = stored.filter(turn_no__gte=first, turn_no__lte=last).order_by("turn_no")
    numbers = list(wanted.values_list("turn_no", flat=True)[:MAX_TURNS])
    turns = stored.filter(turn_no__in=numbers)
    is_whole = len(numbers) == (count := stored.count())
    # Additions outside of turns belong to the whole conversation.
    additions = CeConversationHistory.additions.filter(conversation_id=row.pk)
    additions = additions if is_whole else additions.filter(turn_no__in=numbers)
    rows = [
        *read_rows(turns.defer(None).order_by("turn_no")),
        *read_rows(additions.defer(None).order_by("history_id")),
    ]
    subject = {
        "kind": CONVERSATION,
        "search": "",
        "leftOut": f"{count - len(numbers)} of its {count} turns" if not is_whole else "",
        "first": numbers[0] if numbers else 0,
        "last": numbers[-1] if numbers else 0,
        "whole": is_whole,
    }
    return _build_data(subject, [row], rows, order)


def collect_search(
    matches: Sequence[CeConversationHistory], search: str, left_out: str, order: EvidenceOrder
) -> dict[str, Json]:
    """The data of the turns that a search found, with what was added to them. `left_out` says what is not included."""
    ids = [turn.turn_id for turn in matches]
    wanted = Q(pk__in=[turn.pk for turn in matches]) | Q(source=ADDITION, turn_id__in=ids)
    rows = CeConversationHistory._base_manager.filter(wanted, conversation_id__in={t.conversation_id for t in matches})
    keys = list(dict.fromkeys(turn.conversation_id for turn in matches))
    by_key = CeConversation.objects.in_bulk(keys)
    subject = {"kind": SEARCH, "search": search, "leftOut": left_out, "first": 0, "last": 0, "whole": False}
    in_order = rows.defer(None).order_by("turn_no", "history_id")
    return _build_data(subject, [by_key[key] for key in keys if key in by_key], read_rows(in_order), order)


def sign(data: dict[str, Json], key: str | bytes | None = None) -> str:
    """The proof of an installation over all data: only its secret makes it. Without `key`, with its present secret."""
    content = json.dumps({name: value for name, value in data.items() if name != "proof"}, sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return salted_hmac(_PROOF, digest, secret=key, algorithm="sha256").hexdigest()


def _build_data(
    subject: dict[str, Json], conversations: Iterable[CeConversation], rows: Sequence[Any], order: EvidenceOrder
) -> dict[str, Json]:
    """All data of a file, with the proof over them. `subject` says what was asked for."""
    by_conversation: dict[uuid.UUID, list[dict[str, Json]]] = defaultdict(list)
    for row in rows:
        by_conversation[row.conversation_id].append(_describe_record(row))
    root = CeLedger.find_newest_root()
    data = {
        "format": FORMAT,
        "madeAt": timezone.now().isoformat(timespec="seconds"),
        "madeBy": order.by,
        "subject": subject,
        "conversations": [_describe_conversation(row, by_conversation[row.pk]) for row in conversations],
        "configuration": _collect_configuration(by_conversation.values(), order),
        "root": {"at": root.created_at.isoformat(timespec="seconds"), "root": root.root} if root else None,
    }
    return {**data, "proof": sign(data)}


def _describe_conversation(row: CeConversation, rows: list[dict[str, Json]]) -> dict[str, Json]:
    """A conversation with its rows. The participant is blank if it has no name or was erased."""
    is_erased = row.lifecycle_detail.get("reason") == "erased"
    return {
        "id": str(row.pk),
        "workspace": row.workspace_id,
        "channel": row.channel,
        "participant": "" if row.channel == PLAIN_CHANNEL or is_erased else row.remote_jid,
        "rows": rows,
    }


def _describe_record(row: CeConversationHistory) -> dict[str, Json]:
    """The sealed bytes of a row and its seal; the hash of the release is that of the release in the file."""
    parts = encode_parts({name: getattr(row, name) for name in SEALED})
    return {
        "header": parts.header.decode("utf-8", "surrogatepass"),
        "words": parts.words.decode("utf-8", "surrogatepass"),
        "events": parts.events.decode("utf-8", "surrogatepass"),
        "recording": base64.b64encode(parts.recording).decode(),
        "seal": bytes(row.seal).hex() if row.seal else "",
    }


def _collect_configuration(groups: Iterable[list[dict[str, Json]]], order: EvidenceOrder) -> dict[str, Json]:
    """The rows that the turns used, as far as the reader may read their tables."""
    rows: dict[int, set[tuple[str, str]]] = defaultdict(set)
    tables: dict[int, set[str]] = defaultdict(set)
    for group in groups:
        sealed = [SealedRow.read(record) for record in group]
        for row in sealed:
            rows[row.config_version] |= {(table, str(key)) for table, key, _ in row.deciding_rows}
            if row.turn_no is None or row.is_addition:
                continue
            events = list_turn_events(select_turn_rows(row, sealed))
            rows[row.config_version] |= set(_list_named_rows(row, events))
            if any(event.name == STATE_GRAPH_VALID for event in events):
                tables[row.config_version].add(StateEdge.table)
    known = {table: order.may_read(release_history().right_to_read(table)) for table in ROW_TYPE_OF}
    return release_history().collect_evidence(
        {version: [row for row in sorted(keys) if known.get(row[0])] for version, keys in rows.items()},
        {version: [table for table in sorted(names) if known[table]] for version, names in tables.items()},
    )


def _list_named_rows(row: SealedRow, events: Sequence[Event]) -> Iterator[tuple[str, str]]:
    """The rows that the narration of a turn names, and those of its intents, as (table, key). Some may come twice."""
    release = configuration().at(row.config_version)
    sentences = narrate_turn(events, release) if events else []
    yield from ((ref.table, str(ref.pk)) for sentence in sentences for ref in sentence.rows)
    facts = [fact.value for sentence in sentences for fact in sentence.facts]
    for value in (*facts, row.columns["intent_before"], row.columns["intent_code"]):
        for code in value if isinstance(value, (list, dict)) else [value]:
            if isinstance(code, str) and release.find_row(Intent.table, code):
                yield Intent.table, code
