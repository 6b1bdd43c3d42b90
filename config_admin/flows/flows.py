"""The rows of a new flow, as the document of an import."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.engine.turn.enums import Word

Json = Any
Values = dict[str, Json]

COLLECT, CONFIRM, DONE = "COLLECT", "CONFIRM", "DONE"
#: The names of the missing fields, as a template.
_STILL = (
    "{% for one in names if one in missing_fields %}{{ names[one] }}{% if not loop.last %}, {% endif %}{% endfor %}"
)


class Flow(Word):
    """A kind of flow."""

    FAQ = "FAQ", "Answer a question", "Recognises phrases and gives one answer."
    FORM = (
        "FORM",
        "Collect and confirm",
        (
            "Collects fields until the form is complete, asks for confirmation and continues after a yes. “No” starts"
            " again."
        ),
    )
    LOOKUP = "LOOKUP", "Look something up", "Asks for what a tool needs, calls it, and answers with what it found."
    PERSON = "PERSON", "Hand over to a person", "Tells the user that a person takes over, and informs the caller."


@dataclass(frozen=True)
class RequestedField:
    """One field to collect: its name, its label, its type and its limits."""

    name: str
    label: str
    type: str = "string"
    format: str | None = None
    choices: tuple[str, ...] = ()

    def schema(self) -> Values:
        """The property of the JSON schema."""
        schema: Values = {"type": self.type, "title": self.label}
        if self.format:
            schema["format"] = self.format
        if self.choices:
            schema["enum"] = list(self.choices)
        return schema


@dataclass(frozen=True)
class FlowRequest:
    """The input for a flow; blank texts are generated."""

    flow: str
    code: str
    name: str
    description: str
    phrases: tuple[str, ...]
    wishes: tuple[RequestedField, ...] = ()
    question: str = ""
    summary: str = ""
    answer: str = ""
    tool: str = ""
    #: The group of the tool.
    tool_group: str = ""


def document(wanted: FlowRequest) -> dict[str, list[Values]]:
    """The rows by table, ready for an import."""
    made: dict[str, list[Values]] = {
        "ce_intent": [
            {"intent_code": wanted.code, "display_name": wanted.name, "description": wanted.description},
        ],
        "ce_intent_classifier": list(_phrases(wanted)),
    }
    for table, row in _FLOWS[wanted.flow](wanted):
        made.setdefault(table, []).append(row)
    return made


def _phrases(wanted: FlowRequest) -> Iterator[Values]:
    begins = COLLECT if wanted.wishes else "IDLE"
    for phrase in wanted.phrases:
        yield {
            "intent_code": wanted.code,
            "state_code": begins,
            "rule_type": "PHRASE",
            "pattern": phrase,
        }


def _faq(wanted: FlowRequest) -> Iterator[tuple[str, Values]]:
    yield _answer(wanted, "ANY", wanted.answer, "the answer")


def _person(wanted: FlowRequest) -> Iterator[tuple[str, Values]]:
    text = wanted.answer or "One moment please: somebody from our team will go on with you."
    yield _rule(
        wanted, "ANY", "EXACT", "ANY", "SET_CONTEXT", "handover:true", 10, "ask the caller to hand over to a person"
    )
    yield _answer(wanted, "ANY", text, "say that a person takes over")


def _form(wanted: FlowRequest) -> Iterator[tuple[str, Values]]:
    summed = ", ".join(f"{wish.label}: {{{{ {wish.name} }}}}" for wish in wanted.wishes)
    names = [wish.name for wish in wanted.wishes]
    yield from _collecting(wanted, CONFIRM, "ask for confirmation when the form is complete")
    yield _answer(wanted, CONFIRM, wanted.summary or f"Please check: {summed}. Is that right?", "ask for confirmation")
    yield _rule(wanted, CONFIRM, "EXACT", "AFFIRM", "SET_STATE", DONE, 10, "a yes", "POST_DIALOGUE_ACT")
    for position, (action, value) in enumerate((("CLEAR_CONTEXT", ",".join(names)), ("SET_STATE", COLLECT)), start=2):
        yield _rule(
            wanted, CONFIRM, "EXACT", "NEGATE", action, value, 10 * position, "“No” starts again", "POST_DIALOGUE_ACT"
        )
    yield _answer(wanted, DONE, wanted.answer or "Thank you, I have noted that.", "say that the task is done")


def _lookup(wanted: FlowRequest) -> Iterator[tuple[str, Values]]:
    yield from _collecting(wanted, DONE, "call the tool when the form is complete")
    args = {wish.name: f"{{{{ {wish.name} }}}}" for wish in wanted.wishes}
    yield (
        "ce_tool",
        {
            **_scope(wanted, DONE),
            "tool_group": wanted.tool_group,
            "tool_code": wanted.tool,
            "args_template": args,
            "description": "call the tool",
        },
    )
    yield _answer(wanted, DONE, wanted.answer or "I found this: {{ tool_result.result | tojson }}", "give the result")


_FLOWS: Mapping[str, Callable[[FlowRequest], Iterator[tuple[str, Values]]]] = {
    Flow.FAQ: _faq,
    Flow.FORM: _form,
    Flow.LOOKUP: _lookup,
    Flow.PERSON: _person,
}


def _collecting(wanted: FlowRequest, then: str, why: str) -> Iterator[tuple[str, Values]]:
    """The form, the question for its fields, and the rule that follows when all are known."""
    properties = {wish.name: wish.schema() for wish in wanted.wishes}
    schema = {"type": "object", "properties": properties, "required": [wish.name for wish in wanted.wishes]}
    yield "ce_output_schema", {**_scope(wanted, "ANY"), "json_schema": schema, "description": "fields to collect"}
    yield _answer(wanted, COLLECT, _asking(wanted), "ask for missing fields")
    yield _rule(
        wanted,
        COLLECT,
        "JSON_PATH",
        "$[?(@.schemaComplete == true)]",
        "SET_STATE",
        then,
        10,
        why,
        "POST_SCHEMA_EXTRACTION",
    )


def _asking(wanted: FlowRequest) -> str:
    """The question for all fields, then for the missing ones by their labels."""
    labels = _or(wanted.wishes)
    names = json.dumps({wish.name: wish.label for wish in wanted.wishes}, ensure_ascii=False)
    return (
        f"{{% set names = {names} %}}{{% if missing_fields | length == {len(wanted.wishes)} %}}"
        f"{wanted.question or f'Please tell me {labels}.'}{{% else %}}I still need {_STILL}.{{% endif %}}"
    )


def _or(wishes: Sequence[RequestedField]) -> str:
    *first, last = [wish.label for wish in wishes]
    return f"{', '.join(first)} and {last}" if first else last


def _scope(wanted: FlowRequest, state: str) -> Values:
    return {"intent_code": wanted.code, "state_code": state}


def _answer(wanted: FlowRequest, state: str, text: str, why: str) -> tuple[str, Values]:
    return "ce_response", {
        **_scope(wanted, state),
        "output_format": "TEXT",
        "response_type": "EXACT",
        "exact_text": text,
        "description": why,
    }


def _rule(
    wanted: FlowRequest, state: str, kind: str, condition: str, action: str, value: str, priority: int, why: str,
    phase: str = "PRE_RESPONSE_RESOLUTION",
) -> tuple[str, Values]:  # fmt: skip
    target = {"match_target": "DIALOGUE_ACT"} if phase == "POST_DIALOGUE_ACT" else {}
    return "ce_rule", {
        **_scope(wanted, state),
        **target,
        "phase": phase,
        "rule_type": kind,
        "match_pattern": condition,
        "action": action,
        "action_value": value,
        "priority": priority,
        "description": why,
    }
