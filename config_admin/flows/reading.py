"""A flow read back from the rows of its intent, what those rows have besides, and the flow as a file."""

import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from config_admin.flows.document import ASKING, Document, FlowKind, FlowRefused, Values
from config_admin.flows.languages import UNTRANSLATED, merge_languages
from config_admin.flows.mapping import list_shapes, number_question, read_question, sort_parts, write_rows
from config_admin.flows.row_shapes import IDENTITY, RowShape, fold
from config_admin.releases.active import snapshots
from config_admin.releases.queries import content_hash_of
from config_admin.transfer.document import BaseRelease
from config_admin.validation.relations import index_rows
from convengine.engine.rules.actions import refuse_value
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.live_settings import read
from convengine.engine.turn.local_time import LANGUAGES, find_language_code
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import QUESTION_BESIDE_FLOW, intent_key
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.translations import find_translations, is_words, list_texts, write_texts
from convengine.json_value import Json

RowIdentity = tuple[str, Hashable]


@dataclass(frozen=True)
class FlowReading:
    document: Values
    #: The intents of the questions in between, in the order of the document.
    question_codes: tuple[str, ...]
    #: The rows as the document writes them, and as they are stored.
    written: Mapping[RowIdentity, Values]
    stored: Mapping[RowIdentity, Row]
    #: Rows of its intents that the document does not describe.
    other_rows: tuple[Row, ...]
    #: True when all its phrases are switched off, as those of a copy are.
    is_off: bool = False

    def list_changed_columns(self) -> Iterator[tuple[Row, tuple[str, ...]]]:
        """The stored rows with values beyond the document, and their columns. Saving the flow keeps these values."""
        for identity, row in self.stored.items():
            changed = tuple(
                name
                for name, value in self.written[identity].items()
                if getattr(row, name) != value and fold(name, getattr(row, name)) != fold(name, value)
            )
            is_phrase_of_copy = self.is_off and isinstance(row, rows.Classifier)
            if changed or not (row.enabled or "enabled" in self.written[identity] or is_phrase_of_copy):
                yield row, changed

    @property
    def missing(self) -> tuple[tuple[str, Values], ...]:
        """Rows of the document, by table, that were deleted or changed beyond recognition. Saving leaves them away."""
        return tuple((key[0], values) for key, values in self.written.items() if key not in self.stored)


def read_flow(snapshot: Snapshot, intent_code: str) -> FlowReading | None:
    """The flow of an intent. Returns None when its rows are no flow."""
    own = _FlowRows(snapshot, code(intent_code))
    document = own.read()
    if own.find_lack(document):
        return None
    questions = list(_read_questions(snapshot, own.intent_code, is_off=own.is_off))
    document = sort_parts(document, [item for _, item in questions])
    codes = tuple(question_code for question_code, _ in questions)
    try:
        written = index_by_identity(write_rows(document, codes))
    except FlowRefused:
        return None
    stored, others = _match_rows(snapshot, (own.intent_code, *codes), written)
    return FlowReading(document, codes, written, stored, others, own.is_off)


def describe_no_flow(snapshot: Snapshot, intent_code: str) -> str:
    """Why an intent is no flow: the part that none of its rows has, and the row that comes nearest; blank for a
    flow.
    """
    own = _FlowRows(snapshot, code(intent_code))
    document = own.read()
    if lack := own.find_lack(document):
        return lack
    try:
        write_rows(document)
    except FlowRefused as refused:
        return f"{refused}."
    return ""


def read_languages(snapshot: Snapshot, reading: FlowReading) -> Values:
    """The document of a flow with its texts in all languages of the workspace."""
    first, *others = list_workspace_languages(snapshot) or [""]
    translated = {language: _read_language(snapshot, reading, language) for language in others}
    merged: Values = merge_languages(reading.document, translated, first)
    return merged


def list_workspace_languages(snapshot: Snapshot) -> list[str]:
    """The languages of the workspace, that of the rows' own texts first."""
    return list(dict.fromkeys(map(find_language_code, read(snapshot, LANGUAGES).value)))


def _read_language(snapshot: Snapshot, reading: FlowReading, language: str) -> Values:
    """The document in a language, with `UNTRANSLATED` where the rows have no translation."""
    own, *questions = (
        _FlowRows(snapshot, intent_code).read(partial(_speak_row, language=language), language)
        for intent_code in (reading.document["code"], *reading.question_codes)
    )
    return sort_parts(own, list(map(read_question, questions)))


