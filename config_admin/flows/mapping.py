"""The mapping between a flow document and the rows of its intent.

`FLOW_ROWS` is read in both directions: rows are written from a document, and a document is read back from rows.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from config_admin.flows.dependencies import read_rules, write_rules
from config_admin.flows.document import (
    ASKING,
    Document,
    FlowKind,
    FlowRefused,
    Values,
    check_flow,
    get_flow_schema,
    is_field_required,
    write_condition,
    write_refusal,
)
from config_admin.flows.field_kinds import FIELD_KINDS, find_field_kind
from config_admin.flows.languages import list_flow_languages, speak_flow, write_translated
from config_admin.flows.row_shapes import BLANK, Column, Part, RowShape, read_column, write_column
from config_admin.validation.stored_columns import control_plane
from convengine.engine.forms.asking import get_texts
from convengine.engine.rules.actions import refuse_value
from convengine.engine.rules.conditions.rows import parse_condition
from convengine.engine.text.several_texts import OR, split_texts
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ToolGroup
from convengine.engine.turn.field_options import OPTIONS_FROM
from convengine.engine.turn.scope import ANY, HAND_OVER, IDLE
from convengine.engine.understanding.language import find_language
from convengine.json_value import Json

COLLECT, CONFIRM, DONE, FAILED, UNCLEAR = "COLLECT", "CONFIRM", "DONE", "FAILED", "UNCLEAR"
#: The code of a tool of an MCP server, with the name of the server.
_MCP_TOOL = re.compile(r"mcp\.([A-Za-z0-9_-]+)\..+")

# --- the fields of a form -----------------------------------------------------------------------------------------


def _is_number(field: Document) -> bool:
    return FIELD_KINDS[field["type"]].property.get("type") == "number"


def _may_choose(name: str, field: Document) -> bool:
    """False for a part of the property that the kind of the field fixes."""
    return name not in FIELD_KINDS[field["type"]].property


def write_pattern(pattern: str, field: Document) -> str:
    """The pattern of a field, which describes the whole value."""
    if pattern.startswith("^") and pattern.endswith("$"):
        return pattern
    if "|" in pattern or pattern.endswith("\\$"):
        return f"^(?:{pattern})$"
    return f"^{pattern.removeprefix('^').removesuffix('$')}$"


def _write_options(options: Sequence[Document], _: Document) -> list[Values]:
    return [{"label": str(option["value"]), **option} for option in options]


def _read_options(options: Json, _: Document) -> list[Values]:
    """The options without labels that only repeat the value."""
    return [
        {
            key: option[key]
            for key in ("value", "label", "synonyms")
            if key in option and not (key == "label" and option[key] == str(option["value"])) and option[key] != []
        }
        for option in (options if isinstance(options, list) else ())
        if isinstance(option, Mapping) and "value" in option
    ]


#: The property of a field, besides what its kind adds.
FIELD: Mapping[str, Part] = {
    "title": Part("title", read=lambda title, field: title or field["name"]),
    "x-ask": Part("question"),
    "x-ask-again": Part("again"),
    "x-invalid": Part("invalid"),
    "pattern": Part("pattern", write=write_pattern, applies=partial(_may_choose, "pattern")),
    "examples": Part("examples", applies=lambda field: field["type"] == "pattern"),
    "x-labels": Part("labels", read=lambda labels, _: [labels] if isinstance(labels, str) else labels),
    "x-currency": Part("currency"),
    "x-country": Part("country"),
    "x-kind": Part("finder", applies=lambda field: field["type"] == "finder"),
    "x-options": Part("options", _write_options, _read_options, applies=lambda field: field["type"] == "choice"),
    OPTIONS_FROM: Part("options_from", applies=lambda field: field["type"] == "choice"),
    "x-after": Part("after"),
    "minimum": Part("min", applies=lambda field: _is_number(field) and _may_choose("minimum", field)),
    "maximum": Part("max", applies=lambda field: _is_number(field) and _may_choose("maximum", field)),
    "x-min": Part("min", applies=lambda field: not _is_number(field)),
    "x-max": Part("max", applies=lambda field: not _is_number(field)),
}


def _write_properties(fields: Sequence[Document], _: Document) -> Values:
    return {
        field["name"]: {**FIELD_KINDS[field["type"]].property, "x-order": number, **write_column(FIELD, field)}
        for number, field in enumerate(fields, 1)
    }


def _read_properties(properties: Json, _: Document) -> list[Values]:
    """The properties that a document can describe, in the order of the form."""
    named = properties.items() if isinstance(properties, Mapping) else ()
    declared = [(name, value, find_field_kind(value)) for name, value in named if isinstance(value, Mapping)]
    return [
        dict(read_column(FIELD, value, {"name": name, "type": kind}))
        for name, value, kind in sorted(declared, key=lambda each: _get_order(each[1]))
        if kind is not None
    ]


def _get_order(declared: Mapping[str, Json]) -> float:
    order = declared.get("x-order")
    return order if isinstance(order, (int, float)) else float("inf")


def _write_required(fields: Sequence[Document], _: Document) -> list[str]:
    return [field["name"] for field in fields if is_field_required(field) and "only_if" not in field]


def _read_required(required: Json, flow: Document) -> list[Values]:
    """The fields, which were read before, with those marked that are optional."""
    names = required if isinstance(required, (list, tuple)) else ()
    return [field if field["name"] in names else {**field, "required": False} for field in flow.get("fields", ())]


def _write_dependencies(fields: Sequence[Document], _: Document) -> list[Values] | None:
    return write_rules(fields)


def _read_dependencies(rules: Json, flow: Document) -> list[Values]:
    return read_rules(rules, flow.get("fields", ()))


def _choose(key: str) -> Part:
    """A part with a default in the JSON Schema of documents."""
    return Part(key, default=lambda _: get_flow_schema()["properties"][key]["default"])


def _list_names(flow: Document) -> list[str]:
    return [field["name"] for field in flow.get("fields", ())]


def _no_fields(_: Document) -> list[Values]:
    """The fields of a lookup whose tool needs no argument."""
    return []


#: The form of a flow.
FORM: Mapping[str, Column] = {
    "type": "object",
    "properties": Part("fields", _write_properties, _read_properties, _no_fields),
    "required": Part("fields", _write_required, _read_required, _no_fields),
    # Fields that depend on others, which are marked as optional before.
    "allOf": Part("fields", _write_dependencies, _read_dependencies),
    "x-clear": ["DONE", "CANCEL", "RESTART"],
    "x-on-no": _choose("on_no"),
    "x-on-leave": _choose("on_leave"),
    "x-resume": Part("resume", write=lambda resumes, _: resumes or None),
    "x-spoken": True,
    "x-ask-mode": _choose("ask_mode"),
    "x-locale": Part("locale"),
    "x-max-misses": Part("max_misses"),
}


# --- the rows of a flow -------------------------------------------------------------------------------------------


def _say(name: str, flow: Document) -> str:
    """A built-in text in the language of the flow."""
    return str(get_texts(find_language(flow.get("locale") or ""))[name])


def _write_confirmation(question: str, flow: Document) -> str:
    """The question for a yes or no, after all values unless it says itself where they stand."""
    check = _say("check_values", flow)
    return OR.join(text if "{{" in text else f"{check} {text}" for text in split_texts(question))


def _read_confirmation(text: str, flow: Document) -> str:
    check = _say("check_values", flow)
    return OR.join(each.removeprefix(f"{check} ") for each in split_texts(text))


def _read_refusal(value: str, _: Document) -> Values:
    field, text = refuse_value.parse(value)
    return {"text": text, "field": field}


def _read_condition(text: str, _: Document) -> Json:
    parse_condition(text)
    return json.loads(text)


def _find_tool_group(flow: Document) -> str:
    """The group of a tool. Raises FlowRefused if there is no such tool."""
    tool: Any = control_plane()[rows.Tool.table]._default_manager.filter(tool_code=flow["tool"]).first()
    if tool is not None:
        return str(tool.tool_group)
    server = _MCP_TOOL.fullmatch(flow["tool"])
    servers: Any = control_plane()[rows.McpServer.table]._default_manager.filter(enabled=True)
    if server is not None and servers.filter(name__iexact=server[1]).exists():
        return ToolGroup.MCP_SERVER.value
    remedy = (
        "Add a row for it to the tools (ce_mcp_tool) with the intent ANY, or call a tool of an MCP server as "
        "mcp.server.tool."
    )
    raise FlowRefused([f"tool: there is no tool {flow['tool']}. {remedy}"])


def _intent(*kinds: FlowKind, **columns: Column) -> RowShape:
    named = {
        "display_name": Part("title"),
        "description": Part("description", default=lambda flow: flow["title"]),
        "enabled": _choose("enabled"),
    }
    return RowShape(rows.Intent.table, kinds, {**named, **columns})


def _phrases(state: str, *kinds: FlowKind) -> RowShape:
    columns = {"state_code": state, "rule_type": "PHRASE", "pattern": Part("")}
    described = {**columns, "description": lambda phrase: phrase[:200]}
    return RowShape(rows.Classifier.table, kinds, described, each="phrases")


def _answer(state: str, text: Column, description: str, *kinds: FlowKind, needs: str = "") -> RowShape:
    columns = {"state_code": state, "output_format": "TEXT", "response_type": "EXACT", "exact_text": text}
    return RowShape(rows.Response.table, kinds, {**columns, "description": description}, needs=needs)


def _rule(
    state: str,
    condition: Json,
    action: str,
    value: Column,
    description: Column,
    *kinds: FlowKind,
    needs: str = "",
    tells: bool = False,
    **columns: Column,
) -> RowShape:
    """A rule under a condition, or with a text to match exactly. `tells`: its move tells the kind of the flow."""
    is_text = isinstance(condition, str)
    rule: Values = {
        "state_code": state,
        "phase": "PRE_RESPONSE_RESOLUTION",
        "rule_type": "EXACT" if is_text else "CONDITION",
        "match_pattern": condition if is_text or isinstance(condition, Part) else json.dumps(condition),
        "action": action,
        "action_value": value,
        "priority": 10,
        "description": description,
    }
    telling = ("state_code", "action", "action_value") if tells else ()
    return RowShape(rows.Rule.table, kinds, {**rule, **columns}, needs=needs, telling=telling)  # fmt: skip


def _where(field: str, operator: str, **more: Json) -> Values:
    return {"combinator": "and", "rules": [{"field": field, "operator": operator, **more}]}


_COMPLETE = _where("schemaComplete", "isYes")
_FORM_COMPLETE: Values = {"phase": "POST_SCHEMA_EXTRACTION"}
_YES: Values = {"match_target": "DIALOGUE_ACT", "phase": "POST_DIALOGUE_ACT"}
_TASK_ENDS: Values = {"phase": "POST_DIALOGUE_ACT", "needs": "task", "stop_processing": True}
_CONFIRMATION = Part("confirmation", _write_confirmation, _read_confirmation, partial(_say, "confirm"))
_AT_ONCE = Part("at_once", lambda at_once, _: DONE if at_once else None, lambda state, _: state == DONE or None)
_ANSWER, _COLLECT, _LOOKUP, _HANDOVER = FlowKind.answer, FlowKind.collect, FlowKind.lookup, FlowKind.handover

#: The rows of all kinds of flows, in the order of writing them.
FLOW_ROWS: Sequence[RowShape] = (
    _intent(_ANSWER, returns=True),
    _intent(_COLLECT, _LOOKUP, _HANDOVER),
    _phrases(IDLE, _ANSWER),
    _phrases(COLLECT, *ASKING),
    # The state lets its phrases count in the middle of a form, too.
    _phrases(HAND_OVER, _HANDOVER),
    RowShape(
        rows.OutputSchema.table, ASKING,
        {"state_code": COLLECT, "json_schema": FORM, "description": "fields to collect"}, telling=("state_code",),
    ),
    _answer(COLLECT, "{{ question }}", "ask for the next field", *ASKING),
    replace(
        _rule(
            COLLECT, Part("when", lambda when, _: write_condition(when), _read_condition),
            "REFUSE_VALUE", Part("", lambda item, _: write_refusal(item), _read_refusal),
            lambda item: f"not allowed: {item['text']}"[:200], *ASKING,
            priority=5, stop_processing=True, **_FORM_COMPLETE,
        ),
        each="not_allowed",
    ),
    _rule(
        COLLECT, _COMPLETE, "SET_STATE", CONFIRM, "ask for confirmation when the form is complete", _COLLECT,
        tells=True, **_FORM_COMPLETE,
    ),
    _rule(
        COLLECT, _COMPLETE, "SET_STATE", DONE, "call the tool when the form is complete", _LOOKUP,
        tells=True, **_FORM_COMPLETE,
    ),
    _rule(
        CONFIRM, _COMPLETE, "SET_STATE", _AT_ONCE, "end without a confirmation", _COLLECT, **_FORM_COMPLETE,
    ),
    _answer(HAND_OVER, Part("hand_over"), "hand over when the form is given up", *ASKING),
    _answer(CONFIRM, _CONFIRMATION, "ask for confirmation", _COLLECT),
    # What runs after the yes, before the move to the end; and the ends of a task that failed, or may have run.
    _rule(
        CONFIRM, "AFFIRM", "SET_TASK", Part("task"), "run the task when the user confirms", _COLLECT,
        priority=5, **_YES,
    ),
    _rule(
        CONFIRM, _where("params.rule_task_error.errorType", "=", value="ALREADY_CLAIMED"), "SET_STATE", UNCLEAR,
        "when nobody knows whether the task ran, say so and end here", _COLLECT, priority=6, **_TASK_ENDS,
    ),
    _rule(
        CONFIRM, _where("params.rule_task_error", "isNotEmpty"), "SET_STATE", FAILED,
        "when the task fails, say so and end here", _COLLECT, priority=7, **_TASK_ENDS,
    ),
    _answer(
        FAILED, Part("task_failed", default=partial(_say, "task_failed")), "say that the task failed", _COLLECT,
        needs="task",
    ),
    _answer(
        UNCLEAR, partial(_say, "task_unclear"), "say that a person checks whether the task ran", _COLLECT,
        needs="task",
    ),
    _rule(CONFIRM, "AFFIRM", "SET_STATE", DONE, "the user confirms", _COLLECT, **_YES),
    _rule(
        CONFIRM, {**_COMPLETE, "not": True}, "SET_STATE", COLLECT, "ask again for a changed field", _COLLECT,
    ),
    RowShape(
        rows.DirectTool.table, (_LOOKUP,),
        {
            "state_code": DONE, "tool_group": _find_tool_group, "tool_code": Part("tool"),
            "args_template": lambda flow: {name: f"{{{{ {name} }}}}" for name in _list_names(flow)},
            "description": "call the tool",
        },
        telling=("state_code",),
    ),
    _rule(ANY, "ANY", "SET_CONTEXT", "handover:true", "ask the caller to hand over", _HANDOVER, tells=True),
    _answer(ANY, Part("answer"), "the answer", _ANSWER),
    _answer(DONE, Part("answer"), "say that the task is done", _COLLECT),
    _answer(DONE, Part("answer"), "give the result", _LOOKUP),
    _answer(ANY, Part("answer"), "say that a person takes over", _HANDOVER),
)  # fmt: skip


def list_shapes(kind: str) -> list[RowShape]:
    return [shape for shape in FLOW_ROWS if kind in shape.kinds]


def list_parts(kind: str) -> set[str]:
    """The keys of the parts that a document of this kind has."""
    return {"code", "kind"}.union(*(shape.list_keys() for shape in list_shapes(kind)))


def find_part(table: str, values: Mapping[str, Json], column: str) -> str:
    """The part of a document that a column is written from; for one without a part, that of its row."""
    for shape in FLOW_ROWS:
        if shape.table == table and not shape.list_differences(values):
            content = shape.columns.get(column)
            if column == "intent_code" or (isinstance(content, Part) and content.key):
                return content.key if isinstance(content, Part) else "code"
            parts = [each.key for each in shape.columns.values() if isinstance(each, Part)]
            return shape.each or shape.needs or next(iter(parts), "fields")
    return "code"


# --- whole documents ----------------------------------------------------------------------------------------------


def write_rows(flow: Document, question_codes: Sequence[str] = ()) -> dict[str, list[Values]]:
    """The rows by table, ready for an import. Raises FlowRefused.

    `question_codes`: the intents of the questions in between; by default they are numbered.
    """
    check_flow(flow)
    return write_translated(flow, lambda spoken: _write_rows(spoken, question_codes))


def _write_rows(flow: Document, question_codes: Sequence[str]) -> dict[str, list[Values]]:
    """The rows of a document in one language."""
    written: dict[str, list[Values]] = {}
    items = flow.get("questions_and_answers", ())
    numbered = question_codes or [number_question(flow["code"], number) for number in range(1, len(items) + 1)]
    questions = (_describe_question(code, item) for code, item in zip(numbered, items, strict=True))
    for document in (flow, *({**question, "enabled": flow.get("enabled", True)} for question in questions)):
        for shape in list_shapes(document["kind"]):
            for values in shape.write(document):
                written.setdefault(shape.table, []).append(values)
    return written


def write_phrases(flow: Document) -> list[Values]:
    """The rows of the phrases alone, of a document that is not checked."""
    shapes = [shape for shape in list_shapes(flow["kind"]) if shape.table == rows.Classifier.table]
    return [values for shape in shapes for values in shape.write(flow)]


def number_question(flow_code: str, number: int) -> str:
    """The intent of a question that is answered beside a flow."""
    return f"{flow_code}_Q{number}"


def _describe_question(question_code: str, item: Document) -> Values:
    """The flow of a question that is answered beside another flow."""
    phrases, question = item["questions"], item["questions"][0][:200]
    return {
        "code": question_code,
        "kind": FlowKind.answer.value,
        "title": item.get("short_name") or question,
        "description": question,
        "phrases": phrases,
        "answer": item["answer"],
    }


def read_question(flow: Document) -> Values:
    """The item of a question that is answered beside a flow, from the flow of the question."""
    item = {"questions": flow["phrases"], "answer": flow["answer"]}
    title = flow.get("title")
    return {**item, "short_name": title} if title and title not in (each[:200] for each in flow["phrases"]) else item


def normalise_flow(flow: Document) -> Values:
    """The document as it is read back from its rows: without defaults, blanks, and what its kind does not use.

    Its texts are those of the first language.
    """
    for first in list_flow_languages(flow)[:1]:
        flow = speak_flow(flow, first, first)
    document: Document = {"code": flow["code"], "kind": flow["kind"]}
    for shape in list_shapes(flow["kind"]):
        document = shape.read(document, shape.write(flow))
    questions = [_describe_question("", item) for item in flow.get("questions_and_answers", ())]
    return sort_parts(document, [read_question(normalise_flow(question)) for question in questions])


def sort_parts(document: Document, questions: Sequence[Values]) -> Values:
    """The parts in the order of the JSON Schema, with the questions in between."""
    whole = {**document, "questions_and_answers": list(questions)}
    return {key: whole[key] for key in get_flow_schema()["properties"] if whole.get(key) not in BLANK}
