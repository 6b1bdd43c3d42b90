"""A flow in the words of its page: all of it, what an edit changes, and what differs between two forms."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from config_admin.flows.bounds import format_bound, get_bound_labels
from config_admin.flows.choices import format_choices, format_source
from config_admin.flows.dependencies import describe_dependency
from config_admin.flows.document import (
    Document,
    FlowKind,
    Values,
    get_flow_schema,
    get_item_schema,
    is_field_asked,
    is_field_required,
    write_condition,
)
from config_admin.flows.field_kinds import find_field_kind, get_field_kind, has_input
from config_admin.flows.mapping import FIELD, FORM, write_rows
from config_admin.flows.row_shapes import Part
from config_admin.flows.schema_form import list_inputs, say_value
from convengine.engine.forms.asking import get_texts, write_question
from convengine.engine.forms.form import Form
from convengine.engine.rules.conditions.words import describe_condition
from convengine.engine.text.difference import ABSENT, Difference
from convengine.engine.understanding.language import find_language
from convengine.json_value import Json

_FLOW, _FIELD = dict(list_inputs(get_flow_schema())), dict(list_inputs(get_item_schema("fields")))
#: The parts with one value, and what a field is called among others.
_PLAIN_KEYS = tuple(key for key in _FLOW if key not in ("code", "phrases"))
_FIELD_LABELS = {key: "Name" if key == "title" else declared["title"] for key, declared in _FIELD.items()}
#: The keys of a field that have lines of their own form.
_DESCRIBED_KEYS = frozenset(
    {"title", "type", "required", "question", "options", "options_from", "only_if", "min", "max"}
)


class SummaryPart(NamedTuple):
    title: str
    lines: list[str]


# --- all of it ----------------------------------------------------------------------------------------------------


def summarise_flow(flow: Document) -> list[SummaryPart]:
    parts = [SummaryPart(f"Phrases of {flow['title']}", list(flow["phrases"]))]
    if fields := flow.get("fields"):
        questions = _write_questions(flow)
        titles = {field["name"]: field["title"] for field in fields}
        parts += [
            SummaryPart(
                f"Field {number}: {field['title']}", list(_describe_field(field, questions[field["name"]], titles))
            )
            for number, field in enumerate(fields, 1)
        ]
    texts = get_texts(find_language(flow.get("locale") or ""))
    shown = {**flow}
    if flow["kind"] == FlowKind.collect:
        shown = {"confirmation": texts["confirm"], "on_no": "ASK_WHAT_TO_CHANGE", **shown}
    if fields:
        shown = {"on_leave": "ASK", "max_misses": 3, **shown}
    parts += [
        SummaryPart(_FLOW[key]["title"], [say_value(_FLOW[key], shown[key])])
        for key in _PLAIN_KEYS
        if key != "title" and shown.get(key) not in (None, "", flow["title"])
    ]
    parts += [SummaryPart("Not allowed", [line]) for line in _list_refusals(flow)]
    for item in flow.get("questions_and_answers", ()):
        lines = [*item["questions"], f"Answer: {item['answer']}{_describe_name(item)}"]
        parts.append(SummaryPart("Answered in between", lines))
    return parts


def _describe_field(field: Document, question: str, titles: Mapping[str, str]) -> Iterator[str]:
    """A field in lines: its kind, its question, its choices and its other texts."""
    needed = "required" if is_field_required(field) else "optional"
    bounds = "".join(
        f", {label.lower()} {format_bound(field['type'], field[key])}"
        for key, label in get_bound_labels(field["type"]).items()
        if field.get(key) not in (None, "")
    )
    yield f"{get_field_kind(field['type']).label}, {needed}{bounds}"
    yield f"Asks: {question}" if is_field_asked(field) else "Never asked, because it is optional and has no question"
    if only_if := field.get("only_if"):
        yield f"Only if {describe_dependency(only_if, titles)}"
    for option in field.get("options", ()):
        yield f"Choice: {format_choices([option])}"
    if source := field.get("options_from"):
        yield f"Choices from data: {format_source(source)}"
    for key, label in _FIELD_LABELS.items():
        if key not in _DESCRIBED_KEYS and field.get(key):
            yield f"{label}: {field[key]}"


def _write_questions(flow: Document) -> Mapping[str, str]:
    """The question of each field; one that is left blank is made from the name."""
    schema = next(row["json_schema"] for row in write_rows(flow)["ce_output_schema"])
    language = find_language(flow.get("locale") or "")
    own = {field["name"]: field.get("question") for field in flow.get("fields", ())}
    return {field.path: own[field.path] or write_question(field, language) for field in Form(schema).fields}


# --- what an edit changes -----------------------------------------------------------------------------------------


def describe_changes(old: Document, new: Document) -> list[Difference]:
    """The differences of two documents of one flow, which are normalised."""
    changes = [
        Difference(
            (key,), say_value(_FLOW[key], old.get(key)), say_value(_FLOW[key], new.get(key)), _FLOW[key]["title"]
        )
        for key in _PLAIN_KEYS
        if old.get(key) != new.get(key)
    ]
    changes += _compare_lists("phrases", "Phrase", old["phrases"], new["phrases"])
    changes += _compare_fields(old.get("fields", []), new.get("fields", []))
    changes += _compare_lists("not_allowed", "Not allowed", *(list(_list_refusals(flow)) for flow in (old, new)))
    items = [
        [
            f"{' / '.join(item['questions'])} – {item['answer']}{_describe_name(item)}"
            for item in flow.get("questions_and_answers", ())
        ]
        for flow in (old, new)
    ]
    return [*changes, *_compare_lists("questions_and_answers", "Answered in between", *items)]


def _describe_name(item: Document) -> str:
    return f" (short name: {item['short_name']})" if item.get("short_name") else ""


def _list_refusals(flow: Document) -> Iterator[str]:
    titles = {field["name"]: field["title"] for field in flow.get("fields", ())}
    for item in flow.get("not_allowed", ()):
        when = describe_condition(write_condition(item["when"]))
        yield f"When {when}: “{item['text']}” Asks again: {titles.get(item['field'], item['field'])}"


def _compare_lists(key: str, label: str, old: list[str], new: list[str]) -> Iterator[Difference]:
    yield from (Difference((key,), text, ABSENT, label) for text in old if text not in new)
    yield from (Difference((key,), ABSENT, text, label) for text in new if text not in old)


def _compare_fields(old: list[Values], new: list[Values]) -> Iterator[Difference]:
    """The removed, added and changed fields, and the order of those that stay."""
    before, after = ({field["name"]: field for field in fields} for fields in (old, new))
    for name in (name for name in before if name not in after):
        yield Difference(("fields", name), before[name]["title"], ABSENT, "Field")
    for name, field in after.items():
        if name in before:
            yield from _compare_field(before[name], field)
        else:
            yield Difference(
                ("fields", name), ABSENT, f"{field['title']} ({get_field_kind(field['type']).label})", "Field"
            )
    orders = [
        [field["name"] for field in fields if field["name"] in before.keys() & after.keys()] for fields in (old, new)
    ]
    if orders[0] != orders[1]:
        was, now = (", ".join(field["title"] for field in fields) for fields in (old, new))
        yield Difference(("fields",), was, now, "Order of the fields")


def _compare_field(old: Values, new: Values) -> Iterator[Difference]:
    for key in _FIELD_LABELS:
        if old.get(key) != new.get(key):
            was, now = (_say_field_value(field["type"], key, field.get(key)) for field in (old, new))
            yield Difference(("fields", new["name"], key), was, now, f"{new['title']}, {_get_label(new['type'], key)}")


def _get_label(kind: str, key: str) -> str:
    return get_bound_labels(kind).get(key) or _FIELD_LABELS[key]


def _say_field_value(kind: str, key: str, value: Any) -> str:
    if key == "only_if" and value:
        return describe_dependency(value, {})
    is_bound = key in ("min", "max") and has_input(kind, key) and value not in (None, "")
    return str(format_bound(kind, value)) if is_bound else say_value(_FIELD[key], value)


# --- two forms ----------------------------------------------------------------------------------------------------


#: The keys of a form that the page has an input for.
_KEYS_OF_FORM = {name: part.key for name, part in FORM.items() if isinstance(part, Part) and part.key in _FLOW}


def describe_form_difference(difference: Difference, old: Json, new: Json) -> Difference:
    """A difference of two forms' schemas in the words of the page of a flow, if the page has the value."""
    if any(isinstance(value, (list, dict)) for value in (difference.before, difference.after)):
        return difference
    match difference.path:
        case [str(name)] if name in _KEYS_OF_FORM:
            declared = _FLOW[_KEYS_OF_FORM[name]]
            label, say = declared["title"], partial(say_value, declared)
        case ["properties", str(field), str(name)] if name in FIELD:
            key, declared_field = FIELD[name].key, _find_property(field, old, new)
            kind = find_field_kind(declared_field) or str(declared_field.get("format") or "")
            label = f"{declared_field.get('title') or field}, {_get_label(kind, key)}"
            say = partial(_say_field_value, kind, key)
        case _:
            return difference
    before, after = ("" if value is ABSENT else say(value) for value in (difference.before, difference.after))
    return replace(difference, before=before, after=after, label=label)


def _find_property(name: str, old: Json, new: Json) -> Mapping[str, Any]:
    """The declaration of a field in the new form, else in the old one; empty if neither has it."""
    for schema in (new, old):
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        if isinstance(properties, Mapping) and isinstance(properties.get(name), Mapping):
            return dict(properties[name])
    return {}
