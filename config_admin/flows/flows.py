"""A flow document, and the rows that it makes (dialogue 10).

The page *Start a flow* and `manage.py start_flow FILE` give the same document, and so the same rows.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from config_admin.releases.content import control_plane
from convengine.engine.forms.asking import get_texts
from convengine.engine.rules.actions import refuse_value
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.conditions.evaluate import ALIASES
from convengine.engine.rules.conditions.rows import ConditionError, list_fields, parse_condition
from convengine.engine.text.wording import join_names
from convengine.engine.turn.enums import Word
from convengine.engine.turn.facts import RESERVED_FACTS
from convengine.engine.turn.scope import HAND_OVER
from convengine.engine.understanding.language import find_language

Json = Any
Values = dict[str, Json]
Document = Mapping[str, Json]

COLLECT, CONFIRM, DONE, FAILED, UNCLEAR = "COLLECT", "CONFIRM", "DONE", "FAILED", "UNCLEAR"
#: The phase in which a yes counts, and what holds after a task that failed.
AFTER_YES = "POST_DIALOGUE_ACT"
_TASK_FAILED = {"combinator": "and", "rules": [{"field": "params.rule_task_error", "operator": "isNotEmpty"}]}
_TASK_UNCLEAR = {
    "combinator": "and",
    "rules": [{"field": "params.rule_task_error.errorType", "operator": "=", "value": "ALREADY_CLAIMED"}],
}
_COMPLETE = {"combinator": "and", "rules": [{"field": "schemaComplete", "operator": "isYes"}]}
#: What each type of field adds to its property.
FIELD_TYPES: Mapping[str, Values] = {
    "text": {"type": "string"},
    "choice": {},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "x-kind": "time"},
    "datetime": {"type": "string", "format": "date-time"},
    "duration": {"type": "string", "x-kind": "duration"},
    "number": {"type": "number"},
    "money": {"type": "number", "x-kind": "money"},
    "phone": {"type": "string", "format": "phone"},
    "email": {"type": "string", "format": "email"},
    "postcode": {"type": "string", "x-kind": "postcode"},
    "iban": {"type": "string", "x-kind": "iban"},
    "yes_no": {"type": "boolean"},
    "pattern": {"type": "string"},
}
#: Keys of a field, and the keys of its property that hold them.
FIELD_TEXTS = {
    "question": "x-ask", "again": "x-ask-again", "invalid": "x-invalid", "pattern": "pattern",
    "currency": "x-currency", "country": "x-country",
}  # fmt: skip


class FlowKind(Word):
    """A kind of flow."""

    answer = "answer", "Answer a question", "Recognises phrases and gives one answer."
    collect = (
        "collect",
        "Collect and confirm",
        "Asks for each field, repeats the values, and goes on after a yes. A “No” asks what to change.",
    )
    lookup = "lookup", "Look something up", "Asks for what a tool needs, calls it, and answers with what it found."
    handover = (
        "handover",
        "Hand over to a person",
        "Says that a person takes over, and marks the conversation for your staff.",
    )


class FlowRefused(ValueError):
    """The document is no flow; `problems` names each place and what is wrong with it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@cache
def get_flow_schema() -> Values:
    """The JSON Schema of a flow document."""
    schema: Values = json.loads(Path(__file__).with_name("flow.schema.json").read_text("utf-8"))
    return schema


def check_flow(document: Json) -> None:
    """Raises FlowRefused."""
    errors = sorted(Draft202012Validator(get_flow_schema()).iter_errors(document), key=lambda error: list(error.path))
    problems = [f"{_name_place(error)}: {error.message}" for error in errors]
    if not problems:
        names = [field["name"] for field in document.get("fields", ())]
        problems = [f"fields: {name} stands twice" for name in dict.fromkeys(names) if names.count(name) > 1]
        problems += _find_wrong_order(document.get("fields", ()))
        problems += [
            f"not_allowed.{number}.{key}: {problem}"
            for number, item in enumerate(document.get("not_allowed", ()))
            for key, problem in find_refusal_problems(item, document.get("fields", ()))
        ]
    if problems:
        raise FlowRefused(problems)


