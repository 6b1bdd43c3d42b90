"""Exports of another installation are remembered, and the next one is merged from them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import ImportResult, import_document
from config_admin.transfer.bundle import _compute_checksum
from config_admin.transfer.files import export_configuration, read_bytes
from config_admin.transfer.import_plan import plan_import
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
POLICY: dict[str, Any] = {"rule_type": "CONTAINS", "response_text": "No."}
THERE = "a" * 64


@pytest.fixture
def theirs() -> dict[str, Any]:
    """An export of an installation that took over two policies from here, changed one, and added a third."""
    with change_set(reason="two"):
        for pk, pattern in ((1, "cvv"), (2, "pin")):
            make(m.CePolicy, policy_id=pk, pattern=pattern, **POLICY)
    bundle: dict[str, Any] = yaml.safe_load(export_configuration())
    bundle["tables"]["ce_policy"][0]["response_text"] = "Never."
    bundle["tables"]["ce_policy"].append({**bundle["tables"]["ce_policy"][1], "policy_id": 3, "pattern": "theirs"})
    return name_content(bundle, THERE)


def name_content(bundle: dict[str, Any], content: str) -> dict[str, Any]:
    """The bundle as an export of a release there with this content."""
    bundle["base"] = {"release": 7, "content": content}
    bundle["ancestry"]["contents"].insert(0, content[:16])
    bundle["ancestry"]["checksum"] = _compute_checksum(bundle["tables"])
    return bundle


def edit_here() -> None:
    with change_set(reason="meanwhile"):
        m.CePolicy.objects.filter(pk=2).update(response_text="Not here.")
        make(m.CePolicy, policy_id=3, pattern="ours", **POLICY)


def data_of(bundle: dict[str, Any]) -> bytes:
    return yaml.safe_dump(bundle).encode()


def merge(bundle: dict[str, Any]) -> ImportResult:
    return import_document(read_bytes("x.yaml", data_of(bundle), merge=True), author="ada", reason="promotion")


def policies() -> list[tuple[int, str, str]]:
    return list(m.CePolicy.objects.order_by("pk").values_list("pk", "pattern", "response_text"))


def test_the_newest_known_content_is_the_base_and_a_new_row_with_a_taken_number_gets_another(
    theirs: dict[str, Any],
) -> None:
    edit_here()
    merge(theirs)
    assert policies() == [
        (1, "cvv", "Never."), (2, "pin", "Not here."), (3, "ours", "No."), (4, "theirs", "No."),
    ]  # fmt: skip


def test_the_next_export_is_merged_from_the_last_one(theirs: dict[str, Any]) -> None:
    edit_here()
    merge(theirs)
    with change_set(reason="again"):
        m.CePolicy.objects.filter(pk=4).update(priority=3)
        m.CePolicy.objects.filter(pk=1).update(response_text="No.")
    theirs["tables"]["ce_policy"][2]["response_text"] = "Later."
    merge(name_content(theirs, "b" * 64))
    # From the older base, the first row would be changed again, and the fourth be one more.
    assert policies() == [
        (1, "cvv", "No."), (2, "pin", "Not here."), (3, "ours", "No."), (4, "theirs", "Later."),
    ]  # fmt: skip
    assert m.CePolicy.objects.get(pk=4).priority == 3


def test_an_export_lists_what_was_imported_and_which_rows_have_another_number(theirs: dict[str, Any]) -> None:
    edit_here()
    release = merge(theirs).release
    assert release is not None
    contents = yaml.safe_load(export_configuration())["ancestry"]["contents"]
    assert contents[:2] == [
        release.content_hash[:16],
        {"content": THERE[:16], "numbers": {"ce_policy": {"3": 4}}},
    ]


def test_an_edited_file_is_merged_but_is_no_base_later(theirs: dict[str, Any]) -> None:
    edit_here()
    theirs["tables"]["ce_policy"][0]["response_text"] = "By hand."
    merge(theirs)
    assert m.CePolicy.objects.get(pk=1).response_text == "By hand."
    assert not m.CeReleaseSource.objects.exists()
    # The same file again adds no row twice.
    assert plan_import(read_bytes("x.yaml", data_of(theirs), merge=True)).differences == {}


def test_a_draft_takes_it_along_when_it_is_published(theirs: dict[str, Any]) -> None:
    draft = m.CeDraft.objects.create(title="May")
    with open_draft(draft.pk, writing=True):
        merge(theirs)
    assert not m.CeReleaseSource.objects.filter(config_version__isnull=False).exists()
    publish_draft(draft.pk)
    assert m.CeReleaseSource.objects.get().config_version == head.newest()
    assert plan_import(read_bytes("x.yaml", data_of(theirs), merge=True)).differences == {}


def test_a_file_keeps_its_base_when_an_equal_row_here_has_another_number(
    theirs: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with change_set(reason="the same row"):
        make(m.CePolicy, policy_id=9, pattern="theirs", **POLICY)
    file = tmp_path / "all.yaml"
    file.write_bytes(data_of(theirs))
    call_command("config_import", file, "--merge", "--apply", "--update-base")
    assert policies() == [(1, "cvv", "Never."), (2, "pin", "No."), (9, "theirs", "No.")]
    assert "all.yaml keeps its base, because it has other numbers for rows" in capsys.readouterr().err
    assert file.read_bytes() == data_of(theirs)


@pytest.mark.parametrize("contents", [None, "x", [5], [{"content": "x"}], [{"content": "x", "numbers": {"t": [1]}}]])
def test_a_damaged_ancestry_is_refused(contents: Any, theirs: dict[str, Any]) -> None:
    theirs["ancestry"]["contents"] = contents
    with pytest.raises(ValueError, match=r"^ancestry: is damaged\. Export again"):
        read_bytes("x.yaml", data_of(theirs))
