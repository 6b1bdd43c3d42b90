"""`convengine apply FILE` and `export --installation`: webhooks, keys, documents and more from one file."""

import json
import socket
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from audit.models import CeAlertRule
from config_admin.commands.management.commands import apply, config_import
from config_admin.models import CePolicy
from config_admin.transfer.document import SECTIONS as NAMES
from config_admin.transfer.document import FileRow, ImportMode
from config_admin.transfer.installation import SectionPlan, list_sections
from convengine.server.api.authentication import key_of
from convengine.server.api.models import CeApiKey
from convengine.server.channels.models import CeChannel
from convengine.server.executors.document_store import digest, put, search
from convengine.server.executors.models import CeDocument, CeDocumentCollection
from convengine.server.webhooks.models import CeWebhook

pytestmark = pytest.mark.django_db

WEBHOOK = {"name": "Desk", "url": "https://8.8.8.8/bot", "events": ["handover.message"]}
KEY = {"name": "shop", "scopes": ["turns"]}
ALERT = {"title": "Lost", "measure": "not_understood", "bound": 20, "users": ["ada"]}
GROUP = {"name": "Desk", "permissions": ["ce_sessions.view_ceconversation"]}
POLICY = {"rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}
CHANNEL: dict[str, Any] = {
    "name": "bot",
    "provider": "telegram",
    "secrets": {"token": "BOT_TOKEN", "secret": "BOT_SECRET"},
    "attachment_text": "",
}
DOCUMENT: dict[str, Any] = {
    "collection": "handbook",
    "title": "Delivery",
    "body": "Three days.\n\nAbroad: nine.",
    "metadata": {"source": "orders.md", "pages": [2, {"from": 1}]},
    "expires_at": "2999-01-31T12:00:00+00:00",
}
ENTRIES = {
    "webhooks": WEBHOOK,
    "channels": CHANNEL,
    "keys": KEY,
    "alert_rules": ALERT,
    "groups": GROUP,
    "documents": DOCUMENT,
}


@pytest.fixture(autouse=True)
def ada() -> User:
    return User.objects.create_superuser("ada")


def run(*words: Any) -> tuple[int, str]:
    """The exit status of a command that refuses nothing, and what it printed."""
    out = StringIO()
    try:
        call_command(*map(str, words), stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


def write(folder: Path, content: Mapping[str, Any]) -> Path:
    file = folder / "site.json"
    file.write_text(json.dumps({"mode": "update", "tables": {}, **content}))
    return file


@pytest.mark.parametrize("section", ENTRIES)
def test_a_plan_ends_with_2_until_the_file_is_applied(section: str, tmp_path: Path) -> None:
    file = write(tmp_path, {section: [ENTRIES[section]]})

    planned, text = run("apply", file, "--plan")
    nothing_yet = list_sections()[section].model._default_manager.filter(**name_of(section)).exists()
    applied = run("apply", file, "--secrets", tmp_path / "secrets.json")
    after = run("apply", file, "--plan")

    assert (planned, nothing_yet) == (2, False)
    assert "No differences." not in text
    assert (
        f"  + {list_sections()[section].describe_name({'workspace_id': 'default', **ENTRIES[section]})}"
        in text.splitlines()
    )
    assert applied[1].splitlines()[-1] == "Applied."
    assert after[0] == 0
    assert list_sections()[section].model._default_manager.filter(**name_of(section)).exists()


def name_of(section: str) -> dict[str, Any]:
    return {list_sections()[section].name: ENTRIES[section][list_sections()[section].name]}


def test_the_export_is_what_apply_takes(tmp_path: Path) -> None:
    run("apply", write(tmp_path, {name: [entry] for name, entry in ENTRIES.items()}), "--secrets", tmp_path / "made")
    file = tmp_path / "all.yaml"

    run("config_export", file, "--installation", "--no-base")

    assert run("apply", file, "--plan") == (0, "No differences.\n")
    secrets = json.loads((tmp_path / "made").read_text())
    assert not [secret for section in secrets.values() for secret in section.values() if secret in file.read_text()]


def test_rows_and_sections_are_applied_together(tmp_path: Path) -> None:
    file = write(tmp_path, {"tables": {"ce_policy": [POLICY]}, "webhooks": [WEBHOOK]})

    run("apply", file)

    assert (CePolicy.objects.count(), CeWebhook.objects.count()) == (1, 1)
    assert CeWebhook.objects.get().secret.startswith("whsec_")


def test_a_whole_section_becomes_what_the_file_says(tmp_path: Path) -> None:
    secrets = tmp_path / "made"
    old = {**KEY, "name": "old"}
    run("apply", write(tmp_path, {"keys": [KEY, old], "webhooks": [WEBHOOK]}), "--secrets", secrets)
    _, mine = CeApiKey.objects.create_key(name="mine", made_by=User.objects.get())
    file = write(tmp_path, {"mode": "replace", "keys": [{**KEY, "scopes": ["turns", "desk"]}]})

    planned = run("apply", file, "--plan")[1].splitlines()
    run("apply", file)

    assert planned[-2:] == ["  ~ shop (changed: scopes)", "  - old"]
    made = json.loads(secrets.read_text())["keys"]
    assert key_of(made["shop"]).scopes == ["turns", "desk"]
    assert list(CeApiKey.objects.filter(revoked=True).values_list("name", flat=True)) == ["old"]
    # Keys of people, and sections that the file does not have, stay.
    assert key_of(mine)
    assert CeWebhook.objects.exists()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"webhook": [WEBHOOK]}, "unknown keys: webhook. Did you mean webhooks?"),
        ({"keys": [{**KEY, "secret": "abc"}]}, "keys, entry 1: there is no 'secret'."),
        ({"keys": [{**KEY, "scopes": ["turn"]}]}, "keys, entry 1: scopes: Select a valid choice. turn is not"),
        ({"keys": [KEY, KEY]}, "keys, entry 2: 'shop' occurs twice."),
        ({"keys": [{"scopes": ["turns"]}]}, "keys, entry 1: name is missing."),
        ({"keys": {"name": "shop"}}, "keys: must be a list of rows."),
        ({"webhooks": [{**WEBHOOK, "url": "http://10.0.0.1/"}]}, "webhooks, entry 1: url:"),
        ({"webhooks": [{**WEBHOOK, "url": "http://desk.invalid/"}]}, "does not begin with https://"),
        ({"webhooks": [{**WEBHOOK, "url": "desk.invalid"}]}, "webhooks, entry 1: url:"),
        ({"webhooks": [{**WEBHOOK, "events": []}]}, "Choose at least one event."),
        ({"alert_rules": [{**ALERT, "users": ["adda"]}]}, "users: 'adda' does not exist. Did you mean ada?"),
        ({"alert_rules": [{**ALERT, "hours": 5}]}, "alert_rules, entry 1: hours: "),
        ({"groups": [{**GROUP, "permissions": ["ce_sessions.fly"]}]}, "permissions: 'ce_sessions.fly' does not exist."),
        ({"channels": [{**CHANNEL, "provider": "telegrm"}]}, "no provider telegrm. Did you mean telegram?"),
        ({"channels": [{**CHANNEL, "secrets": {"token": "T"}}]}, "channels, entry 1: secrets: secret is missing."),
        (
            {"channels": [{**CHANNEL, "secrets": {**CHANNEL["secrets"], "tokn": "T"}}]},
            "channels, entry 1: secrets: There is no 'tokn'. Did you mean token?",
        ),
        ({"channels": [{**CHANNEL, "secrets": "BOT_TOKEN"}]}, "channels, entry 1: secrets: This must be an object"),
        (
            {"channels": [{**CHANNEL, "settings": {"api_url": 5}}]},
            "channels, entry 1: settings: This must be an object",
        ),
        ({"channels": [{**CHANNEL, "name": "My Bot"}]}, "channels, entry 1: name: Use small letters"),
        ({"channels": [{**CHANNEL, "token": "12:abc"}]}, "channels, entry 1: there is no 'token'."),
        ({"documents": [{**DOCUMENT, "text": "Four"}]}, "documents, entry 1: there is no 'text'."),
        ({"documents": [{**DOCUMENT, "collection": ""}]}, "documents, entry 1: collection is missing."),
        ({"documents": [{**DOCUMENT, "body": " "}]}, "documents, entry 1: body: This field is required."),
        (
            {"documents": [{**DOCUMENT, "title": "x" * 501}]},
            "documents, entry 1: title: Ensure this value has at most 500",
        ),
        (
            {"documents": [{**DOCUMENT, "body": "x" * 200_001}]},
            "body: It has 200001 characters, more than 200000. Divide",
        ),
        (
            {"documents": [{**DOCUMENT, "metadata": ["orders.md"]}]},
            "documents, entry 1: metadata: This must be an object",
        ),
        ({"documents": [DOCUMENT, DOCUMENT]}, "documents, entry 2: 'handbook / Delivery' occurs twice."),
        (
            {"documents": [DOCUMENT, {"collection": "handbook", "title": "Returns", "body": "30 days."}]},
            "entry 2: expires_at of default / handbook is None, but '2999-01-31T12:00:00+00:00' in documents, entry 1.",
        ),
        ({"tables": {"ce_policies": []}}, "ce_policies: is not a table of the configuration."),
    ],
)
def test_what_is_wrong_is_named_and_changes_nothing(content: Any, problem: str, tmp_path: Path) -> None:
    file = write(tmp_path, {"tables": {"ce_policy": [POLICY]}, **content})

    with pytest.raises(CommandError) as refused:
        run("apply", file, "--secrets", tmp_path / "made")

    assert problem in str(refused.value)
    models = (CePolicy, CeApiKey, CeChannel, CeWebhook, CeAlertRule, CeDocumentCollection)
    stored = [*(model._default_manager for model in models), Group.objects.filter(name="Desk")]
    assert not [rows for rows in stored if rows.exists()]


