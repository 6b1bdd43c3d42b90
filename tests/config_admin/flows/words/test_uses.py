"""Every use of a word in rows and tests: where it stands, and what may be changed there."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.flows.words.matching import SoughtWord
from config_admin.flows.words.uses import change_texts, list_uses, list_uses_in_tests, plan_removal, plan_replacement
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.validation.stored_columns import control_plane
from convengine.engine.forms.extension_keys import FIELD_KEYS, FORM_KEYS
from tests.config_admin.builders import make
from tests.config_admin.test_cases.builders import make_test

pytestmark = pytest.mark.django_db
BIKE, ALL = SoughtWord("bike"), frozenset(control_plane())
FORM = {
    "type": "object",
    "required": ["bike"],
    "properties": {
        "bike": {
            "type": "string", "title": "Kind of bike", "x-ask": "Which bike? {{ bike }}", "default": "bike",
            "x-options": [{"value": "bike", "label": "A bike", "synonyms": ["bike", "push bike"]}, "bike"],
            "x-order": 1,
        },
    },
}  # fmt: skip
CONDITION = '{"combinator": "and", "rules": [{"field": "vehicle", "operator": "is", "value": "bike"}]}'


@pytest.fixture(autouse=True)
def rows() -> None:
    scope = {"intent_code": "BIKE", "state_code": "ANY"}
    with change_set(reason="a workshop"):
        make(m.CeIntent, intent_code="BIKE", display_name="Bike", description="Mend a bike.")
        make(m.CeIntentClassifier, intent_code="BIKE", rule_type="PHRASE", pattern="mend my bike", description="")
        make(m.CeIntentClassifier, intent_code="BIKE", rule_type="REGEX", pattern=r"\bbike\b", description="")
        make(m.CeOutputSchema, intent_code="BIKE", state_code="COLLECT", json_schema=FORM, description="")
        make(m.CeResponse, **scope, exact_text="Bring your {{ bike }} bike.", description="")
        make(m.CeResponse, **scope, output_format="JSON", exact_text='{"bike": "bike"}', description="")
        make(m.CeRule, **scope, rule_type="CONDITION", match_pattern=CONDITION, description="")
        make(m.CeRule, **scope, action="REFUSE_VALUE", action_value="bike:No bike today.", description="")


def describe_uses(*, is_text: bool) -> list[tuple[str, str, str]]:
    uses = list_uses(snapshots.current(), BIKE, ALL)
    return [(use.location, use.before + use.match + use.after, use.why) for use in uses if use.is_text is is_text]


def test_texts_are_told_from_values_and_names() -> None:
    assert describe_uses(is_text=True) == [
        ("description", "Mend a bike.", ""),
        ("display name", "Bike", ""),
        ("pattern", "mend my bike", ""),
        ("action value", "bike:No bike today.", ""),
        ("name of Kind of bike", "Kind of bike", ""),
        ("question of Kind of bike", "Which bike? {{ bike }}", ""),
        ("label of a choice of Kind of bike", "A bike", ""),
        ("other words of a choice of Kind of bike", "bike", ""),
        ("other words of a choice of Kind of bike", "push bike", ""),
        ("text", "Bring your {{ bike }} bike.", ""),
    ]
    value, computed = "a value or a name", "a name in {{ }}"
    assert set(describe_uses(is_text=False)) >= {
        ("code", "BIKE", value),
        ("pattern", r"\bbike\b", value),
        ("condition", 'vehicle is "bike"', value),
        ("action value", "bike:No bike today.", value),
        ("name of a field of Kind of bike", "bike", value),
        ("required field", "bike", value),
        ("value of a choice of Kind of bike", "bike", value),
        ("question of Kind of bike", "Which bike? {{ bike }}", computed),
        ("text", "Bring your {{ bike }} bike.", computed),
        ("text", '{"bike": "bike"}', value),
    }


def find(planned: Any, model: type[Any], column: str) -> list[Any]:
    return [row[column] for row in planned.get(model._meta.db_table, {}).values()]


def test_another_word_is_written_in_texts_and_in_no_value() -> None:
    planned = plan_replacement(snapshots.current(), BIKE, "bicycle", ALL)

    assert find(planned, m.CeIntent, "display_name") == ["Bicycle"]
    assert find(planned, m.CeIntent, "intent_code") == ["BIKE"]
    assert find(planned, m.CeIntentClassifier, "pattern") == ["mend my bicycle"]
    assert find(planned, m.CeResponse, "exact_text") == ["Bring your {{ bike }} bicycle."]
    assert find(planned, m.CeRule, "action_value") == ["bike:No bicycle today."]
    (form,) = find(planned, m.CeOutputSchema, "json_schema")
    field = form["properties"]["bike"]
    assert (form["required"], field["default"]) == (["bike"], "bike")
    assert (field["title"], field["x-ask"]) == ("Kind of bicycle", "Which bicycle? {{ bike }}")
    option = {"value": "bike", "label": "A bicycle", "synonyms": ["bicycle", "push bicycle"]}
    assert field["x-options"] == [option, "bike"]


def test_taking_it_out_drops_other_words_of_choices_and_leaves_sentences_that_would_have_a_hole() -> None:
    planned = plan_removal(snapshots.current(), BIKE, ALL)

    assert list(planned) == [m.CeOutputSchema._meta.db_table]
    ((form,),) = [find(planned, m.CeOutputSchema, "json_schema")]
    assert form["properties"]["bike"]["x-options"][0]["synonyms"] == ["push bike"]
    holes = {hole for use in list_uses(snapshots.current(), BIKE, ALL) for hole in use.holes}
    assert holes >= {"Bring your {{ bike }} […].", "mend my […]", "push […]", "A […]", "No […] today.", "[…]"}


def test_tests_are_listed_with_one_query() -> None:
    make_test("Mends", {"user": "mend my bike", "expect": {"response": {"contains": "bike"}}})
    make_test("Others", {"user": "bikes"})
    with CaptureQueriesContext(connection) as captured:
        (use,) = list_uses_in_tests(BIKE)

    assert (use.name, use.match, use.times, use.is_text) == ("Mends", "bike", 2, False)
    assert len(captured) == 1


def test_many_rows_cost_as_many_queries_as_few() -> None:
    def count_queries() -> int:
        snapshot = snapshots.current()
        with CaptureQueriesContext(connection) as captured:
            uses = list_uses(snapshot, BIKE, ALL)
            assert not captured.captured_queries
            plan_replacement(snapshot, BIKE, "bicycle", ALL)
        assert len(uses) > 20
        return len(captured)

    few = count_queries()
    with change_set(reason="many"):
        m.CeIntentClassifier.objects.bulk_create(
            m.CeIntentClassifier(intent_code="BIKE", state_code="IDLE", rule_type="PHRASE", pattern=f"bike {number}")
            for number in range(400)
        )
    assert count_queries() == few


def test_every_key_of_a_form_with_a_text_for_people_is_one() -> None:
    of_machines = {"x-locale", "x-after", "x-currency", "x-country"}
    keys = {name for name, schema in (FORM_KEYS | FIELD_KEYS).items() if schema.get("type") == "string"} - of_machines
    form = {"type": "object", "properties": {"ride": {**dict.fromkeys(keys, "A bike"), "x-labels": "bike"}}}

    changed = change_texts("ce_output_schema", {"json_schema": form}, lambda _, text: BIKE.replace(text, "car"))

    assert set(changed["json_schema"]["properties"]["ride"].values()) == {"A car", "car"}
