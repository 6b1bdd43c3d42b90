"""Tables as CSV: every value comes back, and no cell is a formula."""

import csv
import io
from typing import Any

import pytest

from config_admin import models as m
from config_admin.transfer import sheets
from config_admin.transfer.apply_import import import_document
from config_admin.transfer.document import MOST_TOLD, FileRefused, ImportMode
from config_admin.transfer.files import CSV, export_configuration, read_bytes
from config_admin.transfer.import_plan import plan_import
from tests.config_admin.builders import make

HEAD = "policy_id,rule_type,pattern,response_text,description"


def write_row(**values: Any) -> list[str]:
    row = {"policy_id": 1, "rule_type": "EXACT", "pattern": "p", "response_text": "r", "priority": 1, "enabled": True}
    contents: dict[str, dict[int, dict[str, Any]]] = {
        "ce_policy": {1: {**row, "description": None, "translations": None, **values}},
        "ce_mcp_tool": {},
    }
    return list(csv.reader(io.StringIO(sheets.write_csv(contents, "ce_policy").decode(), newline="")))[1]


@pytest.mark.parametrize(
    "value",
    [
        *(
            "=1+1",
            "+49",
            "-x",
            "@SUM(A1)",
            "\tx",
            "'quoted'",
            "''",
            "a,b;c\td",
            'say "hi"',
            "one\r\ntwo\n",
            "é 🙂",
            " x ",
        ),
        *("007", "1e3", "true", "", None),
    ],
)
def test_every_text_comes_back_and_none_is_a_formula(value: str | None) -> None:
    policy_id, *_, description, _ = write_row(description=value)
    assert not description.startswith(("=", "+", "-", "@", "\t", "\r"))
    text = io.StringIO()
    csv.writer(text).writerows([["policy_id", "description"], [policy_id, description]])
    [row] = sheets.read_csv("ce_policy.csv", text.getvalue()).tables["ce_policy"]
    assert row.values == {"policy_id": 1, "description": value}


def test_rows_know_their_line_and_blank_ones_are_passed_over() -> None:
    document = read_bytes("CE_POLICY.csv", f'\ufeff{HEAD}\n7,EXACT,x,y,\n\n,EXACT,"a\nb",y,\n'.encode())
    assert [(row.where, row.values.get("policy_id")) for row in document.tables["ce_policy"]] == [
        ("Policies, line 2", 7),
        ("Policies, line 5", None),
    ]
    assert document.mode is ImportMode.UPDATE


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\r\nintent_code;description\r\nX;a, b\r\n",
        "\r\n\r\nintent_code;description;;\r\nX;a, b;;\r\n",
        "intent_code;description\rX;a, b\r",
    ],
    ids=["a line about the delimiter", "blank lines and columns", "lines of old"],
)
def test_what_spreadsheets_leave_around_a_table_is_passed_over(text: str) -> None:
    [row] = sheets.read_csv("ce_intent.csv", text).tables["ce_intent"]
    assert row.values == {"intent_code": "X", "description": "a, b"}


def test_a_text_may_be_longer_than_readers_of_csv_take_by_themselves() -> None:
    [row] = sheets.read_csv("ce_intent.csv", f"intent_code,description\nX,{'d' * 200_000}\n").tables["ce_intent"]
    assert len(row.values["description"]) == 200_000


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_are_read(delimiter: str) -> None:
    text = f"{HEAD}\n7,EXACT,x,y,".replace(",", delimiter)
    [row] = sheets.read_csv("ce_policy.csv", text).tables["ce_policy"]
    assert row.values["pattern"] == "x"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rules.csv", HEAD, "rules: is not a table. Name the file"),
        ("ce_policy.csv", "", "is empty"),
        ("ce_policy.csv", "policy_id,patern", "no column 'patern'. Did you mean pattern"),
        ("ce_policy.csv", "pattern,pattern", "a duplicate column"),
        ("ce_policy.csv", "policy_id\n1,2", "line 2: has 2 cells below 1 column\\."),
        ("ce_policy.csv", "policy_id\nx", "line 2, policy_id: 'x' is not valid. It must be a whole number"),
        ("ce_policy.csv", "enabled\nmaybe", "line 2, enabled: 'maybe' is not valid"),
        ("ce_policy.csv", 'pattern\n"x', "not valid CSV"),
        ("ce_tool.csv", "args_template\n{", "not valid JSON"),
    ],
)
def test_what_does_not_fit_is_named(name: str, text: str, message: str) -> None:
    with pytest.raises(FileRefused, match=message):
        read_bytes(name, text.encode())


def test_all_that_does_not_fit_is_told_at_once_and_of_very_much_the_first() -> None:
    with pytest.raises(FileRefused) as some:
        read_bytes("ce_policy.csv", b"policy_id,enabled\nx,maybe\n1,true\ny,true")
    assert [problem.partition(":")[0] for problem in some.value.describe_problems()] == [
        *("Policies, line 2, policy_id", "Policies, line 2, enabled", "Policies, line 4, policy_id"),
    ]

    with pytest.raises(FileRefused) as many:
        read_bytes("ce_policy.csv", b"policy_id\n" + b"x\n" * (MOST_TOLD + 7))
    assert len(many.value.describe_problems()) == MOST_TOLD + 1
    assert str(many.value).endswith("… and 7 more.")


@pytest.mark.django_db
@pytest.mark.parametrize("model", [m.CeIntent, m.CeRule, m.CeOutputSchema, m.CePromptTemplate, m.CeMcpDbTool])
def test_a_table_that_goes_out_comes_in_as_it_was(model: type[m.ControlPlaneRow]) -> None:
    make(model)
    table = model._meta.db_table
    data = export_configuration(tables=[table], form=CSV)
    assert plan_import(read_bytes(f"{table}.csv", data, mode="replace")).differences == {}


@pytest.mark.django_db
def test_a_spreadsheet_changes_the_rows_that_it_names() -> None:
    make(m.CePolicy, policy_id=7)
    make(m.CePolicy, policy_id=8)
    text = f"{HEAD}\n7,exact,'=x,changed,\n,EXACT,new,new,\n"
    import_document(read_bytes("ce_policy.csv", text.encode()), author="ada", reason="sheet")
    assert list(m.CePolicy.objects.order_by("pk").values_list("pk", "rule_type", "pattern")) == [
        (7, "EXACT", "=x"),
        (8, "CONTAINS", "cvv"),
        (9, "EXACT", "new"),
    ]