def test_documents_become_what_the_file_says(tmp_path: Path) -> None:
    handbook = CeDocumentCollection.objects.create(name="handbook")
    for title in ("Delivery", "Returns", "Payment"):
        put(handbook, title, f"{title} takes three days.", {"source": "orders.md"})
    put(CeDocumentCollection.objects.create(name="handbook", workspace_id="other"), "Delivery", "Theirs.")
    file = tmp_path / "all.json"
    run("config_export", file, "--installation", "--no-base")
    content = json.loads(file.read_text())
    delivery, _, returns, theirs = content["documents"]
    returns["body"] = "Returns cost nothing."
    abroad = {"collection": "handbook", "title": "Abroad", "body": "Nine days."}
    file.write_text(json.dumps({**content, "documents": [delivery, returns, theirs, abroad]}))

    planned = run("apply", file, "--plan")[1].splitlines()
    run("apply", file)

    assert planned[-4:] == [
        "documents: 3 to change",
        "  ~ handbook / Returns (changed: body)",
        "  + handbook / Abroad",
        "  - handbook / Payment",
    ]
    assert run("apply", file, "--plan") == (0, "No differences.\n")
    assert search("nothing costs", "default")[0].document.title == "Returns"
    assert all(document.hash == digest(document) for document in CeDocument.objects.all())
    assert [document.title for document in CeDocument.objects.filter(collection__workspace_id="other")] == ["Delivery"]


