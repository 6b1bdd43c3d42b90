"""Forms offer what there is, explained, and write nothing into the page that could run."""

from typing import Any

from config_admin.editing import pickers
from config_admin.editing.context import EditorContext
from config_admin.editing.fields import FormOption, PickerInput, Unread, WordSelect
from config_admin.editing.pickers import get_code_language, list_suggested_names
from config_admin.validation import settings
from config_admin.validation.columns import list_column_specs
from config_admin.validation.stored_columns import control_plane
from config_admin.validation.world import World
from convengine.engine.threads import settings as session
from convengine.engine.turn import rows
from tests.builders import make_intent, make_rule, make_schema, make_snapshot

WORLD = World(tasks={"bank": ("pay", "refund")}, preferences=lambda: {"model": ["small"], "planner": ["built-in"]})


def make_editor(*all_rows: rows.Row) -> EditorContext:
    return EditorContext(make_snapshot(*all_rows), WORLD)


def values(options: Any, group: str | None = None) -> list[str]:
    return [option.value for option in options if group in (None, option.group)]


def test_enabled_intents_come_first_then_the_others_and_reserved_words_before_all() -> None:
    editor = make_editor(
        make_intent("LATE", priority=9), make_intent("OFF", priority=1, enabled=False), make_intent("SOON", priority=2)
    )

    assert values(pickers.intents("ANY", "UNKNOWN")(editor)) == ["ANY", "UNKNOWN", "SOON", "LATE", "OFF"]
    assert [option.label for option in pickers.intents()(editor)] == ["Soon", "Late", "Off (disabled)"]


def test_states_are_those_that_something_names() -> None:
    editor = make_editor(make_rule(action="SET_STATE", action_value="done"))

    assert {"DONE", "IDLE", "UNKNOWN"} <= set(values(pickers.states()(editor)))
    assert values(pickers.states("ANY", "UNKNOWN")(editor))[:2] == ["ANY", "UNKNOWN"]
    assert values(pickers.states("ANY", "UNKNOWN")(editor)).count("UNKNOWN") == 1


def test_each_action_offers_what_fits_its_value() -> None:
    options = list(pickers.action_values(make_editor(make_intent("LOAN"), make_rule(state_code="OPEN"))))

    assert values(options, "SET_INTENT") == ["LOAN"]
    assert "OPEN" in values(options, "SET_STATE")
    assert values(options, "SET_TASK") == ["bank:pay", "bank:refund"]
    assert "AFFIRM" in values(options, "SET_DIALOGUE_ACT")


def test_names_that_rules_may_write_or_clear_are_offered() -> None:
    writing = make_rule(action="SET_INPUT_PARAM", action_value="vip:true")
    unread = make_rule(action="SET_INPUT_PARAM", action_value="{")
    options = list(pickers.action_values(make_editor(writing, unread, make_schema("LOAN", {"amount": {}}))))

    assert {"vip", "skip_schema_extraction"} <= set(values(options, "SET_INPUT_PARAM"))
    assert values(options, "CLEAR_CONTEXT") == ["amount"]
    assert values(options, "SET_PREFERENCE") == ["model:small", "planner:built-in"]
    assert "dialogue_act_regex" not in values(options, "SET_INPUT_PARAM")


def test_an_action_says_how_its_value_is_written() -> None:
    editors = {option.value: option.editor for option in pickers.rule_actions(make_editor())}

    assert (editors["SET_STATE"], editors["SET_INPUT_PARAM"], editors["SET_JSON"]) == ("state", "params", "path")


def test_every_action_says_what_its_value_is() -> None:
    assert all("Value: " in option.help for option in pickers.rule_actions(make_editor()))


def test_methods_belong_to_their_task() -> None:
    assert [tuple(option)[::3] for option in pickers.methods(make_editor())] == [("pay", "bank"), ("refund", "bank")]


def test_a_setting_says_what_it_means_may_be_and_is() -> None:
    description = settings.describe_setting(session.RESUME_MODE)

    assert "Allowed: new_session, offer_resume. Default: new_session." in description
    assert "RESUME_MODE.<channel>" in description


def test_every_setting_can_be_told() -> None:
    assert all(option.help and option.group for option in pickers.setting_keys(make_editor()))


def test_options_cannot_break_out_of_the_page() -> None:
    nasty = '"><script>alert(1)</script>'
    shown = PickerInput([FormOption(nasty, nasty, nasty, nasty)]).render("x", nasty, {"id": "id_x"})
    chosen = WordSelect([FormOption("A", nasty, nasty)], blank=None).render("x", nasty, {"id": "id_x"})

    assert "<script>" not in shown
    assert "<script>" not in chosen


def test_suggestions_are_tied_to_their_field() -> None:
    shown = PickerInput([FormOption("A", "first", "help", "G")], depends="other").render("x", "A", {"id": "id_x"})

    assert 'list="id_x_options"' in shown
    assert 'data-depends="id_other"' in shown
    assert '<option data-group="G" data-help="help" data-label="first" value="A">first</option>' in shown


def test_a_blank_can_be_chosen_only_where_there_is_one() -> None:
    options = [FormOption("A", "a")]

    assert "Select a value" in WordSelect(options, blank="Select a value").render("x", None)
    assert "Select a value" not in WordSelect(options, blank=None).render("x", "A")


def test_what_cannot_be_read_is_kept_as_typed() -> None:
    from config_admin.editing.fields import IntegerField

    typed = IntegerField().clean("a few")

    assert isinstance(typed, Unread)
    assert typed == "a few"
    assert typed.problem.code == "invalid"


def test_languages_are_of_columns_that_there_are_and_chosen_by_ones_that_there_are() -> None:
    for table in control_plane():
        for spec in list_column_specs(table).values():
            assert str(spec.language).partition(":")[0] in (*list_column_specs(table), "template", "sql", "")
            assert spec.depends_on in (*list_column_specs(table), "")


def test_json_columns_are_json_and_plain_ones_are_no_code() -> None:
    columns = {column.name: column for column in control_plane()["ce_output_schema"]._meta.concrete_fields}

    assert get_code_language(columns["json_schema"]) == "json"
    assert get_code_language(columns["description"]) == ""


def test_names_of_the_configuration_are_completed() -> None:
    rule = make_rule(action="SET_INPUT_PARAM", action_value="vip:true")
    suggested_names = list_suggested_names(
        EditorContext(make_snapshot(rule, make_schema("LOAN", {"amount": {}})), World())
    )

    assert {"schemaComplete", "inputParams", "amount"} <= set(suggested_names["facts"])
    assert suggested_names["context"] == ["amount"]
    assert "vip" in suggested_names["params"]
    assert {"user_input", "amount"} <= set(suggested_names["template"])
