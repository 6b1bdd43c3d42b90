"""A flow is read back from its rows: the same document for all kinds, and what was changed by hand."""

from typing import Any

import pytest

from config_admin import models as m
from config_admin.flows.document import get_flow_schema
from config_admin.flows.mapping import normalise_flow, write_rows
from config_admin.flows.reading import describe_no_flow, find_flow_of_question, list_flows, read_flow
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import add_rows

pytestmark = pytest.mark.django_db

BASE = {"code": "BOOKING", "title": "Book a table", "phrases": ["book a table", "I want a table"], "answer": "Done."}
FULL_FIELD = {
    "question": "Which one?", "again": "Once more: which one?", "invalid": "Not {{ value }}: {{ reason }}",
}  # fmt: skip
OPTIONS = [
    {"value": "IN", "label": "inside", "synonyms": ["indoors"]},
    {"value": "out"},
    {"value": 3, "label": "third room"},
]
BOUNDS: dict[str, Any] = {
    "date": {"min": "today", "max": "today+90d"},
    "time": {"min": "08:00", "max": "17:30"},
    "number": {"min": 1, "max": 8},
    "money": {"min": 0.5, "currency": "EUR"},
    "phone": {"country": "GB"},
    "choice": {"options": OPTIONS},
    "pattern": {"pattern": "^[A-Z]{3}$", "examples": ["ABC", "KLM"], "labels": ["code", "number, or code"]},
    "finder": {"finder": "person"},
}
TYPES = get_flow_schema()["properties"]["fields"]["items"]["properties"]["type"]["enum"]
FIELDS: list[dict[str, Any]] = [
    {
        "name": name,
        "title": name.title(),
        "type": name,
        "required": bool(number % 2),
        **BOUNDS.get(name, {}),
        **FULL_FIELD,
    }
    for number, name in enumerate(TYPES)
]
for _number, _only_if in enumerate(
    (
        {"field": "number", "operator": "=", "value": 1.5},
        {"field": "number", "operator": "!=", "value": 3},
        {"field": "yes_no", "operator": "=", "value": False},
    ),
    TYPES.index("pattern") - 2,
):
    FIELDS[_number]["only_if"] = _only_if
ACCOUNTS = {"path": "$.container_data.accounts", "value": "iban", "label": "name", "synonyms": "nicknames"}
FIELDS += [
    {"name": "account", "title": "Account", "type": "choice", "options_from": ACCOUNTS},
    {"name": "slot", "title": "Slot", "type": "choice", "options_from": {"path": "$.slots[?(@.free in [true, 1])]"}},
]
QUESTIONS = [
    {"questions": ["how much is a table", "what are your prices"], "answer": "It is free.", "short_name": "Prices"},
    {"questions": ["where are you"], "answer": "In the old town."},
]
FULL = {
    **BASE, "kind": "collect", "description": "A guest wants a table.", "locale": "de-DE", "fields": FIELDS,
    "ask_mode": "ALL", "confirmation": "Stimmt das?", "on_no": "RESTART", "on_leave": "STAY",
    "hand_over": "Rufen Sie an.", "max_misses": 2, "resume": True, "at_once": True, "questions_and_answers": QUESTIONS,
}  # fmt: skip


def store(flow: dict[str, Any]) -> None:
    add_rows(write_rows(flow), author="ada", reason="begin")


def read(code: str = "BOOKING") -> Any:
    return read_flow(snapshots.current(), code)


def make_tool() -> None:
    with change_set():
        m.CeMcpTool.objects.create(
            tool_code="shop.sum", tool_group="CALCULATOR_TRANSFORM", intent_code="ANY", state_code="ANY",
            description="adds", input_schema={"type": "object", "properties": {"expression": {"type": "string"}}},
        )  # fmt: skip


@pytest.mark.parametrize(
    "flow",
    [
        {**BASE, "kind": "answer"},
        {**BASE, "kind": "answer", "description": "Opening hours.", "questions_and_answers": QUESTIONS},
        {**BASE, "kind": "lookup", "tool": "shop.sum"},
        {**BASE, "kind": "handover"},
        {**BASE, "kind": "collect", "fields": FIELDS[:1]},
        FULL,
        {
            **BASE,
            "kind": "lookup",
            "tool": "shop.sum",
            "fields": FIELDS[:2],
            "locale": "en-GB",
            "hand_over": "Call us.",
        },
    ],
    ids=["answer", "answer with questions", "lookup without fields", "handover", "collect", "full collect", "lookup"],
)
def test_a_flow_is_read_back_as_it_was_written(flow: dict[str, Any]) -> None:
    make_tool()
    store(flow)
    reading = read()

    assert reading.document == normalise_flow(flow)
    assert write_rows(reading.document) == write_rows(flow)
    assert (reading.other_rows, list(reading.list_changed_columns()), reading.missing) == ((), [], ())