@pytest.mark.parametrize(
    "fault", [socket.gaierror(-2, "unknown"), socket.gaierror(-3, "try again"), UnicodeError("too long"), OSError()]
)
def test_a_webhook_may_have_a_host_that_is_not_known_here(
    fault: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Mock(side_effect=fault))
    file = write(tmp_path, {"webhooks": [{**WEBHOOK, "url": "https://desk.example.com/bot"}]})

    planned = run("apply", file, "--plan")[0]
    run("apply", file)

    assert planned == 2
    assert CeWebhook.objects.get().url == "https://desk.example.com/bot"


def test_a_new_key_needs_a_file_for_its_secret(tmp_path: Path) -> None:
    file = write(tmp_path, {"keys": [KEY]})
    (tmp_path / "taken").touch()

    for words, problem in (((), "New keys: shop."), (("--secrets", tmp_path / "taken"), "cannot be written")):
        with pytest.raises(CommandError, match=problem):
            run("apply", file, *words)

    assert not CeApiKey.objects.exists()


def test_an_import_takes_the_rows_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    file = write(tmp_path, {"tables": {"ce_policy": [POLICY]}, "webhooks": [WEBHOOK]})

    previewed, text = run("config_import", file, "--exit-code")
    run("config_import", file, "--apply")
    after = run("config_import", file, "--exit-code")[0]

    assert (previewed, after) == (2, 0)
    assert "  webhooks: left out. `convengine apply` takes them." in text.splitlines()
    assert (CePolicy.objects.count(), CeWebhook.objects.count()) == (1, 0)


def test_every_section_of_a_file_can_be_applied() -> None:
    assert set(NAMES) == list_sections().keys()


@pytest.mark.parametrize("command", [apply.Command, config_import.Command])
@pytest.mark.parametrize("given", [["--plna"], [], ["some.json", "--reason"], ["some.json", "another.json"]])
def test_an_error_of_usage_ends_with_1_as_every_error(command: Any, given: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command().run_from_argv(["convengine", "apply", *given])
    assert ended.value.code == 1


@pytest.mark.parametrize(
    "head",
    [{"mode": "update"}, {"$schema": "configuration.schema.json"}, {"version": 1}, {"mode": "add", "$schema": "x"}],
)
def test_a_file_without_rows_may_have_a_head(head: Mapping[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "short.json"
    file.write_text(json.dumps({**head, "webhooks": [WEBHOOK]}))
    assert run("apply", file, "--plan")[0] == 2


@pytest.mark.parametrize(
    ("section", "values", "problem"),
    [
        ("groups", {"permissions": "ce_sessions.view_ceconversation"}, "permissions must be a list of names."),
        ("groups", {"permissions": [["x"]]}, "permissions: ['x'] does not exist."),
        ("groups", {"permissions": None}, "permissions must be a list of names."),
        ("keys", {"expiry_date": 5}, "expiry_date: Enter a valid date/time."),
        ("keys", {"expiry_date": {}}, "expiry_date: Enter a valid date/time."),
    ],
)
def test_a_value_of_another_type_is_a_problem_of_its_entry(section: str, values: dict[str, Any], problem: str) -> None:
    entry = FileRow({**ENTRIES[section], **values}, f"{section}, entry 1")

    assert SectionPlan(section, [entry], ImportMode.UPDATE).problems == [f"{section}, entry 1: {problem}"]
