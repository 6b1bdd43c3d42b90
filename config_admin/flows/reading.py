"""A flow document read back from the rows of its intent, and what those rows have besides (dialogue 10)."""

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from config_admin.flows.flows import (
    AFTER_YES,
    COLLECT,
    CONFIRM,
    DONE,
    FAILED,
    FIELD_TEXTS,
    FIELD_TYPES,
    Document,
    FlowKind,
    FlowRefused,
    Values,
    number_question,
    read_confirmation,
    write_condition,
    write_pattern,
    write_rows,
)
from config_admin.validation.relations import index_rows
from convengine.engine.forms.asking import get_texts
from convengine.engine.rules.actions import refuse_value
from convengine.engine.rules.conditions.rule import find_fault
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, HAND_OVER, QUESTION_BESIDE_FLOW, intent_key
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.language import find_language

#: The columns that tell the rows of one flow apart.
_IDENTITY: Mapping[str, tuple[str, ...]] = {
    rows.Intent.table: ("intent_code",),
    rows.Classifier.table: ("intent_code", "rule_type", "pattern"),
    rows.OutputSchema.table: ("intent_code", "state_code"),
    rows.Rule.table: (
        *("intent_code", "state_code", "phase", "rule_type"),
        *("match_pattern", "action", "action_value"),
    ),
    rows.Response.table: ("intent_code", "state_code", "output_format", "response_type"),
    rows.DirectTool.table: ("intent_code", "state_code"),
}
#: Columns whose values ignore case.
_CODES = frozenset({"intent_code", "state_code", "phase", "rule_type", "action", "output_format", "response_type"})
#: The code of an intent that answers questions beside a flow: that of the flow, and a number.
_TYPE_KEYS = ("type", "format", "x-kind")
_ASKING = (FlowKind.collect, FlowKind.lookup)
#: The values of keys that may be left out.
_DEFAULTS: Mapping[str, Any] = {"ask_mode": "ONE", "on_no": "ASK_WHAT_TO_CHANGE", "on_leave": "ASK"}
#: Keys that only flows of these kinds use.
_KEYS_OF_KINDS: Mapping[str, tuple[FlowKind, ...]] = {
    **dict.fromkeys(
        ("fields", "not_allowed", "locale", "ask_mode", "on_no", "on_leave", "hand_over", "max_misses"), _ASKING
    ),
    "confirmation": (FlowKind.collect,),
    "tool": (FlowKind.lookup,),
    **dict.fromkeys(("task", "task_failed"), (FlowKind.collect,)),
    "base": (),
}

RowIdentity = tuple[str, Hashable]


@dataclass(frozen=True)
class FlowReading:
    """A flow that exists."""

    document: Values
    #: The intents of the questions that are answered beside the flow, in the order of the document.
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
                if _normalise_condition(getattr(row, name)) != _normalise_condition(value)
            )
            if changed or not (row.enabled or self._is_phrase_of_copy(row)):
                yield row, changed

    def _is_phrase_of_copy(self, row: Row) -> bool:
        return self.is_off and isinstance(row, rows.Classifier)

    @property
    def missing(self) -> tuple[tuple[str, Values], ...]:
        """Rows of the document, by table, that were deleted or changed beyond recognition. Saving leaves them away."""
        return tuple((key[0], values) for key, values in self.written.items() if key not in self.stored)


def read_flow(snapshot: Snapshot, intent_code: str) -> FlowReading | None:
    """The flow of an intent; null when its rows are no flow."""
    intent = snapshot.row(rows.Intent, code(intent_code))
    document = _read_document(snapshot, intent) if intent else None
    if document is None:
        return None
    is_off = not _FlowRows(snapshot, document["code"]).list_phrases()
    questions = list(_read_questions(snapshot, document["code"], is_off=is_off))
    if questions:
        document["questions_and_answers"] = [item for _, item in questions]
    document = normalise_flow(document)
    codes = tuple(question_code for question_code, _ in questions)
    try:
        written = index_by_identity(write_rows(document, codes))
    except FlowRefused:
        return None
    stored, others = _match_rows(snapshot, (document["code"], *codes), written)
    return FlowReading(document, codes, written, stored, others, is_off)


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
    if _FlowRows(snapshot, flow_code).find_kind() is None:
        return []
    codes = (number_question(flow_code, number) for number in _index_questions(snapshot).get(flow_code, ()))
    return [name for name in codes if _FlowRows(snapshot, name).find_kind() is FlowKind.answer]


