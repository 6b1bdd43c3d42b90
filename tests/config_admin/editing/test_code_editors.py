from config_admin.editing.code_editors import language_of, names
from config_admin.editing.context import EditorContext
from config_admin.releases.content import control_plane
from config_admin.validation.columns import list_column_specs
from config_admin.validation.world import World
from tests.builders import make_rule, make_schema, make_snapshot


def test_languages_are_of_columns_that_there_are_and_chosen_by_ones_that_there_are() -> None:
    for table in control_plane():
        for spec in list_column_specs(table).values():
            assert str(spec.language).partition(":")[0] in (*list_column_specs(table), "template", "sql", "")
            assert spec.depends_on in (*list_column_specs(table), "")


def test_json_columns_are_json_and_plain_ones_are_no_code() -> None:
    columns = {column.name: column for column in control_plane()["ce_output_schema"]._meta.concrete_fields}

    assert language_of(columns["json_schema"]) == "json"
    assert language_of(columns["description"]) == ""


def test_names_of_the_configuration_are_completed() -> None:
    rule = make_rule(action="SET_INPUT_PARAM", action_value="vip:true")
    found = names(EditorContext(make_snapshot(rule, make_schema("LOAN", {"amount": {}})), World()))

    assert {"schemaComplete", "inputParams", "amount"} <= set(found["facts"])
    assert found["context"] == ["amount"]
    assert "vip" in found["params"]
    assert {"user_input", "amount"} <= set(found["template"])
