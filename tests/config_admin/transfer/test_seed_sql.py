"""Seed SQL of the original comes in with a report, and nothing of it is ever run."""

import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.transfer import seed_sql
from config_admin.transfer.apply_import import ImportResult, import_document
from config_admin.transfer.document import Document, FileRefused, Mode
from config_admin.transfer.files import read_file
from config_admin.transfer.import_plan import plan_import
from tests.config_admin.builders import make
from tests.config_admin.transfer.conftest import delete_all_rows

SEED = Path(__file__).parent / "seed.sql"


def read(text: str) -> tuple[Document, list[str]]:
    """What was read, and what was refused."""
    document = seed_sql.read_seed_sql(text)
    return document, [f"{note.where}: {note.text}" for note in document.notes if note.refused]


def values(text: str, table: str = "ce_policy") -> dict[str, object]:
    document, refused = read(text)
    assert refused == []
    [row] = document.tables[table]
    return dict(row.values)


@pytest.fixture
def imported(db: None) -> ImportResult:
    delete_all_rows()
    return import_document(read_file(SEED, blank_as_any=True), author="ada", reason="their desk", rest=True)


def test_it_has_forty_statements_over_ten_tables() -> None:
    inserted = re.findall(r"INSERT INTO (?:public\.)?(\w+)", SEED.read_text())
    assert len(inserted) >= 40
    assert len(set(inserted)) >= 10


def test_a_file_of_seeds_comes_in_and_says_what_does_not(imported: ImportResult) -> None:
    assert imported.release
    problems = [
        (error.where, error.finding.field, error.finding.code, error.finding.message)
        for error in imported.plan.left_out
    ]
    codes = {(where.split(" (")[-1].rstrip(")"), field, code) for where, field, code, _ in problems if field}
    assert codes == {
        ("Phrases", "pattern", "REGEX_UNSUPPORTED"),
        ("Prompt templates", "response_type", "RESPONSE_TYPE_PROMPT"),
        ("Rules", "match_pattern", "REGEX_UNSUPPORTED"),
        ("Rules", "action", "ACTION"),
    }
    refused = [message for _, _, code, message in problems if code == "STATEMENT_REFUSED"]
    assert [re.split(r"[:(]", text)[0] for text in refused] == [
        "json_schema",
        "SELECT setval",
        "UPDATE ce_intent SET enabled = false",
        "ce_conversation is not a table of the configuration.",
        "ce_semantic_concept belongs to semantic queries, which this installation does not support.",
    ]
    assert m.CeIntent.objects.filter(enabled=True).count() == 5


def test_words_and_values_are_said_as_they_are_here(imported: ImportResult) -> None:
    assert list(m.CeRule.objects.order_by("pk").values_list("pk", "phase", "enabled")) == [
        (101, "PRE_RESPONSE_RESOLUTION", True),
        (102, "POST_AGENT_INTENT", True),
        (103, "POST_CLASSIFIER_INTENT", True),
        (104, "PRE_RESPONSE_RESOLUTION", True),
    ]
    classifier = m.CeIntentClassifier.objects.get(intent_code="PARCEL_REDIRECT")
    assert (classifier.rule_type, classifier.pattern) == ("REGEX", r"\b(redirect|send)\b.*\belsewhere\b")
    assert set(m.CeMcpTool.objects.values_list("tool_code", "tool_group")) == {
        ("parcel.find", "DB"),
        ("parcel.carrier", "HTTP_API"),
    }
    assert m.CeMcpDbTool.objects.get().tool.tool_code == "parcel.find"
    assert m.CeOutputSchema.objects.get(intent_code="PARCEL_REFUND").state_code == "ANY"
    assert m.CePromptTemplate.objects.get(response_type="TEXT").system_prompt == "Say where it's at."
    template = m.CePromptTemplate.objects.get(intent_code="PARCEL_REFUND")
    assert (template.user_prompt, str(template.created_at)) == ("Text: {{ user_input }}", "2025-03-01 09:30:00+00:00")
    assert m.CeMcpPlanner.objects.get().user_prompt == "Tools: {{mcp_tools}}\nText: {{user_input}}"
    answer = m.CeResponse.objects.get(intent_code="PARCEL_REFUND")
    assert (answer.exact_text, answer.state_code) == ("We pay the postage back in three days.", "ANY")
    assert m.CeVerbose.objects.get(rule_id=101).message == "Got everything."
    assert m.CePolicy.objects.get(pattern=r"\b(iban|pin)\b").priority == 10

    notes = [note.text for note in imported.plan.document.notes if not note.refused]
    for text in (
        "phase: 'AGENT_POST_INTENT' is read as 'POST_AGENT_INTENT'.",
        "tool_group: 'MCP_DB' is read as 'DB'.",
        "rule_type: 'regex' is read as 'REGEX'.",
        "enabled: '1' is read as True.",
        "The column output_format is read as response_type.",
        "3 rows with an empty intent or state are read as ANY.",
        "BEGIN contains no rows.",
    ):
        assert text in notes
    assert len(imported.plan.placed.conversions) == 3


def test_the_same_file_once_more_changes_nothing(imported: ImportResult) -> None:
    plan = plan_import(read_file(SEED, blank_as_any=True), rest=True)
    assert {table: [row.pk for row in rows] for table, rows in plan.differences.items()} == {}