def normalise_flow(flow: Document) -> Values:
    """The document without defaults, blanks, and what its kind does not use."""
    kind = FlowKind(flow["kind"])
    normal = {
        key: value
        for key, value in flow.items()
        if value not in ("", None, [])
        and value != _DEFAULTS.get(key)
        and kind in _KEYS_OF_KINDS.get(key, tuple(FlowKind))
    }
    normal["phrases"] = list(dict.fromkeys(flow["phrases"]))
    if normal.get("description") == flow["title"]:
        del normal["description"]
    if normal.get("confirmation") == get_texts(find_language(flow.get("locale") or ""))["confirm"]:
        del normal["confirmation"]
    default = get_texts(find_language(flow.get("locale") or ""))["task_failed"]
    if "task" not in normal or normal.get("task_failed") == default:
        normal.pop("task_failed", None)
    if "fields" in normal:
        normal["fields"] = [_normalise_field(field) for field in normal["fields"]]
    if "questions_and_answers" in normal:
        normal["questions_and_answers"] = [
            {**item, "questions": list(dict.fromkeys(item["questions"]))} for item in normal["questions_and_answers"]
        ]
    return normal


def _normalise_field(field: Document) -> Values:
    normal = {key: value for key, value in field.items() if value not in ("", None, [])}
    if normal.get("required"):
        del normal["required"]
    if field["type"] != "choice":
        normal.pop("options", None)
    if field["type"] == "pattern":
        normal["pattern"] = write_pattern(normal["pattern"])
    if "options" in normal:
        normal["options"] = [_normalise_option(option) for option in normal["options"]]
    return normal


def _normalise_option(option: Document) -> Values:
    return {
        key: value
        for key, value in option.items()
        if not (key == "label" and value == str(option["value"])) and not (key == "synonyms" and not value)
    }


def identify(table: str, values: Mapping[str, Any]) -> RowIdentity:
    """What tells a row apart from the other rows of its flow."""
    return table, tuple(
        code(values[name]) if name in _CODES else _normalise_condition(values[name]) for name in _IDENTITY[table]
    )


