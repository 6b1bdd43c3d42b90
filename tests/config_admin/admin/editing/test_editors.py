from config_admin.admin.desk import Desk
from config_admin.admin.editing.editors import LANGUAGES, language_of, names
from config_admin.releases.content import control_plane
from config_admin.validation.world import World
from convengine.domain import rows
from tests.builders import make_rule, make_schema, make_snapshot


def test_languages_are_of_columns_that_there_are_and_chosen_by_ones_that_there_are() -> None:
    for (table, column), language in LANGUAGES.items():
        known = rows.columns(rows.ROW_TYPE_OF[table])
        assert column in known
        assert language.partition(":")[0] in (*known, "template", "sql")


def test_json_columns_are_json_and_plain_ones_are_no_code() -> None:
    columns = {column.name: column for column in control_plane()["ce_output_schema"]._meta.concrete_fields}

    assert language_of("ce_output_schema", columns["json_schema"]) == "json"
    assert language_of("ce_output_schema", columns["description"]) is None


def test_names_of_the_configuration_are_completed() -> None:
    rule = make_rule(action="SET_INPUT_PARAM", action_value="vip:true")
    found = names(Desk(make_snapshot(rule, make_schema("LOAN", {"amount": {}})), World()))

    assert {"schemaComplete", "inputParams", "amount"} <= set(found["facts"])
    assert found["context"] == ["amount"]
    assert "vip" in found["params"]
    assert {"user_input", "amount"} <= set(found["template"])