def _find_wrong_order(fields: Sequence[Document]) -> Iterator[str]:
    """A line for each `after` that names no earlier date."""
    dates: list[str] = []
    for number, field in enumerate(fields):
        is_date = field["type"] in ("date", "datetime")
        if "after" in field and not (is_date and field["after"] in dates):
            known = (
                f"Use one of {', '.join(dates)}." if is_date and dates else "Only a date behind another date has it."
            )
            yield f"fields.{number}.after: {field['after']!r} is no earlier date. {known}"
        if is_date:
            dates.append(field["name"])


def find_refusal_problems(item: Document, fields: Sequence[Document]) -> Iterator[tuple[str, str]]:
    """What is wrong with an item of `not_allowed`, by its key."""
    is_asked = {field["name"]: field.get("required", True) or field.get("question") for field in fields}
    known = {*is_asked, *ALIASES, *RESERVED_FACTS}
    listed = join_names(is_asked) or "none"
    try:
        tested = list_fields(parse_condition(write_condition(item["when"])))
    except ConditionError as error:
        yield "when", str(error)
    else:
        for name in tested:
            if name.split(".")[0] not in known:
                yield "when", f"“{name}” is no field of this flow. Its fields are {listed}."
    if item["field"] not in is_asked:
        yield "field", f"“{item['field']}” is no field of this flow. Its fields are {listed}."
    elif not is_asked[item["field"]]:
        yield "field", f"“{item['field']}” is never asked for: it is optional and has no question."
    else:
        try:
            refuse_value.parse(_write_refusal(item))
        except ActionValueError as error:
            yield "text", error.message


def _write_refusal(item: Document) -> str:
    return f"{item['field']}: {item['text']}"


def write_condition(when: Json) -> str:
    """A condition as its rule stores it."""
    return json.dumps(when, ensure_ascii=False)


def _name_place(error: ValidationError) -> str:
    return ".".join(str(part) for part in error.absolute_path) or "the document"


def write_rows(flow: Document, question_codes: Sequence[str] = ()) -> dict[str, list[Values]]:
    """The rows by table, ready for an import. Raises FlowRefused.

    `question_codes`: the intents of the questions that are answered beside the flow; by default they are numbered.
    """
    check_flow(flow)
    rows: dict[str, list[Values]] = {}
    for table, row in (*_FLOWS[flow["kind"]](flow), *_write_questions(flow, question_codes)):
        rows.setdefault(table, []).append(row)
    return rows


def _write_intent(
    flow: Document, code: str, title: str, state: str, phrases: list[str], *, returns: bool = False
) -> Iterator[tuple[str, Values]]:
    """`returns`: a question that is answered in between, while another one is open."""
    description = flow.get("description") or title
    yield (
        "ce_intent",
        {
            "intent_code": code,
            "display_name": title,
            "description": description,
            **({"returns": True} if returns else {}),
        },
    )
    for phrase in phrases:
        yield (
            "ce_intent_classifier",
            {
                "intent_code": code,
                "state_code": state,
                "rule_type": "PHRASE",
                "pattern": phrase,
                "description": phrase[:200],
            },
        )


def number_question(code: str, number: int) -> str:
    """The intent of a question that is answered beside a flow."""
    return f"{code}_Q{number}"


def _write_questions(flow: Document, codes: Sequence[str]) -> Iterator[tuple[str, Values]]:
    """An intent for each question that is answered beside the flow."""
    items = flow.get("questions_and_answers", ())
    numbered = codes or [number_question(flow["code"], number) for number in range(1, len(items) + 1)]
    for code, item in zip(numbered, items, strict=True):
        title = item["questions"][0][:200]
        yield from _write_intent({}, code, title, "IDLE", item["questions"], returns=True)
        yield _make_answer({"code": code}, "ANY", item["answer"], "the answer")


def _answer(flow: Document) -> Iterator[tuple[str, Values]]:
    yield from _write_intent(flow, flow["code"], flow["title"], "IDLE", flow["phrases"], returns=True)
    yield _make_answer(flow, "ANY", flow["answer"], "the answer")


