"""Seed SQL of the original comes in with a report, and nothing of it is ever run."""

import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.contrib.original import seed_sql
from config_admin.transfer.apply_import import ImportResult, import_document
from config_admin.transfer.document import Document, FileRefused, ImportMode
from config_admin.transfer.files import read_bytes, read_file
from config_admin.transfer.import_plan import plan_import
from tests.config_admin.builders import make
from tests.config_admin.transfer.conftest import delete_all_rows

SEED = Path(__file__).parent / "seed.sql"


def read(text: str) -> tuple[Document, list[str]]:
    """What was read, and what was refused."""
    document = seed_sql.read_statements(text)
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
        "UPDATE ce_intent SET enabled = false",
        "ce_conversation is not a table of the configuration.",
        "ce_semantic_concept belongs to semantic queries, which this installation does not support.",
    ]
    assert m.CeIntent.objects.filter(enabled=True).count() == 5


def test_words_and_values_are_said_as_they_are_here(imported: ImportResult) -> None:
    numbered = m.CeRule.objects.filter(pk__in=(101, 102, 103))
    assert list(numbered.order_by("pk").values_list("pk", "phase", "enabled")) == [
        (101, "PRE_RESPONSE_RESOLUTION", True),
        (102, "POST_AGENT_INTENT", True),
        (103, "POST_CLASSIFIER_INTENT", True),
    ]
    assert [rule.phase for rule in m.CeRule.objects.difference(numbered)] == ["PRE_RESPONSE_RESOLUTION"]
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
        ("UPDATE ce_rule SET enabled = false", "only INSERT is supported"),
        ("COPY ce_rule FROM PROGRAM 'id'", "only INSERT is supported"),
        ("DO $$ BEGIN PERFORM 1; END $$", "only INSERT is supported"),
        ("CREATE FUNCTION f() RETURNS int AS 'select 1' LANGUAGE sql", "only INSERT is supported"),
        ("\\! id", "only INSERT is supported"),
        ("WITH x AS (DELETE FROM ce_rule RETURNING *) INSERT INTO ce_policy (pattern) VALUES ('x')", "only INSERT"),
        ("INSERT INTO ce_policy (pattern) SELECT pattern FROM ce_policy", "only VALUES"),
        ("INSERT INTO ce_policy (pattern) VALUES ((SELECT 1))", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES (pg_read_file('/etc/passwd'))", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES ('a' || pg_read_file('b'))", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES ('a' || pattern)", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) SELECT 'a' FROM ce_policy WHERE NOT EXISTS (SELECT 1)", "only VALUES"),
        ("INSERT INTO ce_policy (pattern) SELECT 'a' WHERE pg_sleep(9) IS NULL", "only VALUES"),
        ("INSERT INTO ce_policy (pattern) VALUES (\"a\")", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES (:name)", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES (nextval('x')::text)", "pattern: .* is not a plain value"),
        ("INSERT INTO ce_policy (pattern) VALUES ('a') RETURNING policy_id", "more than rows: returning"),
        ("INSERT INTO ce_policy (pattern) VALUES ('a') ON CONFLICT DO UPDATE SET pattern = 1", "EXCLUDED"),
        ("INSERT INTO ce_policy (policy_id, pattern) VALUES (1, 'a') ON CONFLICT (policy_id) DO UPDATE "
         "SET pattern = EXCLUDED.pattern || 'x'", "EXCLUDED"),
        ("INSERT INTO ce_policy (pattern) VALUES ('a') ON DUPLICATE KEY UPDATE pattern = 'b'", "x = VALUES"),
        ("INSERT INTO ce_policy VALUES ('a')", "the column names are missing"),
        ("INSERT INTO ce_policy DEFAULT VALUES", "more than rows"),
        ("INSERT INTO ce_policy AS p (pattern) VALUES ('a')", "alias"),
        ("INSERT INTO ce_policy (pattern, pattern) VALUES ('a', 'b')", "twice"),
        ("INSERT INTO ce_policy (pattern, priority) VALUES ('a')", "do not match|not valid SQL"),
        ("INSERT INTO ce_policy (pattern) VALUES " + "(" * 5000 + "1" + ")" * 5000, "too deep"),
        ("INSERT INTO auth_user (username, is_superuser) VALUES ('eve', true)", "auth_user is not a table of"),
        ("INSERT INTO ce_rules (rule_id) VALUES (1)", "Did you mean ce_rule"),
        ("INSERT INTO ce_policy (patern) VALUES ('a')", "no column patern. Did you mean pattern"),
        ("INSERT INTO ce_response (response_text) VALUES ('a')", "Did you mean exact_text"),
        ("INSERT INTO ce_output_schema (schema_json) VALUES ('{}')", "Did you mean json_schema"),
        ("INSERT INTO ce_agent_tools (tool_code) VALUES ('a')", "Did you mean ce_mcp_tool"),
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
        document = seed_sql.read_statements(f"{text}; DELETE FROM ce_policy WHERE pattern = 'stays';")
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
        ("'a' || 'b' || E'\\n' || 5", "ab\n5"),
        ("'a' || CHR(10) || 'b'", "a\nb"),
        ("'a' || NULL", None),
        ("CONCAT('a', 'b')", "ab"),
        ("CONCAT('a', NULL)", "a"),
        ("TO_CLOB('a') || TO_CLOB('b')", "ab"),
    ],
)
def test_literals_are_what_the_database_would_make_of_them(literal: str, value: object) -> None:
    assert values(f"INSERT INTO ce_policy (pattern) VALUES ({literal})") == {"pattern": value}


