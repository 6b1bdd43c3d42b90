"""A topic: the rows of its intent and of the questions beside its flow, rows of others that name it, and its bundle."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.flows.reading import list_question_codes
from config_admin.flows.topics.mentions import mentions_intent, replace_intents
from config_admin.releases.content import contents
from config_admin.transfer.bundle import write_bundle
from config_admin.transfer.document import ImportMode
from config_admin.transfer.natural_keys import TOOL, TOOL_CODE, Contents
from config_admin.validation.relations import find_tool, index_rows
from config_admin.validation.stored_columns import control_plane
from config_admin.validation.uses import list_row_texts
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, UNKNOWN, intent_key
from convengine.engine.turn.snapshot import Snapshot


@dataclass(frozen=True)
class Topic:
    """An intent with its rows, by table and key. The intents of the questions beside its flow belong to it."""

    intent: rows.Intent
    #: The intents of the questions that are answered beside its flow.
    question_codes: tuple[str, ...]
    #: The rows of these intents, their own rows included.
    own: Contents
    #: Rows of other intents that name this one for certain: rules, settings, conditions and templates.
    references: Contents
    #: Rows of any intent with the code as a word in a text that may mean something else.
    mentions: Contents

    @property
    def code(self) -> str:
        return code(self.intent.intent_code)

    @property
    def count(self) -> int:
        return sum(map(len, self.own.values()))

    @property
    def codes(self) -> tuple[str, ...]:
        return self.code, *self.question_codes

    def list_drafts(self) -> Sequence[CeDraft]:
        """The open drafts that edit rows of it, or add some. One query."""
        is_own = Q(edits__after__intent_code__in=self.codes)
        for table, members in self.own.items():
            is_own |= Q(edits__table_name=table, edits__row_pk__in=list(map(str, members)))
        return list(CeDraft.objects.filter(is_own, status=DraftStatus.OPEN).distinct().order_by("pk"))

    def rename_codes(self, new_code: str) -> dict[str, str]:
        """The new code of each intent: the questions keep their numbers."""
        return {name: f"{new_code}{name.removeprefix(self.code)}" for name in self.codes}


def collect_topic(snapshot: Snapshot, intent: str) -> Topic | None:
    """The topic of an intent. Returns None if there is no such intent."""
    stored = snapshot.row(rows.Intent, intent)
    if stored is None:
        return None
    question_codes = tuple(list_question_codes(snapshot, intent))
    codes, folded = (intent, *question_codes), intent.lower()
    keys: dict[str, list[object]] = {}
    for name in codes:
        for table, members in _list_own_rows(snapshot, name):
            keys.setdefault(table, []).extend(row.pk for row in members)
    own = _load_contents(keys)
    # The rows with the letters of the code somewhere.
    others = _load_contents(
        {
            row_type.table: [texts.row.pk for texts in list_row_texts(snapshot, row_type) if folded in texts.folded]
            for row_type in rows.ROW_TYPES
        }
    )
    references: dict[str, dict[object, dict[str, object]]] = {}
    mentions: dict[str, dict[object, dict[str, object]]] = {}
    for table, by_key in others.items():
        for pk, content in by_key.items():
            if pk not in own.get(table, {}) and replace_intents(table, content, dict.fromkeys(codes, "")) != content:
                references.setdefault(table, {})[pk] = content
            if any(mentions_intent(table, content, name) for name in codes):
                mentions.setdefault(table, {})[pk] = content
    return Topic(stored, question_codes, own, references, mentions)


def find_topic(snapshot: Snapshot, intent: str) -> Topic | None:
    """The topic of an intent.

    Returns None for the codes that every configuration has, and where there is no such intent.
    """
    wanted = code(intent)
    return None if wanted in (ANY, UNKNOWN) else collect_topic(snapshot, wanted)


def has_rows_of(snapshot: Snapshot, intent: str) -> bool:
    """True when rows of any table have this code, whether or not there is such an intent."""
    return any(members for _, members in _list_own_rows(snapshot, intent))


def _list_own_rows(snapshot: Snapshot, intent: str) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """The rows of an intent by table, with the parts of its tools. A table may have none."""
    for row_type in rows.ROW_TYPES:
        if "intent_code" in rows.columns(row_type):
            yield row_type.table, index_rows(snapshot, row_type, intent_key).get(intent, ())
    # A tool's SQL or call has the key of the tool.
    tools = index_rows(snapshot, rows.Tool, intent_key).get(intent, ())
    for part in (rows.DbTool, rows.HttpTool):
        yield part.table, tuple(row for tool in tools if (row := snapshot.row(part, tool.pk)))


def _load_contents(keys: Mapping[str, list[object]]) -> dict[str, dict[object, dict[str, object]]]:
    """The rows as stored, in the order of inserting them."""
    return {table: contents(table, keys[table]) for table in control_plane() if keys.get(table)}


def export_topic(topic: Topic) -> bytes:
    """The rows as a YAML bundle that adds them where it is imported."""
    contents = {TOOL: {}, **topic.own}
    tables = [table for table, members in topic.own.items() if members]
    return write_bundle(contents, tables, as_yaml=True, mode=ImportMode.ADD).encode()


def list_needed_tools(snapshot: Snapshot, topic: Topic) -> list[rows.Tool]:
    """The tools that rows of the topic call by code, and that belong to other intents."""
    own = topic.own.get(TOOL, {})
    called = {str(row[TOOL_CODE]) for row in topic.own.get(rows.DirectTool.table, {}).values() if row[TOOL_CODE]}
    tools = (find_tool(snapshot, tool_code) for tool_code in sorted(called))
    return [tool for tool in tools if tool is not None and tool.pk not in own]
