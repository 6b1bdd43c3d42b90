"""A flow document: its JSON Schema, its kinds, and what is wrong with one.

The page *Start a flow* and `manage.py start_flow FILE` give the same document, and so the same rows.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator, ValidationError

from config_admin.flows.dependencies import find_dependency_problems
from config_admin.flows.field_kinds import FIELD_KINDS
from config_admin.flows.languages import list_first_missing, list_flow_languages, speak_flow
from convengine.engine.forms.options_from_data import find_source_problem
from convengine.engine.rules.actions import refuse_value
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.conditions.evaluate import ALIASES
from convengine.engine.rules.conditions.rows import ConditionError, list_fields, parse_condition
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.wording import join_names
from convengine.engine.turn.enums import Vocabulary
from convengine.engine.turn.facts import RESERVED_FACTS
from convengine.json_value import Json

Values = dict[str, Json]
Document = Mapping[str, Json]


class FlowKind(Vocabulary):
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


_LONGEST_PROBLEM = 300
#: What a limit of the schema counts.
_UNITS = {"maxItems": "entries", "maxLength": "characters"}
#: The kinds that ask for fields.
ASKING = (FlowKind.collect, FlowKind.lookup)


class FlowRefused(ValueError):
    """The document is no flow; `problems` names each place and what is wrong with it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@cache
def get_flow_schema() -> Values:
    schema: Values = json.loads(Path(__file__).with_name("flow.schema.json").read_text("utf-8"))
    fields = schema["properties"]["fields"]["items"]["properties"]
    fields["type"] |= {"enum": [*FIELD_KINDS], "x-labels": {name: kind.label for name, kind in FIELD_KINDS.items()}}
    return schema


def get_item_schema(key: str) -> Values:
    """The JSON Schema of an item of a list of the document."""
    schema: Values = get_flow_schema()["properties"][key]["items"]
    return schema


def check_flow(document: Json) -> None:
    """Check a document, in each of its languages, by the schema of flows, and what the schema cannot say.

    Raises FlowRefused with all problems of the first kind, or else with all of the second.
    """
    languages = list_flow_languages(document)
    if missing := [key for first in languages[:1] for key in list_first_missing(document, first)]:
        raise FlowRefused([f"{key}: write it in {languages[0]}, too" for key in missing])
    for language in languages:
        try:
            _check_flow(speak_flow(document, language, languages[0]))
        except FlowRefused as refused:
            raise FlowRefused([f"{problem} ({language})" for problem in refused.problems]) from None
    if not languages:
        _check_flow(document)


def _check_flow(document: Json) -> None:
    errors = sorted(Draft202012Validator(get_flow_schema()).iter_errors(document), key=lambda error: list(error.path))
    problems = [
        f"{'.'.join(map(str, error.absolute_path)) or 'the document'}: {_describe_error(error)}" for error in errors
    ]
    if not problems:
        names = [field["name"] for field in document.get("fields", ())]
        problems = [f"fields: {name} occurs twice" for name in dict.fromkeys(names) if names.count(name) > 1]
        problems += _find_wrong_order(document.get("fields", ()))
        if document.get("at_once") and document.get("task"):
            problems.append("at_once: a task runs after a yes. Ask for the yes, or leave the task out")
        problems += [
            f"fields.{number}.options_from: {problem}"
            for number, field in enumerate(document.get("fields", ()))
            if "options_from" in field and (problem := find_source_problem(field["options_from"]))
        ]
        problems += find_dependency_problems(document.get("fields", ()))
        problems += [
            f"not_allowed.{number}.{key}: {problem}"
            for number, item in enumerate(document.get("not_allowed", ()))
            for key, problem in find_refusal_problems(item, document.get("fields", ()))
        ]
    if problems:
        raise FlowRefused(problems)


def _find_wrong_order(fields: Sequence[Document]) -> Iterator[str]:
    """A sentence for each `after` that names no earlier date."""
    dates: list[str] = []
    for number, field in enumerate(fields):
        is_date = field["type"] in ("date", "datetime")
        if "after" in field and not (is_date and field["after"] in dates):
            known = (
                f"Use one of {', '.join(dates)}." if is_date and dates else "Only a date behind another date has it."
            )
            yield f"fields.{number}.after: {field['after']!r} is not an earlier date. {known}"
        if is_date:
            dates.append(field["name"])


def find_refusal_problems(item: Document, fields: Sequence[Document]) -> Iterator[tuple[str, str]]:
    """What is wrong with an item of `not_allowed`, by its key."""
    is_asked = {field["name"]: is_field_asked(field) for field in fields}
    known = {*is_asked, *ALIASES, *RESERVED_FACTS}
    listed = join_names(is_asked) or "none"
    try:
        tested = list_fields(parse_condition(write_condition(item["when"])))
    except ConditionError as error:
        yield "when", str(error)
    else:
        for name in tested:
            if name.split(".")[0] not in known:
                yield "when", f"“{name}” is not a field of this flow. Its fields are {listed}."
    if item["field"] not in is_asked:
        yield "field", f"“{item['field']}” is not a field of this flow. Its fields are {listed}."
    elif not is_asked[item["field"]]:
        yield "field", f"“{item['field']}” is never asked for: it is optional and has no question."
    else:
        try:
            refuse_value.parse(write_refusal(item))
        except ActionValueError as error:
            yield "text", error.message


def is_field_required(field: Document) -> bool:
    """True unless the field is optional."""
    return bool(field.get("required", True))


def is_field_asked(field: Document) -> bool:
    """True for a field that users are asked for: a required one, or an optional one with a question."""
    return is_field_required(field) or bool(field.get("question"))


def write_refusal(item: Document) -> str:
    """What its rule says, and which field it asks again."""
    return f"{item['field']}: {item['text']}"


def write_condition(when: Json) -> str:
    """A condition as its rule stores it."""
    return json.dumps(when, ensure_ascii=False)


def _describe_error(error: ValidationError) -> str:
    """What is wrong, without repeating a value that is too long."""
    unit = _UNITS.get(str(error.validator))
    if unit and isinstance(error.instance, (str, list)):
        return f"{len(error.instance)} {unit}; {error.validator_value} at most"
    return shorten_line(error.message, _LONGEST_PROBLEM)