def test_what_a_database_would_make_something_else_of_is_refused() -> None:
    for source in (f"VALUES (CHR({'9' * 5000}))", "SELECT 'a' UNION ALL SELECT 'b' LIMIT 1"):
        document, refused = read(f"INSERT INTO ce_policy (pattern) {source}")
        assert (document.tables, len(refused)) == ({}, 1)


def test_rows_know_their_line_and_number() -> None:
    document, _ = read(
        "\nINSERT INTO ce_policy (pattern) VALUES ('a');\n\nINSERT INTO ce_policy (pattern) VALUES\n('b'),\n('c');"
    )
    assert [row.where for row in document.tables["ce_policy"]] == [
        "line 2 (Policies)",
        "line 4, row 1 (Policies)",
        "line 4, row 2 (Policies)",
    ]
    assert document.mode is ImportMode.ADD


def test_texts_that_never_end_are_refused() -> None:
    with pytest.raises(FileRefused, match="not valid SQL"):
        seed_sql.read_statements("INSERT INTO ce_policy (pattern) VALUES ('a);")


@pytest.mark.parametrize("value", [f"{'(' * 20_000}1{')' * 20_000}", f"1{'::int' * 5000}"])
def test_values_that_stand_too_deep_are_refused_by_their_line(value: str) -> None:
    _, [refused] = read(f"INSERT INTO ce_policy (policy_id) VALUES ({value});")
    assert "nested too deeply" in refused


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("INSERT", "ON CONFLICT (intent_code) DO UPDATE SET description = EXCLUDED.description, updated_at = now()"),
        ("INSERT OR REPLACE", ""),
        ("REPLACE", ""),
        ("INSERT", "ON DUPLICATE KEY UPDATE description = VALUES(description)"),
    ],
)
@pytest.mark.django_db
def test_upserts_are_rows(start: str, end: str) -> None:
    make(m.CeIntent, intent_code="PARCEL_STATUS", description="Older words.")
    text = f"{start} INTO ce_intent (intent_code, description) VALUES ('PARCEL_STATUS', 'Asks for a parcel.') {end};"
    document, refused = read(text)
    import_document(document, author="ada", reason="r")
    assert refused == []
    assert m.CeIntent.objects.get(pk="PARCEL_STATUS").description == "Asks for a parcel."
    assert "upsert" in document.notes[0].text


@pytest.mark.parametrize("query", ["SELECT 'CONTAINS', 'glue'", "SELECT 'CONTAINS' AS rule_type, 'glue' FROM dual"])
def test_queries_of_literals_are_rows(query: str) -> None:
    missing = "WHERE NOT EXISTS (SELECT 1 FROM ce_policy WHERE pattern = 'glue')"
    assert values(f"INSERT INTO ce_policy (rule_type, pattern) {query} {missing}") == {
        "rule_type": "CONTAINS",
        "pattern": "glue",
    }


