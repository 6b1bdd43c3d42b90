"""The data of the turn pages, each in a fixed number of queries; the rows that a turn used, and links for its words.

What an analyst may do with a word that nothing explains is a link to a form with the change filled in. The address
names the word by the turn and its position, because logs contain addresses.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpRequest
from django.urls import reverse

from audit import addresses
from audit.models import CeLlmCallLog
from audit.narration import RowRef, Sentence
from audit.narration.reading import MessagePart, MessageReading
from audit.narration.wording import title_row
from audit.record.events import Event, expand_events
from audit.record.model_calls import read_calls
from audit.record.queries import read_turns
from convengine.engine.turn.field_options import OPTIONS_FROM
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.record_columns import teach_url
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.interfaces.release_history import RowOrigin, release_history
from convengine.server.sessions.models import CeConversationHistory

_OF_CONVERSATION = tuple(
    f"conversation__{name}" for name in ("context_json", "input_params_json", "last_assistant_json")
)


@dataclass(frozen=True)
class TurnReading:
    """One turn: its record, and its whole events."""

    record: CeConversationHistory
    events: Sequence[Event]


def read_turn(conversation_id: uuid.UUID, turn_no: int) -> TurnReading:
    """A turn with its events; two queries. Raises Http404."""
    record = read_record(conversation_id, turn_no)
    return TurnReading(record, list(expand_events(read_turns(conversation_id, [turn_no]))))


def read_record(conversation_id: uuid.UUID, turn_no: int) -> CeConversationHistory:
    """The record of a turn; one query. Raises Http404."""
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    record = turns.select_related("conversation").defer(*_OF_CONVERSATION).first()
    if record is None:
        raise Http404(f"This conversation has no turn {turn_no}.")
    return record


class Neighbours(NamedTuple):
    """The numbers of the turns before and after one, None where there is no such turn."""

    before: int | None
    behind: int | None
    #: The release of the one before.
    release: int | None


def read_neighbours(conversation_id: uuid.UUID, turn_no: int) -> Neighbours:
    """The turns beside one; one query."""
    wanted = (turn_no - 1, turn_no + 1)
    turns = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__in=wanted)
    releases = dict(turns.values_list("turn_no", "config_version"))
    before, behind = (number if number in releases else None for number in wanted)
    return Neighbours(before, behind, releases.get(turn_no - 1))


def read_model_calls(reading: TurnReading) -> list[CeLlmCallLog]:
    """The model calls of a turn, in order; one query."""
    record = reading.record
    return read_calls(record.conversation_id, [record.turn_no or 0]).get(record.turn_no or 0, [])


class UsedRow(NamedTuple):
    ref: RowRef
    #: Its description, or its kind and number.
    title: str
    #: The row as it was in the turn.
    url: str
    origin: RowOrigin


def list_used_rows(
    request: HttpRequest, record: Any, sentences: Iterable[Sentence], snapshot: Snapshot | None
) -> list[UsedRow]:
    """The rows of the narration that the user may read, in order, each once."""
    if snapshot is None or record.config_version is None:
        return []
    history, user = release_history(), request.user
    refs = dict.fromkeys(RowRef(row.table, str(row.pk)) for sentence in sentences for row in sentence.rows)
    readable = [ref for ref in refs if ref.table in ROW_TYPE_OF and user.has_perm(history.right_to_read(ref.table))]
    origins = history.find_row_origins(readable, record.config_version)
    return [_build_row(record, ref, origins[ref], snapshot) for ref in readable if ref in origins]


def _build_row(record: Any, ref: RowRef, origin: RowOrigin, snapshot: Snapshot) -> UsedRow:
    url = addresses.row_url(record.conversation_id, record.turn_no, ref.table, ref.pk)
    return UsedRow(ref, title_row(snapshot, ref.table, ref.pk), url, origin)


_CHANGES_FORMS = "config_admin.change_ceoutputschema"
_ADDS_PHRASES = "config_admin.add_ceintentclassifier"


@dataclass(frozen=True)
class WordLinks:
    """Addresses for one word, or for several that follow one another."""

    text: str
    #: The label of each option of the field for which it may be, with the address that makes the word its synonym.
    options: Sequence[tuple[str, str]]
    #: Blank without the right.
    filler_url: str
    teach_url: str


def list_word_links(
    request: HttpRequest, record: CeConversationHistory, reading: MessageReading | None
) -> list[WordLinks]:
    """The links for each word that nothing explains; none for users who may change neither forms nor phrases."""
    user: Any = request.user
    if reading is None or not user.has_perm(READ_TURNS):
        return []
    changes_forms = reading.schema_id is not None and user.has_perm(_CHANGES_FORMS)
    teaching_url = find_teach_url(request, record)
    if not (changes_forms or teaching_url):
        return []
    return [
        WordLinks(
            word.text,
            list(_list_options(record, reading, word)) if changes_forms else [],
            _make_url(record, reading, word) if changes_forms else "",
            teaching_url,
        )
        for word in reading.unknown_words
    ]


def find_teach_url(request: HttpRequest, record: CeConversationHistory) -> str:
    """The page that makes phrases of the message of a turn; blank without the rights."""
    user: Any = request.user
    if not user.has_perms((READ_TURNS, _ADDS_PHRASES)):
        return ""
    return teach_url(message_of=record.pk)


def _list_options(
    record: CeConversationHistory, reading: MessageReading, word: MessagePart
) -> Iterator[tuple[str, str]]:
    if word.field is not None and OPTIONS_FROM not in word.field.declared:
        for option in word.field.spec.options:
            names = {"field": word.field.path, "option": str(option.value)}
            yield option.label, _make_url(record, reading, word, **names)


def _make_url(record: CeConversationHistory, reading: MessageReading, word: MessagePart, **names: str) -> str:
    query = urlencode({"message_of": record.pk, "start": word.start, "end": word.end, **names})
    return f"{reverse('admin:config_admin_ceoutputschema_change', args=[reading.schema_id])}?{query}"