def _speak_row(row: Row, language: str) -> Mapping[str, Json]:
    values = vars(row)
    texts = dict.fromkeys((at for at, _ in list_texts(row.table, values)), UNTRANSLATED)
    given = find_translations(values.get("translations"), language)
    if isinstance(row, rows.Rule):
        texts = {at: f"{field}: {UNTRANSLATED}" for at in texts if (field := _find_refused_field(values[at]))}
        given = {at: text for at, text in given.items() if _find_refused_field(text)}
    known = {at: text for at, text in given.items() if at in texts or is_words(at)}
    return {**values, **write_texts(values, {**texts, **known}, adds_words=False)}


def _find_refused_field(value: str) -> str:
    """The field that a refusal names. Returns an empty text for a damaged refusal."""
    try:
        return refuse_value.parse(value)[0]
    except ActionValueError:
        return ""


def list_flows(snapshot: Snapshot) -> Iterator[Values]:
    """The documents of all flows, by code."""
    questions: set[str] = set()
    for intent in sorted(snapshot.rows(rows.Intent), key=lambda row: row.intent_code):
        reading = None if intent.intent_code in questions else read_flow(snapshot, intent.intent_code)
        if reading:
            questions.update(reading.question_codes)
            yield reading.document


def find_flow_of_question(snapshot: Snapshot, intent_code: str) -> str:
    """The flow that an intent answers questions for, or blank."""
    match = QUESTION_BESIDE_FLOW.fullmatch(code(intent_code))
    reading = read_flow(snapshot, match[1]) if match else None
    return match[1] if match and reading and code(intent_code) in reading.question_codes else ""


def list_question_codes(snapshot: Snapshot, flow_code: str) -> list[str]:
    """The intents of the questions beside a flow, switched off or not; none for an intent that is no flow."""
    if _FlowRows(snapshot, flow_code).kind is None:
        return []
    codes = (number_question(flow_code, number) for number in _index_questions(snapshot).get(flow_code, ()))
    return [name for name in codes if _FlowRows(snapshot, name).kind is FlowKind.answer]


def index_by_identity(tables: Mapping[str, list[Values]]) -> dict[RowIdentity, Values]:
    """Rows to write, by identity; of equal ones the first."""
    index: dict[RowIdentity, Values] = {}
    for table, rows_of_table in tables.items():
        for values in rows_of_table:
            index.setdefault(_identify(table, values), values)
    return index


def _identify(table: str, values: Mapping[str, Any]) -> RowIdentity:
    """What tells a row apart from the other rows of its flow."""
    return table, tuple(fold(name, values[name]) for name in IDENTITY[table])


# --- from rows to the document ------------------------------------------------------------------------------------


def _read_questions(snapshot: Snapshot, flow_code: str, *, is_off: bool) -> Iterator[tuple[str, Values]]:
    """The questions in between: their intents, and their items in the document.

    `is_off`: the phrases of the flow are off, and those of its questions may be, too.
    """
    for number in _index_questions(snapshot).get(flow_code, ()):
        own = _FlowRows(snapshot, number_question(flow_code, number))
        document = own.read()
        if own.kind is FlowKind.answer and not own.find_lack(document) and (is_off or not own.is_off):
            yield own.intent_code, read_question(document)


def _index_questions(snapshot: Snapshot) -> Mapping[str, list[int]]:
    """The numbers of the intents that may answer questions beside a flow, by the code of the flow."""
    return snapshot.table(rows.Intent).memo.get("questions of flows", lambda: _number_questions(snapshot))


def _number_questions(snapshot: Snapshot) -> Mapping[str, list[int]]:
    """The numbers of the questions beside each flow, in order, by the code of the flow."""
    numbers: dict[str, list[int]] = {}
    for row in snapshot.rows(rows.Intent):
        if match := QUESTION_BESIDE_FLOW.fullmatch(row.intent_code):
            numbers.setdefault(match[1], []).append(int(match[2]))
    return {flow_code: sorted(listed) for flow_code, listed in numbers.items()}