def test_defaults_and_what_a_kind_does_not_use_are_left_out() -> None:
    flow = {
        **BASE, "kind": "answer", "phrases": ["a table", "a table"], "description": "Book a table", "locale": "de-DE",
        "confirmation": "Right?", "questions_and_answers": [],
    }  # fmt: skip
    assert normalise_flow(flow) == {**BASE, "kind": "answer", "phrases": ["a table"]}


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("[A-Z]{3}", "^[A-Z]{3}$"),
        ("^[A-Z]{3}$", "^[A-Z]{3}$"),
        ("^A", "^A$"),
        ("A|B", "^(?:A|B)$"),
        (r"A\$", r"^(?:A\$)$"),
    ],
)
def test_a_pattern_describes_the_whole_value(given: str, written: str) -> None:
    field = {"name": "plate", "title": "Plate", "type": "pattern", "pattern": given}
    flow = {**BASE, "kind": "collect", "fields": [field]}
    store(flow)

    assert read().document["fields"][0]["pattern"] == written
    assert read().document == normalise_flow(flow)
    assert write_rows(read().document) == write_rows(flow)


def test_rows_made_by_hand_are_named_and_do_not_count() -> None:
    store(FULL)
    with change_set():
        hand = m.CeIntentClassifier.objects.create(
            intent_code="BOOKING", state_code="COLLECT", rule_type="REGEX", pattern="(?i)table", priority=1
        )
        off = m.CeIntentClassifier.objects.get(pattern="book a table")
        off.enabled = False
        off.save()
        schema = m.CeOutputSchema.objects.get(intent_code="BOOKING")
        schema.json_schema["properties"]["seats"] = {"type": "array", "items": {"type": "string"}}
        schema.json_schema["properties"]["text"]["x-done"] = "Noted."
        schema.save()
        m.CeRule.objects.filter(intent_code="BOOKING", match_pattern="AFFIRM").delete()
    reading = read()

    assert [(row.table, row.pk) for row in reading.other_rows] == [
        ("ce_intent_classifier", hand.pk), ("ce_intent_classifier", off.pk),
    ]  # fmt: skip
    assert reading.document == normalise_flow({**FULL, "phrases": ["I want a table"]})
    assert [(row.pk, names) for row, names in reading.list_changed_columns()] == [(schema.pk, ("json_schema",))]
    assert [(table, values["match_pattern"]) for table, values in reading.missing] == [("ce_rule", "AFFIRM")]


def test_rows_of_another_shape_are_no_flow() -> None:
    store({**BASE, "kind": "answer"})
    assert read("NONE") is None
    with change_set():
        m.CeResponse.objects.filter(intent_code="BOOKING").update(response_type="DERIVED", derivation_hint="Be kind.")
    assert read() is None


def test_the_row_that_a_flow_lacks_is_named() -> None:
    store({**BASE, "kind": "answer"})
    with change_set():
        m.CeResponse.objects.filter(intent_code="BOOKING").update(state_code="LATER")
    row = m.CeResponse.objects.get(intent_code="BOOKING")
    snapshot = snapshots.current()

    assert describe_no_flow(snapshot, "NONE") == "There is no intent NONE."
    assert describe_no_flow(snapshot, "BOOKING") == (
        f"Its answer is missing: no row of ce_response has it. Row {row.pk} has another state_code."
    )


def test_a_flow_opens_beside_a_refusal_that_says_nothing() -> None:
    when = {"combinator": "and", "rules": [{"field": "text", "operator": "isEmpty"}]}
    refusal = {"when": when, "text": "Not so.", "field": "text"}
    fields = [FIELDS[1], {**FIELDS[0], "required": True}]
    store({**BASE, "kind": "collect", "fields": fields, "not_allowed": [refusal]})
    with change_set():
        m.CeRule.objects.filter(action="REFUSE_VALUE").update(action_value="text")
    row = m.CeRule.objects.get(action="REFUSE_VALUE")

    assert "not_allowed" not in read().document
    assert [other.pk for other in read().other_rows] == [row.pk]


def test_flows_are_listed_without_the_intents_of_their_questions() -> None:
    store(FULL)
    store({**BASE, "kind": "answer", "code": "HOURS", "phrases": ["opening hours"]})
    snapshot = snapshots.current()

    assert [flow["code"] for flow in list_flows(snapshot)] == ["BOOKING", "HOURS"]
    assert find_flow_of_question(snapshot, "BOOKING_Q2") == "BOOKING"
    assert find_flow_of_question(snapshot, "HOURS") == ""