@pytest.mark.django_db
def test_without_the_option_blank_scopes_are_refused_by_line() -> None:
    plan = plan_import(read_file(SEED))
    blank = [error for error in plan.errors if error.finding.code == "SCOPE_BLANK"]
    assert [error.finding.field for error in blank] == ["state_code"] * 3
    assert all(error.where.startswith("line ") for error in blank)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("DROP TABLE ce_rule", "only INSERT is supported"),
        ("DELETE FROM ce_rule", "only INSERT is supported"),
        ("TRUNCATE ce_rule", "only INSERT is supported"),
        ("COPY ce_rule FROM PROGRAM 'id'", "only INSERT is supported"),
        ("DO $$ BEGIN PERFORM 1; END $$", "only INSERT is supported"),
        ("CREATE FUNCTION f() RETURNS int AS 'select 1' LANGUAGE sql", "only INSERT is supported"),
        ("\\! id", "only INSERT is supported"),
        ("SET ROLE postgres", "only INSERT is supported"),
        ("WITH x AS (DELETE FROM ce_rule RETURNING *) INSERT INTO ce_policy (pattern) VALUES ('x')", "only INSERT"),
        ("INSERT INTO ce_policy (pattern) SELECT pattern FROM ce_policy", "only VALUES"),
        ("INSERT INTO ce_policy (pattern) VALUES ((SELECT 1))", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES (pg_read_file('/etc/passwd'))", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES ('a' || chr(10))", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES (\"a\")", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES (:name)", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES (nextval('x')::text)", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES ('a') RETURNING policy_id", "more than rows: returning"),
        ("INSERT INTO ce_policy (pattern) VALUES ('a') ON CONFLICT DO UPDATE SET pattern = 1", "DO NOTHING"),
        ("INSERT INTO ce_policy VALUES ('a')", "the column names are missing"),
        ("INSERT INTO ce_policy DEFAULT VALUES", "more than rows"),
        ("INSERT INTO ce_policy AS p (pattern) VALUES ('a')", "alias"),
        ("INSERT INTO ce_policy (pattern, pattern) VALUES ('a', 'b')", "twice"),
        ("INSERT INTO ce_policy (pattern, priority) VALUES ('a')", "do not match|not valid SQL"),
        ("INSERT INTO ce_policy (pattern) VALUES " + "(" * 5000 + "1" + ")" * 5000, "too deep"),
        ("INSERT INTO auth_user (username, is_superuser) VALUES ('eve', true)", "auth_user is not a table of"),
        ("INSERT INTO ce_rules (rule_id) VALUES (1)", "Did you mean ce_rule"),
        ("INSERT INTO ce_policy (patern) VALUES ('a')", "no column patern. Did you mean pattern"),
        ("INSERT INTO ce_policy (enabled) VALUES ('maybe')", "enabled: 'maybe' is not valid"),
        ("INSERT INTO ce_policy (priority) VALUES ('ten')", "priority: 'ten' is not valid"),
        ("INSERT INTO ce_policy (pattern) VALUES (now())", "now.. is not allowed"),
        ("INSERT INTO ce_mcp_db_tool (tool_id, sql_template) VALUES (9, 'SELECT 1')", "Use tool_code"),
    ],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_whatever_is_more_than_rows_is_refused_by_line(text: str, problem: str) -> None:
    document, refused = read(f"-- a comment\n{text};")
    assert document.count == 0
    assert refused
    assert all(line.startswith("line 2") for line in refused)
    assert re.search(problem, refused[0])


@pytest.mark.django_db
def test_nothing_of_a_file_reaches_the_database_as_a_statement() -> None:
    make(m.CePolicy, policy_id=3, pattern="stays")
    hidden = "x''); DROP TABLE ce_policy; --"
    text = f"INSERT INTO ce_policy (rule_type, pattern, response_text) VALUES ('EXACT', '{hidden}', 'y')"
    with CaptureQueriesContext(connection) as queries:
        document = seed_sql.read_seed_sql(f"{text}; DELETE FROM ce_policy WHERE pattern = 'stays';")
        import_document(document, author="ada", reason="r", rest=True)
    assert set(m.CePolicy.objects.values_list("pattern", flat=True)) == {"stays", "x'); DROP TABLE ce_policy; --"}
    assert not [query for query in queries if re.match(r"\s*(DROP|INSERT INTO ce_policy )", query["sql"])]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'it''s'", "it's"),
        (r"'\d'", r"\d"),
        (r"E'\\d\tx'", "\\d\tx"),
        ("$$a'b$$", "a'b"),
        ("$x$a$$b$x$", "a$$b"),
        ("'a'\n'b'", "ab"),
        ("'a'::text", "a"),
        ("CAST('a' AS varchar(5))", "a"),
        ("5", "5"),
        ("-1.50", "-1.50"),
        ("true", "true"),
        ("NULL", None),
    ],
)
def test_literals_are_what_the_database_would_make_of_them(literal: str, value: object) -> None:
    assert values(f"INSERT INTO ce_policy (pattern) VALUES ({literal})") == {"pattern": value}


def test_rows_know_their_line_and_number() -> None:
    document, _ = read(
        "\nINSERT INTO ce_policy (pattern) VALUES ('a');\n\nINSERT INTO ce_policy (pattern) VALUES\n('b'),\n('c');"
    )
    assert [row.where for row in document.tables["ce_policy"]] == [
        "line 2 (Policies)",
        "line 4, row 1 (Policies)",
        "line 4, row 2 (Policies)",
    ]
    assert document.mode is Mode.ADD


def test_texts_that_never_end_are_refused() -> None:
    with pytest.raises(FileRefused, match="not valid SQL"):
        seed_sql.read_seed_sql("INSERT INTO ce_policy (pattern) VALUES ('a);")


@pytest.mark.parametrize("value", [f"{'(' * 20_000}1{')' * 20_000}", f"1{'::int' * 5000}"])
def test_values_that_stand_too_deep_are_refused_by_their_line(value: str) -> None:
    _, [refused] = read(f"INSERT INTO ce_policy (policy_id) VALUES ({value});")
    assert "nested too deeply" in refused