def test_the_next_id_of_the_table_itself_is_a_new_id() -> None:
    query = "SELECT COALESCE(MAX(policy_id), 0) + 1, 'glue', CURRENT_TIMESTAMP FROM ce_policy"
    assert values(f"INSERT OR IGNORE INTO ce_policy (policy_id, pattern, created_at) {query}") == {"pattern": "glue"}
    _, [refused] = read("INSERT INTO ce_policy (pattern) SELECT MAX(pattern) FROM ce_policy")
    assert "is not a plain value" in refused


def test_one_unreadable_value_refuses_its_row_only() -> None:
    document, [refused] = read(
        "INSERT INTO ce_policy (rule_type, pattern) VALUES ('EXACT', 'a'), ('EXACT', upper('b')), ('EXACT', 'c');"
    )
    assert [row.values["pattern"] for row in document.tables["ce_policy"]] == ["a", "c"]
    assert refused == "line 1, row 2 (Policies): pattern: UPPER('b') is not a plain value."


@pytest.mark.django_db
def test_scope_columns_that_an_insert_leaves_out_are_blank() -> None:
    make(m.CeIntent, intent_code="LOAN")
    text = b"INSERT INTO ce_response (intent_code, exact_text, output_format, response_type)"
    text += b"VALUES ('LOAN', 'Hello.', 'TEXT', 'EXACT');"
    assert [error.finding.code for error in plan_import(read_bytes("x.sql", text)).errors] == ["SCOPE_BLANK"]
    import_document(read_bytes("x.sql", text, blank_as_any=True), author="ada", reason="r")
    assert m.CeResponse.objects.get(exact_text="Hello.").state_code == "ANY"


@pytest.mark.django_db
def test_two_backslashes_become_one_on_demand() -> None:
    text = rb"INSERT INTO ce_policy (rule_type, pattern, response_text) VALUES ('REGEX', '\\bglue\\b', 'a\\b');"
    assert [error.finding.code for error in plan_import(read_bytes("x.sql", text)).errors] == ["POLICY_NEVER_MATCHES"]
    document = read_bytes("x.sql", text, undouble_backslashes=True)
    import_document(document, author="ada", reason="r")
    row = m.CePolicy.objects.get()
    assert (row.pattern, row.response_text) == (r"\bglue\b", r"a\\b")
    assert document.notes[-1].text == "Two backslashes are read as one in the patterns of 1 row."


@pytest.mark.parametrize(
    "text",
    [
        "SET search_path TO depot, public",
        "DELETE FROM ce_policy WHERE pattern = 'a'",
        "TRUNCATE TABLE ce_policy RESTART IDENTITY CASCADE",
        "PRAGMA foreign_keys = ON",
        "SELECT pg_catalog.setval('ce_rule_rule_id_seq', 60, true)",
        "LOCK TABLES `ce_policy` WRITE",
    ],
)
def test_statements_before_the_rows_are_skipped_with_a_note(text: str) -> None:
    document, refused = read(f"{text}; INSERT INTO ce_policy (pattern) VALUES ('a');")
    assert refused == []
    assert document.count == 1
    assert len(document.notes) == 1


@pytest.mark.parametrize("text", ["DELETE FROM ce_policy WHERE pattern = 'a'", "TRUNCATE ce_policy"])
def test_statements_that_empty_a_table_after_its_rows_are_refused(text: str) -> None:
    document, [refused] = read(f"INSERT INTO ce_policy (pattern) VALUES ('a'); {text};")
    assert document.count == 1
    assert "is not supported after rows of the same table" in refused