def _normalise_condition(value: Any) -> Any:
    """A condition of rows as a flow writes it, whatever its spacing; other values as they are."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return write_condition(json.loads(value))
    except ValueError:
        return value


def index_by_identity(tables: Mapping[str, list[Values]]) -> dict[RowIdentity, Values]:
    """Rows to write, by identity; of equal ones the first."""
    index: dict[RowIdentity, Values] = {}
    for table, rows_of_table in tables.items():
        for values in rows_of_table:
            index.setdefault(identify(table, values), values)
    return index


# --- from rows to the document ------------------------------------------------------------------------------------


def _read_document(snapshot: Snapshot, intent: rows.Intent) -> Values | None:
    own = _FlowRows(snapshot, intent.intent_code)
    kind = own.find_kind()
    answer = own.get_text(DONE if kind in _ASKING else ANY)
    # A copy begins with all its phrases off.
    phrases = own.list_phrases() or own.list_phrases(enabled=False)
    if kind is None or answer is None or not phrases:
        return None
    document: Values = {
        "code": intent.intent_code,
        "title": intent.name,
        "description": intent.description,
        "kind": kind.value,
        "phrases": phrases,
        "answer": answer,
    }
    if kind in _ASKING:
        schema: Mapping[str, Any] = own.schema
        document |= {
            "fields": list(_read_fields(schema)),
            "not_allowed": list(own.read_refusals()),
            "locale": schema.get("x-locale"),
            "ask_mode": schema.get("x-ask-mode"),
            "on_no": schema.get("x-on-no"),
            "on_leave": schema.get("x-on-leave"),
            "max_misses": schema.get("x-max-misses"),
            "hand_over": own.get_text(HAND_OVER),
            "confirmation": read_confirmation(own.get_text(CONFIRM), schema.get("x-locale"))
            if kind is FlowKind.collect
            else None,
            "tool": own.find_tool(),
            "task": own.find_task(),
            "task_failed": own.get_text(FAILED),
        }
    return document


def _read_questions(snapshot: Snapshot, flow_code: str, *, is_off: bool) -> Iterator[tuple[str, Values]]:
    """The questions that are answered beside the flow: their intents, and their items in the document.

    `is_off`: the phrases of the flow are off, and those of its questions may be, too.
    """
    for number in _index_questions(snapshot).get(flow_code, ()):
        own = _FlowRows(snapshot, number_question(flow_code, number))
        answer = own.get_text(ANY)
        questions = own.list_phrases() or (own.list_phrases(enabled=False) if is_off else [])
        if answer and questions and own.find_kind() is FlowKind.answer:
            yield own.intent_code, {"questions": questions, "answer": answer}


def _index_questions(snapshot: Snapshot) -> Mapping[str, list[int]]:
    """The numbers of the intents that may answer questions beside a flow, by the code of the flow."""
    return snapshot.table(rows.Intent).memo.get("questions of flows", lambda: _number_questions(snapshot))


def _number_questions(snapshot: Snapshot) -> Mapping[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for row in snapshot.rows(rows.Intent):
        if match := QUESTION_BESIDE_FLOW.fullmatch(row.intent_code):
            numbers.setdefault(match[1], []).append(int(match[2]))
    return {flow_code: sorted(listed) for flow_code, listed in numbers.items()}


class _FlowRows:
    """The enabled rows of an intent, by what a flow needs them for."""

    def __init__(self, snapshot: Snapshot, intent_code: str) -> None:
        self._snapshot = snapshot
        self.intent_code = intent_code
        form = next((row for row in self._rows(rows.OutputSchema) if code(row.state_code) == COLLECT), None)
        self.schema = form.json_schema if form and isinstance(form.json_schema, Mapping) else {}

    def find_kind(self) -> FlowKind | None:
        """The kind of flow that the rows make; null for rows of another shape."""
        if self.schema:
            moves = {code(row.action_value) for row in self._rules(COLLECT, "SET_STATE")}
            if CONFIRM in moves:
                return FlowKind.collect
            return FlowKind.lookup if DONE in moves and self.find_tool() else None
        if self._rows(rows.OutputSchema):
            return None
        if any((row.action_value or "").replace(" ", "") == "handover:true" for row in self._rules(ANY, "SET_CONTEXT")):
            return FlowKind.handover
        return FlowKind.answer

    def get_text(self, state: str) -> str | None:
        """The fixed answer of a state."""
        answers = (
            row.exact_text
            for row in self._rows(rows.Response)
            if code(row.state_code) == state
            and code(row.response_type) == "EXACT"
            and code(row.output_format) == "TEXT"
        )
        return next(filter(None, answers), None)

    def find_tool(self) -> str | None:
        """The tool that is called when the form is complete."""
        return next((row.tool_code for row in self._rows(rows.DirectTool) if code(row.state_code) == DONE), None)

    def find_task(self) -> str | None:
        """The task that runs after a yes."""
        tasks = (
            row.action_value
            for row in self._rules(CONFIRM, "SET_TASK")
            if code(row.phase) == AFTER_YES and code(row.match_pattern) == "AFFIRM"
        )
        return next(tasks, None)

    def read_refusals(self) -> Iterator[Values]:
        """What the flow does not allow."""
        for row in self._rules(COLLECT, "REFUSE_VALUE"):
            of_flow = code(row.phase) == "POST_SCHEMA_EXTRACTION" and code(row.rule_type) == "CONDITION"
            if of_flow and not find_fault(row):
                field, text = refuse_value.parse(row.action_value)
                yield {"when": json.loads(row.match_pattern or ""), "text": text, "field": field}

    def list_phrases(self, *, enabled: bool = True) -> list[str]:
        """The example sentences that are on, or those that are off."""
        phrases = self._rows(rows.Classifier, enabled=enabled)
        return [row.pattern for row in phrases if row.is_phrase and row.pattern]

    def _rules(self, state: str, action: str) -> Iterator[rows.Rule]:
        return (row for row in self._rows(rows.Rule) if code(row.state_code) == state and code(row.action) == action)

    def _rows(self, row_type: Any, *, enabled: bool = True) -> list[Any]:
        own = index_rows(self._snapshot, row_type, intent_key).get(self.intent_code, ())
        return [row for row in own if row.enabled is enabled]


def _read_fields(schema: Mapping[str, Any]) -> Iterator[Values]:
    """The properties that a document can describe, in the order of the form."""
    properties = schema.get("properties")
    required = schema.get("required") or ()
    if not isinstance(properties, Mapping) or not isinstance(required, (list, tuple)):
        return
    named = [(name, value) for name, value in properties.items() if isinstance(value, Mapping)]
    for name, declared in sorted(named, key=_get_order):
        field_type = _find_type(declared)
        if field_type is not None:
            yield _read_field(name, declared, field_type, required=name in required)


def _get_order(item: tuple[str, Mapping[str, Any]]) -> float:
    order = item[1].get("x-order")
    return order if isinstance(order, (int, float)) else float("inf")


def _find_type(declared: Mapping[str, Any]) -> str | None:
    """The type of a field in a document; null for properties of another shape."""
    if isinstance(declared.get("x-options"), list):
        return "choice"
    if "enum" in declared:
        return None
    signature = {key: declared[key] for key in _TYPE_KEYS if key in declared}
    types = [name for name, values in FIELD_TYPES.items() if values == signature and name != "choice"]
    return ("pattern" if declared.get("pattern") else "text") if "text" in types else next(iter(types), None)


def _read_field(name: str, declared: Mapping[str, Any], field_type: str, *, required: bool) -> Values:
    field: Values = {
        "name": name,
        "title": declared.get("title") or name,
        "type": field_type,
        "required": required,
        **{text: declared.get(key) for text, key in FIELD_TEXTS.items()},
        "after": declared.get("x-after"),
    }
    for bound, number_key in (("min", "minimum"), ("max", "maximum")):
        field[bound] = declared.get(number_key if field_type in ("number", "money") else f"x-{bound}")
    if field_type == "choice":
        field["options"] = [
            {key: option[key] for key in ("value", "label", "synonyms") if key in option}
            for option in declared["x-options"]
            if isinstance(option, Mapping) and "value" in option
        ]
    return field


# --- which rows belong to it --------------------------------------------------------------------------------------


def _match_rows(
    snapshot: Snapshot, intents: tuple[str, ...], written: Mapping[RowIdentity, Values]
) -> tuple[dict[RowIdentity, Row], tuple[Row, ...]]:
    """The stored rows of these intents that the document describes, and the others."""
    stored: dict[RowIdentity, Row] = {}
    others: list[Row] = []
    for row in _list_rows(snapshot, intents):
        key = identify(row.table, vars(row)) if row.table in _IDENTITY else None
        if key is not None and key in written and key not in stored:
            stored[key] = row
        else:
            others.append(row)
    return stored, tuple(others)


def _list_rows(snapshot: Snapshot, intents: tuple[str, ...]) -> Iterator[Row]:
    """The rows of these intents, enabled ones first."""
    for row_type in rows.ROW_TYPES:
        if "intent_code" in rows.columns(row_type):
            by_intent = index_rows(snapshot, row_type, intent_key)
            own = [row for intent in intents for row in by_intent.get(intent, ())]
            yield from sorted(own, key=lambda row: not row.enabled)
