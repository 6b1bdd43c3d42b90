"""What rows a starter makes of what somebody wants, as the document of an import."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config_admin.starters.phrases import pattern
from convengine.domain.enums import Word

Json = Any
Values = dict[str, Json]

COLLECT, CONFIRM, DONE = "COLLECT", "CONFIRM", "DONE"
#: The names of what is missing, as a template.
_STILL = (
    "{% for one in names if one in missing_fields %}{{ names[one] }}{% if not loop.last %}, {% endif %}{% endfor %}"
)


class Flow(Word):
    """A kind of flow to start from."""

    FAQ = "FAQ", "Answer a question", "Phrases lead to one answer."
    FORM = (
        "FORM",
        "Collect and confirm",
        "Asks for data until all of it is known, sums up, and goes on after a yes; a no begins anew.",
    )
    LOOKUP = "LOOKUP", "Look something up", "Asks for what a tool needs, calls it, and answers with what it found."
    PERSON = "PERSON", "Hand over to a person", "Says that somebody will take over, and tells the caller so."


@dataclass(frozen=True)
class Wish:
    """One thing to ask for: its name in the form, how people call it, its type and what it may be."""

    name: str
    label: str
    type: str = "string"
    format: str | None = None
    choices: tuple[str, ...] = ()

    def schema(self) -> Values:
        """The property of the JSON schema."""
        found: Values = {"type": self.type, "title": self.label}
        if self.format:
            found["format"] = self.format
        if self.choices:
            found["enum"] = list(self.choices)
        return found


@dataclass(frozen=True)
class Wanted:
    """What somebody says of the flow; blank texts are written for them."""

    flow: str
    code: str
    name: str
    description: str
    phrases: tuple[str, ...]
    wishes: tuple[Wish, ...] = ()
    question: str = ""
    summary: str = ""
    answer: str = ""
    tool: str = ""
    #: The group that the tool belongs to.
    tool_group: str = ""


def document(wanted: Wanted) -> dict[str, list[Values]]:
    """The rows by table, ready to be imported."""
    made: dict[str, list[Values]] = {
        "ce_intent": [
            {"intent_code": wanted.code, "display_name": wanted.name, "description": wanted.description},
        ],
        "ce_intent_classifier": list(_phrases(wanted)),
    }
    for table, row in _FLOWS[wanted.flow](wanted):
        made.setdefault(table, []).append(row)
    return made


def _phrases(wanted: Wanted) -> Iterator[Values]:
    begins = COLLECT if wanted.wishes else "IDLE"
    for phrase in wanted.phrases:
        yield {
            "intent_code": wanted.code,
            "state_code": begins,
            "rule_type": "REGEX",
            "pattern": pattern(phrase),
            "description": phrase,
        }


def _faq(wanted: Wanted) -> Iterator[tuple[str, Values]]:
    yield _answer(wanted, "ANY", wanted.answer, "the answer")


def _person(wanted: Wanted) -> Iterator[tuple[str, Values]]:
    told = wanted.answer or "One moment please: somebody from our team will go on with you."
    yield _rule(wanted, "ANY", "EXACT", "ANY", "SET_CONTEXT", "handover:true", 10, "the caller hands over to a person")
    yield _answer(wanted, "ANY", told, "say that somebody takes over")


def _form(wanted: Wanted) -> Iterator[tuple[str, Values]]:
    summed = ", ".join(f"{wish.label}: {{{{ {wish.name} }}}}" for wish in wanted.wishes)
    names = [wish.name for wish in wanted.wishes]
    yield from _collecting(wanted, CONFIRM, "sum up when everything is known")
    yield _answer(wanted, CONFIRM, wanted.summary or f"Please check: {summed}. Is that right?", "ask for a yes")
    yield _rule(wanted, CONFIRM, "EXACT", "AFFIRM", "SET_STATE", DONE, 10, "a yes", "POST_DIALOGUE_ACT")
    for place, (action, value) in enumerate((("CLEAR_CONTEXT", ",".join(names)), ("SET_STATE", COLLECT)), start=2):
        yield _rule(
            wanted, CONFIRM, "EXACT", "NEGATE", action, value, 10 * place, "a no begins anew", "POST_DIALOGUE_ACT"
        )
    yield _answer(wanted, DONE, wanted.answer or "Thank you, I have noted that.", "say that it is done")


def _lookup(wanted: Wanted) -> Iterator[tuple[str, Values]]:
    yield from _collecting(wanted, DONE, "look it up when everything is known")
    args = {wish.name: f"{{{{ {wish.name} }}}}" for wish in wanted.wishes}
    yield (
        "ce_tool",
        {
            **_scope(wanted, DONE),
            "tool_group": wanted.tool_group,
            "tool_code": wanted.tool,
            "args_template": args,
            "description": "look it up",
        },
    )
    yield _answer(
        wanted, DONE, wanted.answer or "I found this: {{ tool_result.result | tojson }}", "tell what was found"
    )


_FLOWS: Mapping[str, Callable[[Wanted], Iterator[tuple[str, Values]]]] = {
    Flow.FAQ: _faq,
    Flow.FORM: _form,
    Flow.LOOKUP: _lookup,
    Flow.PERSON: _person,
}


def _collecting(wanted: Wanted, then: str, why: str) -> Iterator[tuple[str, Values]]:
    """The data, the question for it, and the rule that leads on when all of it is known."""
    properties = {wish.name: wish.schema() for wish in wanted.wishes}
    schema = {"type": "object", "properties": properties, "required": [wish.name for wish in wanted.wishes]}
    yield "ce_output_schema", {**_scope(wanted, "ANY"), "json_schema": schema, "description": "what is asked for"}
    yield _answer(wanted, COLLECT, _asking(wanted), "ask for what is missing")
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


def _asking(wanted: Wanted) -> str:
    """The question at first, then what is still missing by the names that people use."""
    labels = _or(wanted.wishes)
    names = json.dumps({wish.name: wish.label for wish in wanted.wishes}, ensure_ascii=False)
    return (
        f"{{% set names = {names} %}}{{% if missing_fields | length == {len(wanted.wishes)} %}}"
        f"{wanted.question or f'Please tell me {labels}.'}{{% else %}}I still need {_STILL}.{{% endif %}}"
    )


def _or(wishes: Sequence[Wish]) -> str:
    *first, last = [wish.label for wish in wishes]
    return f"{', '.join(first)} and {last}" if first else last


def _scope(wanted: Wanted, state: str) -> Values:
    return {"intent_code": wanted.code, "state_code": state}


def _answer(wanted: Wanted, state: str, text: str, why: str) -> tuple[str, Values]:
    return "ce_response", {
        **_scope(wanted, state),
        "output_format": "TEXT",
        "response_type": "EXACT",
        "exact_text": text,
        "description": why,
    }


def _rule(
    wanted: Wanted, state: str, kind: str, condition: str, action: str, value: str, priority: int, why: str,
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