def test_newer_names_of_the_original_are_known() -> None:
    document, refused = read(
        """
        INSERT INTO ce_agent_tool (tool_id, tool_code, tool_group) VALUES (3, 'depot.find', 'DB');
        INSERT INTO ce_agent_db_tool (tool_id, sql_template) VALUES (3, 'SELECT 1');
        INSERT INTO ce_agent_db_tool (tool_id, sql_template)
            SELECT tool_id, 'SELECT 2' FROM ce_agent_tool WHERE tool_code = 'depot.list';
        INSERT INTO ce_agent_db_tool (tool_id, sql_template)
            VALUES ((SELECT tool_id FROM ce_agent_tool WHERE tool_code = 'depot.move'), 'SELECT 3');
        INSERT INTO ce_agent_planner (user_prompt) VALUES ('{{agent_tools}} {{context.agent.finalAnswer}} agent');
        INSERT INTO ce_config (config_type, config_key) VALUES ('AgentPlanner', 'SYSTEM_PROMPT');
        INSERT INTO ce_config (config_type, config_key) VALUES ('AgentToolStep', 'AGENT_TOOL_MAX_LOOPS');
        INSERT INTO ce_verbose (step_value, determinant) VALUES ('AgentToolStep', 'AGENT_TOOL_CALL');
        INSERT INTO ce_rule (phase, rule_type, match_pattern)
            VALUES ('POST_AGENT_TOOL', 'CONTEXT_JSON_PATH', '$.agent.x');
        INSERT INTO ce_rule (phase, rule_type, match_pattern)
            VALUES ('POST_RESPONSE_RESOLUTION', 'JSONPATH', '$[?(@.context.agent.finalAnswer)]');
        INSERT INTO ce_mcp_server (id, name, args) VALUES ('s1', 'Depot', '["serve"]'::jsonb);
        """
    )
    rows = {table: [dict(row.values) for row in given] for table, given in document.tables.items()}
    assert refused == []
    assert [row["tool_code"] for row in rows["ce_mcp_db_tool"]] == ["depot.find", "depot.list", "depot.move"]
    assert rows["ce_mcp_planner"][0]["user_prompt"] == "{{mcp_tools}} {{context.mcp.finalAnswer}} agent"
    assert [(row["config_type"], row["config_key"]) for row in rows["ce_config"]] == [
        ("McpPlanner", "SYSTEM_PROMPT"),
        ("McpToolStep", "MCP_TOOL_MAX_LOOPS"),
    ]
    assert (rows["ce_verbose"][0]["step_value"], rows["ce_verbose"][0]["determinant"]) == (
        "McpToolStep",
        "MCP_TOOL_CALL",
    )
    first, second = rows["ce_rule"]
    assert (first["phase"], first["match_pattern"]) == ("POST_AGENT_MCP", "$.mcp.x")
    assert (second["phase"], second["rule_type"], second["enabled"]) == ("PRE_RESPONSE_RESOLUTION", "JSON_PATH", False)
    assert second["match_pattern"] == "$[?(@.context.mcp.finalAnswer)]"
    assert rows["ce_mcp_server"] == [{"name": "Depot", "args_json": ["serve"]}]
    assert any("Rules after the answer do not exist here" in note.text for note in document.notes)


def test_names_in_backticks_are_read_as_mysql_does() -> None:
    document, refused = read(
        "INSERT IGNORE INTO `ce_intent` (`intent_code`, `description`, `enabled`)"
        " VALUES ('A', 'Ann\\'s \"tick\"', b'1');"
        "INSERT INTO `ce_policy` (`pattern`) VALUES (CONCAT('a', NULL))"
        " ON DUPLICATE KEY UPDATE `pattern` = VALUES(`pattern`);"
        "REPLACE INTO `ce_policy` (`pattern`) VALUES ('c');"
    )

    assert refused == []
    assert document.tables["ce_intent"][0].values == {
        "intent_code": "A",
        "description": 'Ann\'s "tick"',
        "enabled": True,
    }
    assert [row.values["pattern"] for row in document.tables["ce_policy"]] == [None, "c"]
    assert [row.is_upsert for row in document.tables["ce_policy"]] == [True, True]


def test_one_list_of_identifiers_is_that_of_each_name_of_the_template() -> None:
    document, refused = read(
        "INSERT INTO ce_mcp_tool (tool_id, tool_code, tool_group) VALUES (9, 'rows', 'DB');"
        "INSERT INTO ce_mcp_db_tool (tool_id, dialect, sql_template, allowed_identifiers) VALUES"
        " (9, 'POSTGRES', 'SELECT * FROM ${first} JOIN ${second}', '[\"shop\", \"orders\"]'::jsonb)"
    )
    [row] = document.tables["ce_mcp_db_tool"]

    assert refused == []
    assert row.values["allowed_identifiers"] == {"first": ["shop", "orders"], "second": ["shop", "orders"]}
    assert "the list is read as that of first, second" in document.notes[-1].text