def _hand_over(flow: Document) -> Iterator[tuple[str, Values]]:
    # The state lets its phrases count in the middle of a form, too.
    yield from _write_intent(flow, flow["code"], flow["title"], HAND_OVER, flow["phrases"])
    yield _make_rule(flow, "ANY", "EXACT", "ANY", "SET_CONTEXT", "handover:true", "ask the caller to hand over")
    yield _make_answer(flow, "ANY", flow["answer"], "say that a person takes over")


def _collect(flow: Document) -> Iterator[tuple[str, Values]]:
    yield from _write_form(flow, CONFIRM, "ask for confirmation when the form is complete")
    yield _make_answer(flow, CONFIRM, _write_confirmation(flow), "ask for confirmation")
    if flow.get("task"):
        yield from _write_task(flow)
    yield _make_rule(
        flow,
        CONFIRM,
        "EXACT",
        "AFFIRM",
        "SET_STATE",
        DONE,
        "the user confirms",
        phase=AFTER_YES,
        target="DIALOGUE_ACT",
    )
    incomplete = {**_COMPLETE, "not": True}
    yield _make_rule(
        flow, CONFIRM, "CONDITION", json.dumps(incomplete), "SET_STATE", COLLECT, "ask again for a changed field"
    )
    yield _make_answer(flow, DONE, flow["answer"], "say that the task is done")


def _write_task(flow: Document) -> Iterator[tuple[str, Values]]:
    """What runs after the yes, before the move to the end; and the ends of a task that failed, or may have run."""
    yield _make_rule(
        flow,
        CONFIRM,
        "EXACT",
        "AFFIRM",
        "SET_TASK",
        flow["task"],
        "run the task when the user confirms",
        phase=AFTER_YES,
        target="DIALOGUE_ACT",
        priority=5,
    )
    for condition, end, description, priority in (
        (_TASK_UNCLEAR, UNCLEAR, "when nobody knows whether the task ran, say so and end here", 6),
        (_TASK_FAILED, FAILED, "when the task fails, say so and end here", 7),
    ):
        yield _make_rule(
            flow,
            CONFIRM,
            "CONDITION",
            json.dumps(condition),
            "SET_STATE",
            end,
            description,
            phase=AFTER_YES,
            priority=priority,
            stops=True,
        )
    texts = get_texts(find_language(flow.get("locale", "")))
    yield _make_answer(flow, FAILED, flow.get("task_failed") or texts["task_failed"], "say that the task failed")
    yield _make_answer(flow, UNCLEAR, texts["task_unclear"], "say that a person checks whether the task ran")


def _write_confirmation(flow: Document) -> str:
    """The question for a yes or no, after all values unless it says itself where they stand."""
    texts = get_texts(find_language(flow.get("locale", "")))
    question: str = flow.get("confirmation") or texts["confirm"]
    return question if "{{" in question else f"{texts['check_values']} {question}"


def read_confirmation(text: str | None, locale: str | None) -> str | None:
    """The question of a stored confirmation, as a flow document has it."""
    return text and text.removeprefix(f"{get_texts(find_language(locale or ''))['check_values']} ")


def _lookup(flow: Document) -> Iterator[tuple[str, Values]]:
    yield from _write_form(flow, DONE, "call the tool when the form is complete")
    args = {field["name"]: f"{{{{ {field['name']} }}}}" for field in flow["fields"]}
    yield (
        "ce_tool",
        {
            "intent_code": flow["code"],
            "state_code": DONE,
            "tool_group": _find_tool_group(flow["tool"]),
            "tool_code": flow["tool"],
            "args_template": args,
            "description": "call the tool",
        },
    )
    yield _make_answer(flow, DONE, flow["answer"], "give the result")


def _find_tool_group(tool_code: str) -> str:
    """The group of a tool. Raises FlowRefused if there is no such tool."""
    tool: Any = control_plane()["ce_mcp_tool"]._default_manager.filter(tool_code=tool_code).first()
    if tool is None:
        raise FlowRefused(
            [f"tool: there is no tool {tool_code}. Add a row for it to the tools (ce_mcp_tool), with the intent ANY."]
        )
    return str(tool.tool_group)


_FLOWS: Mapping[str, Callable[[Document], Iterator[tuple[str, Values]]]] = {
    FlowKind.answer: _answer,
    FlowKind.collect: _collect,
    FlowKind.lookup: _lookup,
    FlowKind.handover: _hand_over,
}


