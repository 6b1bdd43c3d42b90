"""How well a configuration understands messages."""

from typing import Any

import pytest

from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.evaluation.configuration import evaluate_messages, validate_configuration, validate_messages
from convengine.evaluation.intents import make_phrases
from convengine.evaluation.labelled import LabelledMessage
from convengine.evaluation.read import EvaluationError
from tests.convengine.evaluation.test_read import FORM

PHRASES = make_phrases(
    {
        "CAKES": ["I want to order a cake", "order some cakes", "a birthday cake please"],
        "HOURS": ["when are you open", "your opening hours"],
    }
)


def make_snapshot() -> Snapshot:
    off = rows.Classifier(classifier_id=8, intent_code="OFF", rule_type="PHRASE", pattern="nobody asks")
    pattern = rows.Classifier(classifier_id=9, intent_code="CAKES", rule_type="CONTAINS", pattern="gateau")
    tables = [
        Table(rows.Intent.table, [rows.Intent(intent_code=code) for code in ("CAKES", "HOURS")]),
        Table(rows.Classifier.table, [*PHRASES, off, pattern]),
        Table(
            rows.OutputSchema.table,
            [rows.OutputSchema(schema_id=1, intent_code="CAKES", state_code="IDLE", json_schema=FORM)],
        ),
    ]
    return Snapshot(1, {table.name: table for table in tables})


def evaluate(*messages: LabelledMessage) -> dict[str, Any]:
    return evaluate_messages(make_snapshot(), messages, report=lambda done, total: None)


def test_labels_are_compared_without_case() -> None:
    document = evaluate(LabelledMessage("order a cake", "cakes"), LabelledMessage("nice day", "unknown"))

    assert (document["intents"]["precision"], document["intents"]["recall"]) == (1.0, 1.0)
    assert document["intents"]["noneOfThem"]["messages"] == 1
    assert document["fields"] is None


def test_an_intent_that_no_phrase_leads_to_is_named() -> None:
    document = evaluate(LabelledMessage("where do you park", "PARKING"))

    assert document["notes"] == ["Intents without a phrase, which no message can lead to: PARKING."]
    assert document["intents"]["recall"] == 0.0


def test_values_of_a_message_are_read_into_the_form_of_its_intent() -> None:
    document = evaluate(
        LabelledMessage("2 cakes", "CAKES", {"cakes": "2"}),
        LabelledMessage("4 March", "CAKES", {"day": "2019-03-04"}, {"asked": "day"}),
        LabelledMessage("large", "cakes", {"size": "small"}, {"asked": "size"}),
        LabelledMessage("on Tuesday", None, {"day": "2019-03-05"}),
    )

    fields = document["fields"]
    assert (fields["values"], fields["taken"]) == (3, 0.6667)
    assert {each["field"]: (each["taken"], each["wrong"]) for each in fields["fields"]} == {
        "size": (0, 1),
        "cakes": (1, 0),
        "day": (1, 0),
    }
    assert [(each["field"], each["expected"], each["read"]) for each in fields["faults"]] == [
        ("size", "small", "large")
    ]
    assert document["notes"] == ["Left out, because no form of the intent has the field: day without an intent (1)."]
    assert document["intents"]["messages"] == 1


def test_the_phrases_in_use_are_cross_validated() -> None:
    document = validate_configuration(make_snapshot(), report=lambda done, total: None)

    assert document["kind"] == "cross-validation"
    assert {each["intent"]: each["messages"] for each in document["intents"]["intents"]} == {"CAKES": 3, "HOURS": 2}


def test_messages_are_cross_validated_as_if_they_were_phrases() -> None:
    messages = [LabelledMessage(row.pattern or "", row.intent_code) for row in PHRASES]
    document = validate_messages([*messages, LabelledMessage("hm", "")], report=lambda done, total: None)

    assert document["intents"]["messages"] == 5


def test_nothing_to_cross_validate_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="no intent has two different phrases"):
        validate_configuration(Snapshot(1, {}), report=lambda done, total: None)