def test_names_in_braces_in_the_sql_of_a_tool_are_identifiers() -> None:
    document, refused = read(
        "INSERT INTO ce_mcp_tool (tool_id, tool_code, tool_group) VALUES (9, 'rows', 'DB');"
        "INSERT INTO ce_mcp_db_tool (tool_id, dialect, sql_template, allowed_identifiers) VALUES"
        " (9, 'POSTGRES', 'SELECT * FROM {{ shelf }} LIMIT :limit', '[\"shop\"]')"
    )
    [row] = document.tables["ce_mcp_db_tool"]

    assert refused == []
    assert row.values["sql_template"] == "SELECT * FROM ${shelf} LIMIT :limit"
    assert row.values["allowed_identifiers"] == {"shelf": ["shop"]}
    assert any("read as ${name}" in note.text for note in document.notes)


def test_a_table_is_suggested_only_if_its_name_is_close() -> None:
    _, [close] = read("INSERT INTO ce_mcp_tools (tool_code) VALUES ('a')")
    _, [far] = read("INSERT INTO ce_mcp_api_flow (api_code) VALUES ('a')")
    assert close.endswith("Did you mean ce_mcp_tool?")
    assert far.endswith("ce_mcp_api_flow is not a table of the configuration.")


@pytest.mark.django_db
def test_patterns_of_settings_lose_doubled_backslashes_too() -> None:
    text = rb"INSERT INTO ce_config (config_type, config_key, config_value)"
    text += rb" VALUES ('DialogueActStep', 'REGEX_EDIT', '(\\s)*edit'), ('DialogueActStep', 'USER_PROMPT', 'a\\b'),"
    text += rb" ('Audit', 'REDACT_PATTERNS', '\\d{16}');"
    document = read_bytes("x.sql", text, undouble_backslashes=True)
    shown = [row.values["config_value"] for row in document.tables["ce_config"]]
    assert shown == [r"(\s)*edit", r"a\\b", r"\d{16}"]


def test_the_options_keep_what_an_upsert_is() -> None:
    text = rb"INSERT INTO ce_rule (rule_id, intent_code, match_pattern, rule_type) VALUES (1, NULL, '\\bsend', 'REGEX')"
    text += rb" ON CONFLICT (rule_id) DO UPDATE SET match_pattern = EXCLUDED.match_pattern"
    document = read_bytes("x.sql", text, blank_as_any=True, undouble_backslashes=True)
    [row] = document.tables["ce_rule"]
    assert (row.values["intent_code"], row.values["match_pattern"], row.is_upsert) == ("ANY", r"\bsend", True)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("INSERT INTO", "ON CONFLICT (rule_id) DO UPDATE SET action_value = EXCLUDED.action_value"),
        ("REPLACE INTO", ""),
    ],
)
@pytest.mark.django_db
def test_an_upsert_with_an_id_changes_the_row_that_it_made(start: str, end: str) -> None:
    make(m.CeIntent, intent_code="PARCEL")
    make(m.CeIntent, intent_code="OTHER")
    columns = "rule_id, phase, intent_code, state_code, rule_type, match_pattern, action, action_value"
    fixed = "'PRE_RESPONSE_RESOLUTION', '{}', 'ANY', 'EXACT', 'ANY', 'SET_STATE', '{}'"

    def load(intent: str, state: str) -> None:
        values = fixed.format(intent, state)
        document, refused = read(f"{start} ce_rule ({columns}) VALUES (60, {values}) {end}")
        assert refused == []
        import_document(document, author="ada", reason="r")

    load("PARCEL", "FIRST")
    load("PARCEL", "EDITED")
    assert [(row.pk, row.action_value) for row in m.CeRule.objects.all()] == [(60, "EDITED")]

    # The id of another intent's rule is taken by chance.
    load("OTHER", "FIRST")
    assert m.CeRule.objects.get(pk=60).intent_code == "PARCEL"
    assert m.CeRule.objects.count() == 2