def _write_form(flow: Document, then: str, description: str) -> Iterator[tuple[str, Values]]:
    """The intent, the form, the question for its fields, and the rule that follows when all are known."""
    yield from _write_intent(flow, flow["code"], flow["title"], COLLECT, flow["phrases"])
    schema: Values = {
        "type": "object",
        "properties": {field["name"]: _make_property(field, number) for number, field in enumerate(flow["fields"], 1)},
        "required": [field["name"] for field in flow["fields"] if field.get("required", True)],
        "x-clear": ["DONE", "CANCEL", "RESTART"],
        "x-on-no": flow.get("on_no", "ASK_WHAT_TO_CHANGE"),
        "x-on-leave": flow.get("on_leave", "ASK"),
        "x-spoken": True,
        "x-ask-mode": flow.get("ask_mode", "ONE"),
    }
    if "locale" in flow:
        schema["x-locale"] = flow["locale"]
    if "max_misses" in flow:
        schema["x-max-misses"] = flow["max_misses"]
    yield (
        "ce_output_schema",
        {"intent_code": flow["code"], "state_code": COLLECT, "json_schema": schema, "description": "fields to collect"},
    )
    yield _make_answer(flow, COLLECT, "{{ question }}", "ask for the next field")
    for item in flow.get("not_allowed", ()):
        yield _make_rule(
            flow,
            COLLECT,
            "CONDITION",
            write_condition(item["when"]),
            "REFUSE_VALUE",
            _write_refusal(item),
            f"not allowed: {item['text']}"[:200],
            phase="POST_SCHEMA_EXTRACTION",
            priority=5,
            stops=True,
        )
    yield _make_rule(
        flow,
        COLLECT,
        "CONDITION",
        json.dumps(_COMPLETE),
        "SET_STATE",
        then,
        description,
        phase="POST_SCHEMA_EXTRACTION",
    )
    if flow.get("hand_over"):
        yield _make_answer(flow, "HAND_OVER", flow["hand_over"], "hand over when the form is given up")


def _make_property(field: Document, number: int) -> Values:
    """The property of the form's schema."""
    values: Values = {**FIELD_TYPES[field["type"]], "title": field["title"], "x-order": number}
    values |= {key: field[name] for name, key in FIELD_TEXTS.items() if field.get(name)}
    if field["type"] == "pattern":
        values["pattern"] = write_pattern(field["pattern"])
    if field["type"] == "choice":
        values["x-options"] = [{"label": str(option["value"]), **option} for option in field["options"]]
    if field.get("after"):
        values["x-after"] = field["after"]
    for name, number_key in (("min", "minimum"), ("max", "maximum")):
        if field.get(name) is not None:
            values[number_key if field["type"] in ("number", "money") else f"x-{name}"] = field[name]
    return values


def write_pattern(pattern: str) -> str:
    """The pattern of a field, which describes the whole value."""
    if pattern.startswith("^") and pattern.endswith("$"):
        return pattern
    if "|" in pattern or pattern.endswith("\\$"):
        return f"^(?:{pattern})$"
    return f"^{pattern.removeprefix('^').removesuffix('$')}$"


def _make_answer(flow: Document, state: str, text: str, description: str) -> tuple[str, Values]:
    return "ce_response", {
        "intent_code": flow["code"],
        "state_code": state,
        "output_format": "TEXT",
        "response_type": "EXACT",
        "exact_text": text,
        "description": description,
    }


def _make_rule(
    flow: Document,
    state: str,
    rule_type: str,
    condition: str,
    action: str,
    value: str,
    description: str,
    *,
    phase: str = "PRE_RESPONSE_RESOLUTION",
    target: str | None = None,
    priority: int = 10,
    stops: bool = False,
) -> tuple[str, Values]:
    return "ce_rule", {
        "intent_code": flow["code"],
        "state_code": state,
        **({"match_target": target} if target else {}),
        "phase": phase,
        "rule_type": rule_type,
        "match_pattern": condition,
        "action": action,
        "action_value": value,
        "priority": priority,
        **({"stop_processing": True} if stops else {}),
        "description": description,
    }