class _FlowRows:
    """The rows of an intent, and the flow that they make."""

    def __init__(self, snapshot: Snapshot, intent_code: str) -> None:
        self._snapshot, self.intent_code = snapshot, intent_code
        self._intent = snapshot.row(rows.Intent, intent_code)
        phrases = [row for row in self._list(rows.Classifier.table) if row.is_phrase and row.pattern]
        #: A copy begins with all its phrases off.
        self.is_off = not any(row.enabled for row in phrases)
        kinds = ASKING if self._list_enabled(rows.OutputSchema.table) else (FlowKind.handover, FlowKind.answer)
        #: The kind of flow that the rows make; None for rows of another shape.
        self.kind = next((kind for kind in kinds if all(map(self._has_telling, list_shapes(kind)))), None)

    def read(self, speak: Callable[[Row], Mapping[str, Json]] = vars, language: str = "") -> Values:
        """The document, as far as the rows have it. `speak` says their texts in a language."""
        spoken = {"locale": language} if language else {}
        document: Document = {"code": self.intent_code, "kind": self.kind and self.kind.value}
        if self._intent and self.kind:
            document = {**document, **spoken, "title": self._intent.name}
            for shape in list_shapes(self.kind):
                is_phrase_of_copy = shape.table == rows.Classifier.table and self.is_off
                usable = self._list(shape.table) if is_phrase_of_copy else self._list_enabled(shape.table)
                own = [speak(row) for row in usable if not shape.list_differences(vars(row))]
                document = {**shape.read(document, own), **spoken}
        return dict(document)

    def find_lack(self, document: Document) -> str:
        """Why the document is no flow; blank for one."""
        if self._intent is None:
            return f"There is no intent {self.intent_code}."
        if self.kind is None:
            return "No row says what follows when its form is complete, or the form has another state than COLLECT."
        for shape in list_shapes(self.kind):
            for key in ("phrases", "answer"):
                if key not in document and key in shape.list_keys():
                    return f"Its {key} is missing: no row of {shape.table} has it.{self._describe_nearest(shape)}"
        return ""

    def _describe_nearest(self, shape: RowShape) -> str:
        """The row that would have a part if it had other values."""
        listed = [(shape.list_differences(row), row["enabled"], row) for row in map(vars, self._list(shape.table))]
        if not listed:
            return ""
        names, enabled, row = min(listed, key=lambda each: len(each[0]))
        key = row[rows.ROW_TYPE_OF[shape.table].key]
        other = f"has another {' and '.join(names)}" if names else "is empty" if enabled else "is disabled"
        return f" Row {key} {other}."

    def _has_telling(self, shape: RowShape) -> bool:
        return not shape.telling or any(shape.tells(vars(row)) for row in self._list_enabled(shape.table))

    def _list_enabled(self, table: str) -> list[Row]:
        # A flow that is switched off is one all the same.
        return [row for row in self._list(table) if row.enabled or table == rows.Intent.table]

    def _list(self, table: str) -> tuple[Any, ...]:
        return index_rows(self._snapshot, rows.ROW_TYPE_OF[table], intent_key).get(self.intent_code, ())


# --- which rows belong to it --------------------------------------------------------------------------------------


def _match_rows(
    snapshot: Snapshot, intents: tuple[str, ...], written: Mapping[RowIdentity, Values]
) -> tuple[dict[RowIdentity, Row], tuple[Row, ...]]:
    """The stored rows of these intents that the document describes, and the others."""
    stored: dict[RowIdentity, Row] = {}
    others: list[Row] = []
    for row_type in rows.ROW_TYPES:
        by_intent = index_rows(snapshot, row_type, intent_key) if "intent_code" in rows.columns(row_type) else {}
        own = [row for intent in intents for row in by_intent.get(intent, ())]
        # Enabled ones first.
        for row in sorted(own, key=lambda row: not row.enabled):
            key = _identify(row.table, vars(row)) if row.table in IDENTITY else None
            if key is not None and key in written and key not in stored:
                stored[key] = row
            else:
                others.append(row)
    return stored, tuple(others)


def export_flow(flow_code: str) -> Values | None:
    """The document of a flow for a file, with the release that it is from. Returns None when there is no such flow."""
    snapshot = snapshots.current()
    reading = read_flow(snapshot, flow_code)
    if reading is None:
        return None
    version = snapshot.config_version
    base = BaseRelease(version, content_hash_of(version))._asdict()
    return {**read_languages(snapshot, reading), "base": base}


def write_flow_file(flow: Document, file: Path) -> None:
    """Write a flow into a file. Raises OSError."""
    file.write_text(json.dumps(flow, ensure_ascii=False, indent=2) + "\n", "utf-8")
