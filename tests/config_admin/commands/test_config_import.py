"""`manage.py config_export`, `config_import` and `config_diff`: files out, judged, compared, and in."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from config_admin import models as m
from config_admin.releases import head
from config_admin.releases.models import CeRelease
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
POLICY = {"policy_id": 7, "rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}


def run(*words: Any, fails: bool = False) -> str:
    out = StringIO()
    if fails:
        with pytest.raises(SystemExit) as ended:
            call_command(*map(str, words), stdout=out)
        assert ended.value.code == 1
    else:
        call_command(*map(str, words), stdout=out)
    return out.getvalue()


def file_of(folder: Path, *rows: dict[str, Any], name: str = "some.json") -> Path:
    file = folder / name
    file.write_text(json.dumps({"ce_policy": rows}))
    return file


def test_what_is_printed_is_what_a_file_gets(tmp_path: Path) -> None:
    make(m.CeIntent, intent_code="LOAN")
    file = tmp_path / "all.json"
    run("config_export", file)
    assert run("config_export", "--format", "json") == file.read_text()
    assert run("config_export", "--table", "ce_policy", "--no-base").splitlines()[4:] == ["tables:", "  ce_policy: []"]
    assert "LOAN" not in run("config_export", "--release", head.newest() - 1)
    assert run("config_export", "--table", "ce_policy", "--format", "csv").startswith("policy_id,rule_type,")
    with pytest.raises(CommandError, match="A CSV file contains one table"):
        run("config_export", tmp_path / "all.csv")
    with pytest.raises(CommandError, match="Release 999"):
        run("config_export", "--release", 999)
    with pytest.raises(CommandError, match="No such file"):
        run("config_export", tmp_path / "none" / "x.yaml")


def test_a_workbook_goes_out_and_comes_in(tmp_path: Path) -> None:
    make(m.CePolicy, policy_id=7)
    file = tmp_path / "all.xlsx"
    run("config_export", file)
    with pytest.raises(CommandError, match="Name a FILE"):
        run("config_export", "--format", "xlsx")

    assert run("config_import", file).splitlines()[0] == "No differences."


def test_without_apply_nothing_is_changed(tmp_path: Path) -> None:
    make(m.CePolicy, policy_id=8, response_text="Never.")
    file, version = file_of(tmp_path, POLICY, {**POLICY, "policy_id": 8}), head.newest()
    output = run("config_import", file)
    assert output.splitlines()[:3] == [
        "Policies: 1 added, 1 changed, 0 removed",
        "  + Policy 7 · Contains: cvv",
        "  ~ Policy 8 · Contains: cvv (changed: answer)",
    ]
    assert output.splitlines()[-1] == "Nothing was changed. Use --apply to import."
    assert head.newest() == version


def test_with_apply_it_is_one_release_of_somebody_for_some_reason(tmp_path: Path) -> None:
    User.objects.create_superuser("ada")
    output = run("config_import", file_of(tmp_path, POLICY), "--apply", "--author", "ada", "--reason", "moved")
    release = CeRelease.objects.get(pk=head.newest())
    assert output.splitlines()[-1] == f"Imported as release {release.pk}."
    assert (release.author, release.reason, release.origin) == ("ada", "moved", "IMPORT")
    again = run("config_import", file_of(tmp_path, POLICY), "--apply")
    assert again.splitlines() == ["No differences.", "The file contains no changes."]


def test_refused_rows_are_named_and_the_rest_comes_when_asked_for(tmp_path: Path) -> None:
    file = file_of(tmp_path, POLICY, {**POLICY, "policy_id": 9, "rule_type": "REGULAR"})
    output = run("config_import", file, "--apply", fails=True)
    assert "Policies, row 2, match type: " in output
    assert "(REGEX)" in output
    assert not m.CePolicy.objects.exists()

    report = json.loads(run("config_import", file, "--json", fails=True))
    [finding] = report["findings"]
    assert (finding["where"], finding["row"], finding["field"]) == ("Policies, row 2", 9, "rule_type")
    assert (report["refused"], report["applied"], report["release"]) == (True, False, None)

    output = run("config_import", file, "--apply", "--rest")
    assert "Left out (1)" in output
    assert list(m.CePolicy.objects.values_list("pk", flat=True)) == [7]


def test_files_that_cannot_be_read_say_where(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("ce_policy: [")
    (tmp_path / "latin.yaml").write_bytes(b"ce_policy: \xe9")
    for name, message in (
        ("bad.yaml", "not valid YAML"),
        ("latin.yaml", "not UTF-8 text .byte 11"),
        ("none.yaml", "cannot be read: No such file"),
    ):
        with pytest.raises(CommandError, match=message):
            run("config_import", tmp_path / name)


def test_releases_and_files_are_compared_in_any_pair(tmp_path: Path) -> None:
    make(m.CePolicy, policy_id=7, pattern="pin")
    version = head.newest()
    first_file, two = (
        file_of(tmp_path, POLICY),
        file_of(tmp_path, {**POLICY, "pattern": "iban"}, POLICY | {"policy_id": 8}, name="two.json"),
    )

    def list_differences(before: Any, after: Any) -> list[str]:
        return run("config_diff", before, after).splitlines()

    assert list_differences(version - 1, version) == [
        "Policies: 1 added, 0 changed, 0 removed",
        "  + Policy 7 · Contains: pin",
    ]
    assert list_differences(version, first_file) == [
        "Policies: 0 added, 1 changed, 0 removed",
        "  ~ Policy 7 · Contains: cvv (changed: pattern)",
    ]
    assert list_differences(first_file, version)[1] == "  ~ Policy 7 · Contains: pin (changed: pattern)"
    assert list_differences(first_file, two) == [
        "Policies: 1 added, 1 changed, 0 removed",
        "  + Policy 8 · Contains: cvv",
        "  ~ Policy 7 · Contains: iban (changed: pattern)",
    ]
    assert list_differences(two, first_file)[0] == "Policies: 0 added, 1 changed, 1 removed"
    assert list_differences(first_file, first_file) == ["No differences."]
    report = json.loads(run("config_diff", version, first_file, "--json"))
    assert report["ce_policy"]["changed"][0]["fields"]["pattern"] == ["pin", "cvv"]
    with pytest.raises(CommandError, match="Release 999"):
        run("config_diff", 999, first_file)
    with pytest.raises(CommandError, match="Policies, row 1: colour"):
        run("config_diff", first_file, file_of(tmp_path, {"colour": 1}, name="bad.json"))


def test_a_draft_is_made_only_if_the_import_stores_something_in_it(tmp_path: Path) -> None:
    User.objects.create_superuser("ada")
    refused = file_of(tmp_path, {**POLICY, "rule_type": "X"}, name="refused.json")
    empty = file_of(tmp_path, name="empty.json")
    words = ("--apply", "--author", "ada", "--draft", "Cards")

    assert "Nothing was changed" in run("config_import", refused, *words, fails=True)
    assert "The file contains no changes." in run("config_import", empty, *words)
    assert not m.CeDraft.objects.exists()
    run("config_import", file_of(tmp_path, POLICY), *words)
    assert m.CeDraft.objects.get().title == "Cards"
