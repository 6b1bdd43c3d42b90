"""Analysts import what they may change row by row: what a form refuses them, no file does for them."""

import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from openpyxl import load_workbook

from config_admin import models as m
from config_admin.drafts.middleware import KEY
from config_admin.editing import reasons
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.transfer import apply_import, files
from config_admin.transfer.document import Document, locate_rows
from config_admin.transfer.files import export_configuration
from config_admin.transfer.natural_keys import list_file_columns
from config_admin.transfer.row_matching import fresh_ids
from config_admin.validation.stored_columns import control_plane
from convengine.server.api.models import CeApiKey
from convengine.server.webhooks.models import CeWebhook
from tests.config_admin.admin.pages import address, newest
from tests.config_admin.builders import SCHEMA, make
from tests.config_admin.transfer.test_page import page

pytestmark = pytest.mark.django_db
Tables = dict[str, list[dict[str, Any]]]
FALLBACK = {"intent_code": "UNKNOWN", "state_code": "UNKNOWN", "response_type": "EXACT", "exact_text": "Sorry?"}
MODE = {"config_type": "Releases", "config_key": "MODE", "config_value": "LIVE"}
SERVER = {"name": "files", "transport": "STDIO", "command": "serve"}


@pytest.fixture
def desk(db: None) -> None:
    """Rows that analysts may change, and rows that they may not."""
    with change_set(reason="a desk"):
        make(m.CeIntent)
        make(m.CePolicy, policy_id=7)
        m.CeResponse.objects.all().delete()
        make(m.CeResponse, response_id=70, **FALLBACK)
        make(m.CeOutputSchema, schema_id=50)
        make(m.CePromptTemplate, template_id=60)
        make(m.CeConfig, **MODE)
        make(m.CeConfig, config_type="LLM", config_key="MAX_MS_PER_TURN", config_value="30000")
        make(m.CeMcpServer)


def preview(client: Client, tables: Tables | bytes, name: str = "rows.json", **more: Any) -> Any:
    data = tables if isinstance(tables, bytes) else json.dumps({"tables": tables}).encode()
    return client.post(page(), {"file": SimpleUploadedFile(name, data), **more})


def confirm(client: Client, shown: Any, **more: Any) -> Any:
    """What the page sends that shows a plan; whether it offers that or not."""
    plan = shown.context["plan"]
    sent = {"packed": shown.context["packed"], "name": shown.context["name"], "seen": plan.content_hash}
    return client.post(page(), {**sent, "apply": "1", "reason": "because", **more})


def list_errors(shown: Any) -> list[str]:
    return [line for title, _, lines, _ in shown.context["lists"] if title == "Errors" for line in lines]


def change_csv(data: bytes) -> bytes:
    return data.replace(b"cvv", b"cvc")


def change_xlsx(data: bytes) -> bytes:
    book = load_workbook(BytesIO(data))
    for row in book["ce_policy"].iter_rows():
        for cell in row:
            cell.value = "cvc" if cell.value == "cvv" else cell.value
    book.save(saved := BytesIO())
    return saved.getvalue()


@pytest.mark.parametrize("form", ["xlsx", "csv", "yaml", "json"])
def test_an_analyst_imports_what_he_exported_and_changed_and_may_undo_it(ben: Client, somebody: Any, form: str) -> None:
    rows = [make(m.CePolicy, policy_id=number, pattern=text) for number, text in ((7, "cvv"), (8, "pin"), (9, "tan"))]
    if form == "xlsx":
        ticked = {"action": "export_selected", ACTION_CHECKBOX_NAME: [row.pk for row in rows[:2]]}
        exported: Any = ben.post(address(m.CePolicy), ticked)
        assert exported["Content-Disposition"] == 'attachment; filename="ce_policy.xlsx"'
        assert [row[0].value for row in load_workbook(BytesIO(exported.content))["ce_policy"].iter_rows()][1:] == [7, 8]
    else:
        exported = ben.get(page("transfer_export"), {"form": form, "table": "ce_policy"})
    before = head.newest()
    change = change_xlsx if form == "xlsx" else change_csv
    # One transaction of this test makes one release, so the release of the file is gone.
    shown = preview(ben, change(exported.content), f"ce_policy.{form}", overwrite="on")
    assert shown.context["counts"] == [("Policies", 0, 1, 0)]
    assert head.newest() == before
    confirm(ben, shown, overwrite="on")
    assert list(m.CePolicy.objects.order_by("pk").values_list("pattern", flat=True)) == ["cvc", "pin", "tan"]
    assert (newest().author, newest().reason, newest().origin) == ("ben", "because", "ADMIN")
    for client in (ben, somebody("ann", "analyst")):
        assert "undo_refusal" in client.get(address(m.CeRelease, "change", newest().pk)).context
        assert not client.get(address(m.CeRelease, "change", newest().pk)).context["undo_refusal"]


