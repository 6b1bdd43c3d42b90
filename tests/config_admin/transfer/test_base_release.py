"""A file takes back nothing that was changed after its export, and its changes can be merged."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from config_admin import models as m
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import ImportRefused, ImportResult, import_document
from config_admin.transfer.document import BaseRelease
from config_admin.transfer.files import CSV, XLSX, YAML, export_configuration, read_bytes
from config_admin.transfer.import_plan import ImportPlan, plan_import
from config_admin.transfer.import_report import serialize_plan
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
POLICY: dict[str, Any] = {"rule_type": "CONTAINS", "response_text": "No."}


@pytest.fixture
def exported() -> dict[str, Any]:
    """The bundle of three policies."""
    with change_set(reason="three"):
        for pk, pattern in ((1, "cvv"), (2, "pin"), (3, "iban")):
            make(m.CePolicy, policy_id=pk, pattern=pattern, **POLICY)
    bundle: dict[str, Any] = yaml.safe_load(export_configuration(tables=["ce_policy"], form=YAML))
    return bundle


def rows_of(bundle: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {row["policy_id"]: row for row in bundle["tables"]["ce_policy"]}


def data_of(bundle: dict[str, Any]) -> bytes:
    return yaml.safe_dump(bundle).encode()


def plan(bundle: dict[str, Any], **options: Any) -> ImportPlan:
    return plan_import(read_bytes("x.yaml", data_of(bundle), **options))


def apply(bundle: dict[str, Any], **options: Any) -> ImportResult:
    return import_document(read_bytes("x.yaml", data_of(bundle), **options), author="ada", reason="r")


def codes(of: ImportPlan) -> list[tuple[str, Any, str | None]]:
    return [(error.finding.code, error.finding.row, error.finding.field) for error in of.errors]


def test_an_export_names_its_release(exported: dict[str, Any]) -> None:
    assert exported["base"]["release"] == head.newest()
    assert m.CeRelease.objects.get(pk=head.newest()).content_hash == exported["base"]["content"]
    assert "base" not in yaml.safe_load(export_configuration(with_base=False))


def test_a_file_whose_base_is_in_force_is_imported_as_ever(exported: dict[str, Any]) -> None:
    rows_of(exported)[1]["response_text"] = "Never."
    assert apply(exported).release is not None
    assert m.CePolicy.objects.get(pk=1).response_text == "Never."


def test_what_was_changed_since_is_not_taken_back(exported: dict[str, Any]) -> None:
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.filter(pk=1).update(response_text="Not here.")
        make(m.CePolicy, policy_id=9, pattern="new", **POLICY)
    rows_of(exported)[2]["response_text"] = "Never."
    before = head.newest()
    with pytest.raises(ImportRefused) as refused:
        apply(exported)
    assert codes(refused.value.plan) == [("BASE_MOVED", 1, "response_text"), ("BASE_MOVED", 9, None)]
    assert "changed to 'Not here.' after release" in refused.value.plan.errors[0].finding.message
    assert head.newest() == before


def test_changes_of_both_sides_are_merged_by_field(exported: dict[str, Any]) -> None:
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.filter(pk=1).update(response_text="Not here.")
        m.CePolicy.objects.filter(pk=2).delete()
        make(m.CePolicy, policy_id=9, pattern="new", **POLICY)
    rows_of(exported)[1]["priority"] = 5
    exported["tables"]["ce_policy"] = [row for row in exported["tables"]["ce_policy"] if row["policy_id"] != 3]
    exported["tables"]["ce_policy"].append({**POLICY, "pattern": "hand"})
    apply(exported, merge=True)
    assert list(m.CePolicy.objects.order_by("pk").values_list("pk", "pattern", "response_text", "priority")) == [
        (1, "cvv", "Not here.", 5),
        (9, "new", "No.", 10),
        (10, "hand", "No.", 10),
    ]
    # The merged rows are there now: once more, nothing is to do.
    assert plan(exported, merge=True).differences == {}


def test_conflicts_are_listed_by_row_and_field_and_nothing_is_written(exported: dict[str, Any]) -> None:
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.filter(pk=1).update(response_text="Not here.", priority=5)
        m.CePolicy.objects.filter(pk=2).delete()
        m.CePolicy.objects.filter(pk=3).update(priority=7)
    rows = rows_of(exported)
    rows[1] |= {"response_text": "Never.", "priority": 5}
    rows[2]["priority"] = 6
    exported["tables"]["ce_policy"].remove(rows[3])
    before = head.newest()
    with pytest.raises(ImportRefused) as refused:
        apply(exported, merge=True)
    assert codes(refused.value.plan) == [
        ("MERGE_CONFLICT", 1, "response_text"),
        ("MERGE_CONFLICT", 2, None),
        ("MERGE_CONFLICT", 3, None),
    ]
    assert refused.value.plan.errors[0].finding.message == (
        "Conflict: Here it is 'Not here.', in the file 'Never.'; before both changes it was 'No.'."
    )
    assert head.newest() == before


def test_changes_here_can_be_overwritten(exported: dict[str, Any]) -> None:
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.filter(pk=1).update(response_text="Not here.")
    apply(exported, overwrite=True)
    assert m.CePolicy.objects.get(pk=1).response_text == "No."


@pytest.mark.parametrize(("form", "name"), [(CSV, "ce_policy.csv"), (XLSX, "all.xlsx")])
def test_spreadsheets_name_it_after_their_columns(form: str, name: str, exported: dict[str, Any]) -> None:
    data = export_configuration(tables=["ce_policy"], form=form)
    assert read_bytes(name, data).base == BaseRelease(**exported["base"])
    assert plan_import(read_bytes(name, data)).differences == {}
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.filter(pk=1).update(response_text="Not here.")
    assert codes(plan_import(read_bytes(name, data))) == [("BASE_MOVED", 1, "response_text")]
    assert plan_import(read_bytes(name, data, merge=True)).differences == {}


def test_a_file_of_which_nothing_is_known_here_changes_and_removes_no_row_unless_it_overwrites(
    exported: dict[str, Any],
) -> None:
    exported |= {"base": {"release": 9000, "content": "0" * 64}, "ancestry": {"checksum": "", "contents": ["1" * 16]}}
    exported["tables"]["ce_policy"].append({**POLICY, "pattern": "hand"})
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.filter(pk=1).update(response_text="Not here.")
        make(m.CePolicy, policy_id=9, pattern="new", **POLICY)
    for options in ({}, {"merge": True}):
        refused = plan(exported, **options)
        assert codes(refused) == [("BASE_UNKNOWN", 1, None), ("BASE_UNKNOWN", 9, None)]
        assert "here 'Not here.', in the file 'No.'" in str(refused.errors[0])
    apply(exported, overwrite=True)
    assert list(m.CePolicy.objects.order_by("pk").values_list("pattern", "response_text")) == [
        ("cvv", "No."), ("pin", "No."), ("iban", "No."), ("hand", "No."),
    ]  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"merge": True}])
@pytest.mark.parametrize("is_known", [True, False])
def test_what_is_here_is_reported_without_secrets(is_known: bool, options: dict[str, bool]) -> None:
    with change_set(reason="a server"):
        make(m.CeMcpServer, name="maps", transport="HTTP", url="https://maps.example/?zoom=1")
    bundle = yaml.safe_load(export_configuration())
    bundle["tables"]["ce_mcp_server"][0]["url"] = "https://maps.example/?zoom=2"
    if not is_known:
        bundle |= {"base": {"release": 9000, "content": "0" * 64}, "ancestry": None}
    with change_set(reason="a secret"):
        m.CeMcpServer.objects.update(url="https://maps.example/?api_key=opensesame")
    code = "BASE_UNKNOWN" if not is_known else "MERGE_CONFLICT" if options else "BASE_MOVED"
    refused = plan(bundle, **options)
    messages = {error.finding.code: error.finding.message for error in refused.errors}
    assert "***" in messages[code]
    assert "opensesame" not in str(serialize_plan(refused))


def test_a_merge_leaves_the_base_of_a_file_that_lacks_changes_made_here(
    tmp_path: Path, exported: dict[str, Any]
) -> None:
    file = tmp_path / "all.yaml"
    file.write_bytes(export_configuration().replace(b"No.", b"Never."))
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.filter(pk=1).update(priority=3)
    merge = ["config_import", file, "--merge", "--apply", "--update-base"]
    call_command(*merge, stdout=StringIO(), stderr=(said := StringIO()))
    policy = m.CePolicy.objects.get(pk=1)
    assert (policy.response_text, policy.priority) == ("Never.", 3)
    assert "all.yaml keeps its base" in said.getvalue()
    with pytest.raises(SystemExit):
        call_command("config_import", file, "--apply", stdout=StringIO())
    assert m.CePolicy.objects.get(pk=1).priority == 3


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_the_command_writes_the_new_base_into_the_file(form: str, tmp_path: Path, exported: dict[str, Any]) -> None:
    file = tmp_path / f"all.{form}"
    file.write_bytes(export_configuration(form=form).replace(b"No.", b"Never."))
    call_command("config_import", file, "--apply", "--update-base", stdout=StringIO())
    assert m.CePolicy.objects.get(pk=1).response_text == "Never."
    assert file.read_bytes() == export_configuration(form=form)
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.filter(pk=1).update(priority=3)
    with pytest.raises(SystemExit):
        call_command("config_import", file, stdout=StringIO())
    call_command("config_import", file, "--merge", stdout=(out := StringIO()))
    assert "No differences." in out.getvalue()
