"""The page on which configuration goes out and comes in."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from config_admin.models import CePolicy
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.transfer.files import export_configuration
from tests.config_admin.admin.pages import newest
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
POLICY = {"policy_id": 7, "rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}


def page(name: str = "transfer") -> str:
    return reverse(f"admin:config_admin_cerelease_{name}")


def preview_rows(client: Client, *rows: dict[str, Any], name: str = "some.json", **more: Any) -> Any:
    data = json.dumps({"ce_policy": rows}).encode() if rows else more.pop("data", b"")
    return client.post(page(), {"file": SimpleUploadedFile(name, data), **more})


def answer_preview(client: Client, shown: Any, **more: Any) -> Any:
    """What the shown page sends when it is answered."""
    sent = {"packed": shown.context["packed"], "name": shown.context["name"], "mode": ""}
    return client.post(page(), {**sent, **more})


def test_a_file_is_looked_at_then_imported_for_a_reason(ada: Client) -> None:
    version = head.newest()
    shown = preview_rows(ada, POLICY)
    assert shown.context["counts"] == [("Policies", 1, 0, 0)]
    assert shown.context["reason"] == "Import of some.json"
    assert head.newest() == version

    without = answer_preview(ada, shown, apply="1", reason=" ")
    assert "Enter a reason for this change" in without.content.decode()
    assert head.newest() == version

    done = answer_preview(ada, without, apply="1", reason="moved", follow=True)
    assert done.status_code == 302
    assert (newest().author, newest().reason, newest().origin) == ("ada", "moved", "IMPORT")
    assert CePolicy.objects.get().pattern == "cvv"
    again = preview_rows(ada, POLICY)
    assert again.context["counts"] == []
    assert "The file contains no changes." in again.content.decode()


def test_refused_rows_are_told_and_may_be_left_out(ada: Client) -> None:
    shown = preview_rows(ada, POLICY, {**POLICY, "policy_id": 8, "rule_type": "X"})
    text = shown.content.decode()
    assert "Policies, row 2, match type" in text
    assert 'name="apply"' not in text
    without = answer_preview(ada, shown, rest="on")
    assert [title for title, *_ in without.context["lists"]] == ["Left out"]
    answer_preview(ada, without, rest="on", apply="1", reason="moved")
    assert list(CePolicy.objects.values_list("pk", flat=True)) == [7]


def test_a_file_that_would_take_back_later_changes_may_be_merged(ada: Client) -> None:
    make(CePolicy, policy_id=7, pattern="cvv", priority=5)
    bundle = json.loads(export_configuration(form="json", tables=["ce_policy"]))
    bundle["tables"]["ce_policy"][0]["priority"] = 6
    with change_set(reason="meanwhile"):
        CePolicy.objects.update(pattern="cvc")
    shown = preview_rows(ada, data=json.dumps(bundle).encode())
    assert "Merge and preview again" in shown.content.decode()
    merged = answer_preview(ada, shown, merge="on")
    assert merged.context["counts"] == [("Policies", 0, 1, 0)]
    answer_preview(ada, merged, merge="on", apply="1", reason="both")
    assert CePolicy.objects.values_list("pattern", "priority").get() == ("cvc", 6)


def test_seed_sql_is_told_of(ada: Client) -> None:
    columns = "intent_code, state_code, response_type, exact_text"
    sql = f"INSERT INTO ce_response ({columns}) VALUES (NULL, 'X', 'exact', '#{{a}}');"
    shown = preview_rows(ada, data=sql.encode(), name="seed.sql", blank_as_any="on")
    lists = {title: lines for title, _, lines, _ in shown.context["lists"]}
    assert (len(lists["Converted"]), len(lists["Notes"])) == (1, 2)
    assert shown.context["counts"] == [("Answers", 1, 0, 0)]


def test_what_is_no_file_is_told_at_the_file(ada: Client) -> None:
    for sent, message in (
        ({}, "Choose a file"),
        ({"file": SimpleUploadedFile("x.yaml", b"ce_policy: [")}, "not valid YAML"),
        ({"packed": "%%", "name": "x.json"}, "no longer available"),
    ):
        assert message in ada.post(page(), sent).content.decode()


def test_it_goes_out_as_a_file(ben: Client) -> None:
    make(CePolicy)
    response = ben.get(page("transfer_export"), {"form": "yaml"})
    assert response.content == export_configuration()
    assert response["Content-Disposition"] == 'attachment; filename="configuration.yaml"'
    some = ben.get(page("transfer_export"), {"form": "json", "table": "ce_policy", "release": head.newest()})
    assert list(some.json()["tables"]) == ["ce_policy"]
    table = ben.get(page("transfer_export"), {"form": "csv", "table": "ce_policy"})
    assert table["Content-Disposition"] == 'attachment; filename="ce_policy.csv"'
    book = ben.get(page("transfer_export"), {"form": "xlsx", "table": "ce_policy"})
    assert book["Content-Disposition"] == 'attachment; filename="configuration.xlsx"'
    assert "The file contains no changes." in preview_rows(ben, name="some.xlsx", data=book.content).content.decode()
    for impossible in ({"release": "999"}, {"form": "csv"}):
        assert ben.get(page("transfer_export"), impossible).status_code == 302


def test_a_workbook_is_looked_at_and_imported(ada: Client) -> None:
    row = make(CePolicy, policy_id=7, description="Cards.")
    data = export_configuration(form="xlsx", tables=["ce_policy"])
    CePolicy.objects.update(description="None.")
    shown = preview_rows(ada, name="some.xlsx", data=data)
    assert shown.context["counts"] == [("Policies", 0, 1, 0)]
    # One transaction makes one release, so the release of the file is gone.
    assert "Overwrite this configuration and preview again" in shown.content.decode()
    assert 'name="apply"' not in shown.content.decode()

    shown = answer_preview(ada, shown, overwrite="on")
    assert '<input type="hidden" name="overwrite" value="on">' in shown.content.decode()
    answer_preview(ada, shown, overwrite="on", apply="1", reason="moved")
    row.refresh_from_db()
    assert row.description == "Cards."


@pytest.mark.django_db(transaction=True)
def test_whoever_waits_is_told_how_far_it_is(ada: Client) -> None:
    # Behind another test of this kind there are no groups any more.
    User.objects.update(is_superuser=True)
    rows = [{**POLICY, "policy_id": number, "pattern": f"cvv {number}"} for number in range(1, 151)]
    headers = {"headers": {"Accept": "application/x-ndjson"}}
    given = SimpleUploadedFile("some.json", json.dumps({"ce_policy": rows}).encode())
    lines = [json.loads(line) for line in ada.post(page(), {"file": given}, **headers).getvalue().splitlines()]
    assert [(line["stage"], line["done"]) for line in lines[:-1]] == [("read", 150), ("judged", 100), ("judged", 150)]
    assert "Import some.json?" in lines[-1]["page"]

    given.seek(0)
    sent = {"file": given, "apply": "1", "reason": "moved"}
    lines = [json.loads(line) for line in ada.post(page(), sent, **headers).getvalue().splitlines()]
    assert [line["stage"] for line in lines[:-1]][-2:] == ["written", "written"]
    assert lines[-1]["told"].startswith(f"Imported as release {newest().pk}")
    assert CePolicy.objects.count() == 150

    given = SimpleUploadedFile("some.json", b"{")
    assert "not valid JSON" in json.loads(ada.post(page(), {"file": given}, **headers).getvalue())["page"]


def test_who_may_not_import_sees_the_way_out_only(somebody: Any) -> None:
    eve = somebody("eve", "qa")
    text = eve.get(page()).content.decode()
    assert "Download YAML" in text
    assert 'type="file"' not in text
    assert preview_rows(eve, POLICY).status_code == 403


def test_others_see_nothing(somebody: Any) -> None:
    client = somebody("ivy", "integrator")
    assert (client.get(page()).status_code, client.get(page("transfer_export")).status_code) == (403, 403)