@pytest.mark.django_db(transaction=True)
def test_he_undoes_his_own_import_and_none_of_an_administrator() -> None:
    User.objects.update_or_create(username="ben", defaults={"is_staff": True})
    ben, ada = Client(), Client()
    for client, name, rights in (
        (ben, "ben", ["view_cerelease", "add_cepolicy", "change_cepolicy", "delete_cepolicy"]),
        (ada, "ada", ["view_cerelease", "add_cepolicy", "change_cepolicy", "import_configuration"]),
    ):
        user, _ = User.objects.get_or_create(username=name, defaults={"is_staff": True})
        user.user_permissions.set(Permission.objects.filter(codename__in=rights))
        client.force_login(user)
    policy = {"rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}
    confirm(ben, preview(ben, {"ce_policy": [policy]}))
    own = newest().pk
    confirm(ada, preview(ada, {"ce_policy": [policy, {**policy, "pattern": "pin"}]}, mode="update"), mode="update")
    assert newest().origin == "IMPORT"
    undo = {name: address(m.CeRelease, "take_back", name) for name in (own, newest().pk)}
    assert "Only configuration administrators can undo" in ben.post(undo[own + 1], {"reason": "no"}).content.decode()
    ben.post(undo[own], {"reason": "no", "in_force": own + 1})
    assert list(m.CePolicy.objects.values_list("pattern", flat=True)) == ["pin"]

    # The script of the page asks for the progress, and a thread does the work.
    headers = {"Accept": "application/x-ndjson"}
    for row, expected in (({**policy, "pattern": "tan"}, "Imported as release"), ({"policy_id": 99}, "FORBIDDEN")):
        shown = preview(ben, {"ce_policy": [{**policy, **row}]})
        sent = {name: shown.context[name] for name in ("packed", "name")} | {"apply": "1", "reason": "because"}
        lines = ben.post(page(), {**sent, "seen": shown.context["plan"].content_hash}, headers=headers).getvalue()
        assert expected in lines.decode().splitlines()[-1]
    assert sorted(m.CePolicy.objects.values_list("pattern", flat=True)) == ["pin", "tan"]


#: What a form refuses: the rows of a file, and what the page says of the first.
REFUSED: dict[str, tuple[Tables, str]] = {
    "a server": ({"ce_mcp_server": [{**SERVER, "name": "more"}]}, "row 1: You may not add MCP servers: only config"),
    "a changed server": ({"ce_mcp_server": [{**SERVER, "command": "sh"}]}, "row 1: You may not change MCP servers"),
    "a reserved setting": ({"ce_config": [{**MODE, "config_value": "REVIEWED"}]}, "only be changed by configuration"),
    "its name in other case": (
        {"ce_config": [{"config_type": " releases", "config_key": "Mode ", "config_value": "REVIEWED"}]},
        "only be changed by configuration",
    ),
    "a new reserved setting": (
        {"ce_config": [{"config_type": "AUDIT", "config_key": "LEVEL", "config_value": "NONE"}]},
        "only be changed by configuration",
    ),
    "its older name": (
        {"ce_config": [{"config_type": "LLM", "config_key": "TURN_BUDGET_MS", "config_value": "1"}]},
        "row 1",
    ),
    "with a qualifier": (
        {"ce_config": [{"config_type": "LLM", "config_key": "MODEL.RULES", "config_value": "x"}]},
        "only be changed by configuration",
    ),
    "a reserved setting switched off": (
        {"ce_config": [{**MODE, "enabled": False}]},
        "only be changed by configuration",
    ),
    "the last fallback switched off": (
        {"ce_response": [{**FALLBACK, "response_id": 70, "enabled": False}]},
        "This is the only answer for messages that are not recognised",
    ),
    "the last fallback moved": (
        {"ce_response": [{**FALLBACK, "response_id": 70, "intent_code": "LOAN"}]},
        "This is the only answer for messages that are not recognised",
    ),
    "a reserved field": (
        {"ce_output_schema": [{"schema_id": 50, "json_schema": {**SCHEMA, "properties": {"dialogue": {}}}}]},
        "dialogue is a reserved name of the engine",
    ),
    "a new form with a reserved field": (
        {
            "ce_output_schema": [
                {"intent_code": "LOAN", "state_code": "X", "json_schema": {**SCHEMA, "properties": {"dialogue": {}}}}
            ]
        },
        "is a reserved name of the engine",
    ),
    "a number of its own": (
        {"ce_policy": [{"policy_id": 1, "rule_type": "CONTAINS", "pattern": "pin", "response_text": "No."}]},
        "There is no row with this number",
    ),
    "a secret": (
        {
            "ce_mcp_tool": [{"tool_code": "rates", "tool_group": "HTTP_API", "intent_code": "LOAN", "state_code": "X"}],
            "ce_mcp_http_tool": [
                {
                    "tool_code": "rates",
                    "connection_name": "bank",
                    "url_template": "/a",
                    "headers_json": {"token": "abc"},
                }
            ],
        },
        "Do not store credentials here",
    ),
    "what a spreadsheet showed of a secret": (
        {"ce_mcp_server": [{**SERVER, "env_json": {"TOKEN": "***"}}]},
        "ecret",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_form_refuses_is_refused_in_a_file(desk: None, ben: Client, name: str) -> None:
    tables, message = REFUSED[name]
    before, content = head.newest(), export_configuration(form="json")
    shown = preview(ben, tables)
    assert any(message in line for line in list_errors(shown)), list_errors(shown)
    assert 'name="apply"' not in shown.content.decode()
    # Sent all the same; with each of the other modes; and at once with the file.
    for more in ({}, {"mode": "replace"}, {"mode": "add"}, {"overwrite": "on"}, {"merge": "on"}):
        assert list_errors(confirm(ben, shown, **more))
    seen = shown.context["plan"].content_hash
    preview(ben, tables, apply="1", reason="at once", seen=seen)
    # Without the refused rows nothing is left.
    rest = confirm(ben, shown, rest="on")
    assert rest.status_code == 302
    assert [each for each in m.CeMcpTool.objects.values_list("tool_code", flat=True) if each != "rates"] == []
    m.CeMcpTool.objects.all().delete()
    assert json.loads(export_configuration(form="json"))["tables"] == json.loads(content)["tables"]
    assert before <= head.newest()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("ce_config.csv", b"config_type,config_key,config_value\nReleases,MODE,REVIEWED\n"),
        (
            "rows.yaml",
            b"mode: add\ntables:\n  ce_config:\n  - {config_type: Releases, config_key: mode, config_value: GATED}\n",
        ),
        (
            "seed.sql",
            b"INSERT INTO ce_config (config_type, config_key, config_value) VALUES ('Releases', 'MODE', 'REVIEWED');",
        ),
    ],
)
def test_no_format_gets_past_it(desk: None, ben: Client, name: str, data: bytes) -> None:
    shown = preview(ben, data, name)
    assert len([line for line in list_errors(shown) if "only be changed by configuration" in line]) == 1
    confirm(ben, shown)
    assert m.CeConfig.objects.filter(**MODE).exists()


def test_a_name_in_other_letters_is_the_same_row(desk: None, ben: Client) -> None:
    shown = preview(ben, {"ce_intent": [{"intent_code": " loan ", "description": "Changed."}]})
    assert shown.context["counts"] == [("Intents", 0, 1, 0)]


def test_a_refused_row_is_left_out_and_the_rest_imported(desk: None, ben: Client) -> None:
    tables = {"ce_config": [{**MODE, "config_value": "REVIEWED"}], "ce_policy": [{"policy_id": 7, "pattern": "cvc"}]}
    shown = preview(ben, tables, rest="on")
    assert shown.context["counts"] == [("Policies", 0, 1, 0)]
    confirm(ben, shown, rest="on")
    assert m.CePolicy.objects.get().pattern == "cvc"
    assert m.CeConfig.objects.filter(**MODE).exists()


def test_no_row_is_removed_whatever_the_file_and_the_answer_say(desk: None, ben: Client) -> None:
    make(m.CePolicy, policy_id=8, pattern="pin")
    bundle = json.dumps(
        {"mode": "replace", "tables": {"ce_policy": [{"policy_id": 7, "pattern": "cvc"}], "ce_rule": []}}
    )
    for mode in ("", "replace", "add", "update", "else"):
        shown = preview(ben, bundle.encode(), mode=mode)
        if mode == "else":
            assert "plan" not in shown.context
            continue
        assert shown.context["counts"] == [("Policies", 0, 1, 0)]
    confirm(ben, preview(ben, bundle.encode()), mode="replace")
    assert list(m.CePolicy.objects.order_by("pk").values_list("pattern", flat=True)) == ["cvc", "pin"]
    assert "Rows that it does not contain stay as they are" in preview(ben, bundle.encode()).content.decode()


def test_a_reader_of_a_deployment_removes_nothing_either(desk: None, ben: Client, monkeypatch: Any) -> None:
    read = files.read_bytes
    monkeypatch.setattr(
        "config_admin.transfer.page.read_bytes",
        lambda *args, **options: replace(read(*args, **options), deleted={"ce_policy": [7]}),
    )
    shown = preview(ben, {"ce_policy": []})
    assert list_errors(shown) == [
        "Policy 7, not in the file: The import would remove this row. Only configuration administrators can import "
        "files that remove rows. [FORBIDDEN]"
    ]
    confirm(ben, shown)
    assert m.CePolicy.objects.exists()


def test_two_fallbacks_are_not_switched_off_together(desk: None, ben: Client) -> None:
    make(m.CeResponse, response_id=71, **{**FALLBACK, "exact_text": "Pardon?"})
    both = {"ce_response": [{"response_id": number, "enabled": False} for number in (70, 71)]}
    assert len(list_errors(preview(ben, both))) == 2
    one_for_another = {"ce_response": [*both["ce_response"], {**FALLBACK, "exact_text": "Again?"}]}
    confirm(ben, preview(ben, one_for_another))
    assert m.CeResponse.objects.filter(enabled=True, intent_code="UNKNOWN").get().exact_text == "Again?"


def test_when_a_row_was_created_is_not_the_files_choice(desk: None, ben: Client) -> None:
    stored = m.CePromptTemplate.objects.get()
    changed = {"template_id": 60, "created_at": "2001-01-01T00:00:00Z", "user_prompt": "{{user_input}}!"}
    new = {"intent_code": "LOAN", "state_code": "X", "response_type": "TEXT", "system_prompt": "S", "user_prompt": "U"}
    confirm(ben, preview(ben, {"ce_prompt_template": [changed, {**new, "created_at": "2001-01-01T00:00:00Z"}]}))
    assert m.CePromptTemplate.objects.get(pk=60).created_at == stored.created_at
    assert not m.CePromptTemplate.objects.filter(created_at__year=2001).exists()
    assert m.CePromptTemplate.objects.count() == 2


def test_sections_of_an_installation_are_left_out(desk: None, ben: Client) -> None:
    file = {
        "tables": {"ce_policy": [{"policy_id": 7, "pattern": "cvc"}]},
        "webhooks": [{"name": "Desk", "url": "https://desk.example.com/bot", "events": ["conversation.handed_over"]}],
        "keys": [{"name": "desk", "workspace_id": "default", "scopes": ["config"]}],
        "groups": [{"name": "analyst", "permissions": ["config_admin.import_configuration"]}],
    }
    shown = preview(ben, json.dumps(file).encode())
    assert "left out" in str([lines for title, _, lines, _ in shown.context["lists"] if title == "Notes"])
    confirm(ben, shown)
    assert m.CePolicy.objects.get().pattern == "cvc"
    assert not CeWebhook.objects.exists()
    assert not CeApiKey.objects.exists()
    assert not User.objects.get(username="ben").has_perm("config_admin.import_configuration")


def have_rights(*rights: str) -> Client:
    user, _ = User.objects.get_or_create(username="eve", defaults={"is_staff": True})
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_cerelease", *rights]))
    client = Client()
    client.force_login(user)
    return client


ADD = [{"rule_type": "CONTAINS", "pattern": "pin", "response_text": "No."}]
CHANGE = [{"policy_id": 7, "pattern": "cvc"}]


@pytest.mark.parametrize(
    ("right", "rows", "refusal"),
    [
        ("change_cepolicy", CHANGE, ""),
        (
            "change_cepolicy",
            ADD,
            "row 1: You may not add policies: only analysts and configuration administrators may.",
        ),
        ("add_cepolicy", ADD, ""),
        ("add_cepolicy", CHANGE, "row 1: You may not change policies"),
        ("change_ceintent", CHANGE, "row 1: You may not change policies"),
    ],
)
def test_each_action_needs_its_right(desk: None, right: str, rows: list[dict[str, Any]], refusal: str) -> None:
    eve, before = have_rights(right), list(m.CePolicy.objects.values_list("pattern"))
    shown = preview(eve, {"ce_policy": rows})
    errors = list_errors(shown)
    assert bool(errors) == bool(refusal)
    assert all(refusal in line for line in errors)
    confirm(eve, shown)
    assert (list(m.CePolicy.objects.values_list("pattern")) == before) == bool(refusal)


def test_a_right_that_was_withdrawn_since_the_preview_is_missing(desk: None) -> None:
    eve = have_rights("change_cepolicy")
    shown = preview(eve, {"ce_policy": CHANGE})
    assert 'name="apply"' in shown.content.decode()
    User.objects.get(username="eve").user_permissions.set(
        Permission.objects.filter(codename__in=["view_cerelease", "change_ceintent"])
    )
    assert "You may not change policies" in str(list_errors(confirm(eve, shown)))
    User.objects.get(username="eve").user_permissions.set(Permission.objects.filter(codename="view_cerelease"))
    assert confirm(eve, shown).status_code == 403
    assert m.CePolicy.objects.get().pattern == "cvv"


def test_nobody_agrees_to_what_he_did_not_see(desk: None, ben: Client) -> None:
    shown = preview(ben, {"ce_policy": CHANGE})
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.update(pattern="pin")
    asked = confirm(ben, shown)
    assert "The configuration has changed since the last preview" in asked.content.decode()
    assert m.CePolicy.objects.get().pattern == "pin"
    for without in ({"seen": ""}, {"seen": "x"}):
        confirm(ben, shown, **without)
        assert m.CePolicy.objects.get().pattern == "pin"
    confirm(ben, asked)
    assert m.CePolicy.objects.get().pattern == "cvc"


def test_a_plan_that_is_made_again_is_judged_again(desk: None, ben: Client, monkeypatch: Any) -> None:
    make(m.CeResponse, response_id=71, **{**FALLBACK, "exact_text": "Pardon?"})
    shown = preview(ben, {"ce_response": [{"response_id": 70, "enabled": False}]})
    assert not list_errors(shown)

    def lock_late() -> str:
        """Somebody was faster between the plan and its lock."""
        m.CeResponse.objects.filter(pk=71).update(enabled=False)
        return "another content"

    monkeypatch.setattr(apply_import, "lock_content", lock_late)
    assert "This is the only answer for messages" in str(list_errors(confirm(ben, shown)))
    assert m.CeResponse.objects.filter(enabled=True).count() == 2


def set_mode(mode: str) -> None:
    with change_set():
        m.CeConfig.objects.update_or_create(config_type="Releases", config_key="MODE", defaults={"config_value": mode})


def test_where_changes_are_reviewed_the_file_goes_to_a_draft(desk: None, ben: Client) -> None:
    set_mode("REVIEWED")
    before = head.newest()
    shown = preview(ben, {"ce_policy": CHANGE})
    refused = confirm(ben, shown)
    assert refused.status_code == 409
    assert "Changes need a review before they go live" in refused.content.decode()
    lines = ben.post(page(), {**refused.wsgi_request.POST.dict()}, headers={"Accept": "application/json"})
    assert "Open a draft" in lines.json()["problem"]
    assert (head.newest(), m.CePolicy.objects.get().pattern) == (before, "cvv")

    draft, session = m.CeDraft.objects.create(title="Christmas"), ben.session
    session[KEY] = draft.pk
    session.save()
    confirm(ben, preview(ben, {"ce_policy": CHANGE}))
    edit = draft.edits.get()
    assert (edit.after["pattern"], edit.editor_name, edit.reason) == ("cvc", "ben", "because")
    assert head.newest() == before
    in_draft = preview(ben, {"ce_config": [{**MODE, "config_value": "LIVE"}]})
    assert "only be changed by configuration administrators" in str(list_errors(in_draft))


def test_changes_since_the_export_are_merged(desk: None, ben: Client) -> None:
    bundle = json.loads(export_configuration(form="json", tables=["ce_policy"]))
    bundle["tables"]["ce_policy"][0]["priority"] = 6
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.update(pattern="cvc")
    shown = preview(ben, json.dumps(bundle).encode())
    assert "Merge and preview again" in shown.content.decode()
    confirm(ben, preview(ben, json.dumps(bundle).encode(), merge="on"), merge="on")
    assert m.CePolicy.objects.values_list("pattern", "priority").get() == ("cvc", 6)


def test_the_page_says_what_who_may_import(ben: Client, ada: Client, somebody: Callable[..., Client]) -> None:
    for client, words, others in (
        (ben, "as if you saved each in its form", "Replace: the tables get exactly"),
        (ada, "Replace: the tables get exactly", "as if you saved each in its form"),
        (somebody("eve", "qa"), "Analysts and configuration administrators may: ask one.", 'type="file"'),
    ):
        text = client.get(page()).content.decode()
        assert words in text
        assert others not in text
    assert preview(somebody("eva", "qa"), {"ce_policy": CHANGE}).status_code == 403
    link = f'href="{reverse("admin:config_admin_cerelease_transfer")}">Import</a>'
    assert link in ben.get(address(m.CePolicy)).content.decode()
    assert link not in somebody("una", "qa").get(address(m.CePolicy)).content.decode()
    assert "export_selected" not in somebody("uma", "qa").get(address(m.CePolicy)).content.decode()


def test_files_have_no_column_that_no_form_has() -> None:
    """Another one needs a decision: who may import it?"""
    beyond = {
        (table, name)
        for table, model in control_plane().items()
        for name in list_file_columns(table)
        if name not in {field.attname for field in model._meta.concrete_fields if field.editable}
    }
    # The time is left out, and the code names the tool that a row belongs to, which a form sets once.
    assert beyond == {
        ("ce_prompt_template", "created_at"),
        ("ce_mcp_db_tool", "tool_code"),
        ("ce_mcp_http_tool", "tool_code"),
    }


NEW = {"rule_type": "CONTAINS", "pattern": "pin", "response_text": "No."}
#: Rows of a file with a very high number that nobody may choose, and what a forged bundle says beside them.
HIGH: dict[str, tuple[Tables, dict[str, Any], str]] = {
    "a refused row": (
        {"ce_policy": [{**NEW, "policy_id": 9223372036854775806}, {**NEW, "pattern": "tan"}]},
        {},
        "ce_policy",
    ),
    "a table without a column of numbers": (
        {
            "ce_mcp_tool": [
                {"tool_code": "rates", "tool_group": "HTTP_API", "tool_id": 9223372036854775806},
                {"tool_code": "prices", "tool_group": "HTTP_API", "intent_code": "LOAN", "state_code": "X"},
            ],
            "ce_mcp_http_tool": [{"tool_code": "prices", "connection_name": "bank", "url_template": "/a"}],
        },
        {},
        "ce_mcp_tool",
    ),
    "a number that a forged ancestry maps": (
        {"ce_policy": [{**NEW, "policy_id": 5000000000000, "pattern": "cvv"}, {**NEW, "pattern": "tan"}]},
        {"ce_policy": {"7": 5000000000000}},
        "ce_policy",
    ),
}


@pytest.mark.parametrize("name", HIGH)
def test_no_file_chooses_the_numbers_of_new_rows(desk: None, ben: Client, name: str) -> None:
    tables, numbers, table = HIGH[name]
    file: dict[str, Any] = {"tables": tables}
    if numbers:
        known = {"content": newest().content_hash, "numbers": numbers}
        file |= {"base": {"release": 1, "content": "0" * 64}, "ancestry": {"checksum": "", "contents": [known]}}
    sent = {"rest": "on", "merge": "on"} if numbers else {"rest": "on"}
    before = m.CePolicy.objects.count() + m.CeMcpTool.objects.count()
    assert confirm(ben, preview(ben, json.dumps(file).encode(), **sent), **sent).status_code == 302
    assert m.CePolicy.objects.count() + m.CeMcpTool.objects.count() == before + 1
    assert max(control_plane()[table].objects.values_list("pk", flat=True)) < 100  # type: ignore[attr-defined]


def test_new_rows_step_over_the_numbers_of_the_file() -> None:
    rows: Tables = {"ce_policy": [{"policy_id": number} for number in (3, 4, 6, 10**18, [1], "5", None)]}
    new_id = fresh_ids(Document(locate_rows(rows)), {"ce_policy": {2: {}}}, lambda table: 1)
    assert [new_id("ce_policy") for _ in range(4)] == [5, 7, 8, 9]


@pytest.mark.parametrize(
    ("text", "stored"),
    [(" Sorry?\r\nAgain.\n", "Sorry?\nAgain."), ("\u00a0Sorry?", "Sorry?"), ("As stored.\n", "As stored.\n")],
)
def test_texts_are_stored_as_a_form_sends_them(desk: None, ben: Client, text: str, stored: str) -> None:
    m.CeResponse.objects.filter(pk=70).update(derivation_hint="", exact_text="As stored.\n")
    changed = {"ce_response": [{"response_id": 70, "exact_text": text, "priority": 3}]}
    confirm(ben, preview(ben, changed))
    assert m.CeResponse.objects.values_list("exact_text", "priority").get(pk=70) == (stored, 3)
    assert preview(ben, changed).context["counts"] == []


@pytest.mark.parametrize(
    ("reason", "stored", "message"),
    [
        ("x" * 2000, "x" * 2000, ""),
        ("x" * 2001, "", "The reason for this change is longer than 2000 characters. Shorten it."),
        (" a\x00b ", "a\ufffdb", ""),
        (" ", "", reasons.MISSING),
    ],
)
def test_the_reason_is_limited_as_in_forms(desk: None, ben: Client, reason: str, stored: str, message: str) -> None:
    before = head.newest()
    answer = confirm(ben, preview(ben, {"ce_policy": CHANGE}), reason=reason)
    assert (answer.status_code, head.newest() == before) == ((200, True) if message else (302, False))
    assert newest().reason == stored or message
    assert not message or message == answer.context["reason_missing"] in answer.content.decode()


@pytest.mark.parametrize("is_late", [False, True])
def test_a_release_after_the_answer_is_shown_first(desk: None, ben: Client, monkeypatch: Any, is_late: bool) -> None:
    """Somebody is faster: before the plan, or between the plan and its lock."""
    shown, plan_import = preview(ben, {"ce_policy": CHANGE}), apply_import.plan_import

    def make_release(result: Any = None) -> Any:
        """Every plan from now on has the content of another release: one transaction of this test makes only one."""
        monkeypatch.setattr("config_admin.transfer.import_plan.get_content_hash", lambda: "another content")
        return result

    if is_late:
        monkeypatch.setattr(apply_import, "lock_content", lambda: make_release("another content"))
    else:
        monkeypatch.setattr(
            apply_import, "plan_import", lambda *args, **options: plan_import(*args, **(make_release() or options))
        )
    asked = confirm(ben, shown)
    assert "The configuration has changed since the last preview" in asked.content.decode()
    assert m.CePolicy.objects.get().pattern == "cvv"


@pytest.mark.parametrize(
    ("right", "is_offered"), [("add_cepolicy", True), ("change_cepolicy", True), ("view_cepolicy", False)]
)
def test_who_may_add_or_change_rows_finds_the_import(desk: None, right: str, is_offered: bool) -> None:
    link = f'href="{reverse("admin:config_admin_cerelease_transfer")}">Import</a>'
    page_of_list = have_rights(right, "view_cepolicy").get(address(m.CePolicy))
    assert (link in page_of_list.content.decode()) == is_offered
