"""Edits are checked together, as forms check each of them. Changes of other people are reported first."""

from typing import Any

import pytest

from config_admin import models as m
from config_admin.editing.optimistic_lock import digest_of
from config_admin.grid import edits as grid_edits
from config_admin.grid.edits import CheckedEdits, Edit, check_edits, get_finding_key, save_edits
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.releases.content import content_of
from tests.config_admin.admin.pages import a_response, newest
from tests.config_admin.builders import make
from tests.config_admin.grid.conftest import edits, save_as_ada

pytestmark = pytest.mark.django_db


def judge_edits(*edited: tuple[m.ControlPlaneRow, dict[str, str]]) -> CheckedEdits:
    return check_edits(edited[0][0]._meta.db_table, edits(*edited), lambda row: "")


def test_every_bad_cell_is_named_with_what_is_wrong_with_it() -> None:
    first, second, good = (a_response(state_code=f"S{number}") for number in range(3))
    judged = judge_edits((first, {"priority": "soon"}), (second, {"exact_text": ""}), (good, {"priority": "9"}))

    assert [(finding.row, finding.field, finding.code) for finding in judged.findings] == [
        (first.pk, "priority", "PRIORITY_RANGE"),
        (second.pk, "exact_text", "EXACT_TEXT_REQUIRED"),
    ]
    assert "whole number" in judged.findings[0].message
    assert judged.is_held(confirmed=())


def test_only_warnings_that_are_new_hold_a_row() -> None:
    row = a_response(exact_text="Hello {{ nobody }}")
    assert not judge_edits((row, {"priority": "4"})).findings

    judged = judge_edits((row, {"exact_text": "Hello {{ nobody_else }}"}))
    assert judged.findings
    assert not any(finding.is_error for finding in judged.findings)


def test_what_others_changed_is_told_with_who_and_what_is_there_now() -> None:
    row, gone = a_response(), a_response()
    given = edits((row, {"priority": "5"}), (gone, {"priority": "6"}))
    with change_set(author="ben", reason="quicker"):
        m.CeResponse.objects.filter(pk=row.pk).update(exact_text="Theirs")
        m.CeResponse.objects.get(pk=gone.pk).delete()
    checked = check_edits("ce_response", given, lambda row: "")

    assert {pk: change.made_by for pk, (_, change) in checked.met.items()} == {row.pk: "ben", gone.pk: "ben"}
    content = checked.met[row.pk][0]
    assert content is not None
    assert content["exact_text"] == "Theirs"
    assert checked.met[gone.pk][0] is None
    assert not checked.findings
    assert checked.is_held(confirmed=())


def test_the_last_answers_to_what_nobody_understands_do_not_leave_together() -> None:
    stored = m.CeResponse.objects.get(intent_code="UNKNOWN", state_code="UNKNOWN")
    other = a_response(intent_code="UNKNOWN", state_code="UNKNOWN", priority=3)

    assert not judge_edits((stored, {"enabled": "no"})).findings
    codes = {
        finding.code for finding in judge_edits((stored, {"enabled": "no"}), (other, {"state_code": "IDLE"})).findings
    }
    assert "LAST_FALLBACK" in codes


def test_rows_are_judged_in_the_configuration_that_all_of_them_make() -> None:
    first, second = (make(m.CeMcpTool, intent_code="ANY", tool_code=code) for code in ("a.b", "c.d"))

    findings = judge_edits((first, {"tool_code": "c.d"}), (second, {"tool_code": "a.b"})).findings
    assert not [finding for finding in findings if finding.is_error]
    codes = [finding.code for finding in judge_edits((first, {"tool_code": "c.d"})).findings if finding.is_error]
    assert codes == ["DUPLICATE"]


def test_what_is_forbidden_is_said_at_the_row() -> None:
    row = a_response()
    checked = check_edits("ce_response", edits((row, {"priority": "5"})), lambda row: "Not you.")

    assert [(finding.field, finding.message) for finding in checked.findings] == [(None, "Not you.")]


def test_rows_that_swap_their_names_are_one_release_with_its_reason() -> None:
    first, second = (make(m.CeMcpTool, intent_code="ANY", tool_code=code) for code in ("a.b", "c.d"))
    version = head.newest()

    given = ((first, {"tool_code": "c.d"}), (second, {"tool_code": "a.b"}))
    done = save_as_ada(*given, confirmed=[get_finding_key(finding) for finding in save_as_ada(*given).verdict.findings])

    assert done.release == newest()
    assert (newest().pk, newest().author, newest().reason) == (version + 1, "ada", "tidy")
    assert {row.pk: row.tool_code for row in m.CeMcpTool.objects.all()} == {first.pk: "c.d", second.pk: "a.b"}
    assert first.history.first().history_change_reason == "tidy"


def test_one_bad_cell_keeps_everything_as_it_is() -> None:
    rows = [a_response(priority=number) for number in range(5)]
    version = head.newest()

    done = save_as_ada(*((row, {"priority": "90"}) for row in rows[:4]), (rows[4], {"exact_text": "{{"}))

    assert done.is_held
    assert head.newest() == version
    assert not m.CeResponse.objects.filter(priority=90).exists()


def test_a_warning_holds_until_somebody_has_seen_it() -> None:
    row = a_response()
    given = (row, {"exact_text": "Hello {{ nobody }}"})
    done = save_as_ada(given)
    assert done.is_held

    assert not save_as_ada(given, confirmed=[get_finding_key(finding) for finding in done.verdict.findings]).is_held
    row.refresh_from_db()
    assert row.exact_text == "Hello {{ nobody }}"


def test_nothing_different_is_no_release() -> None:
    row = a_response()
    version = head.newest()

    done = save_as_ada((row, {"priority": str(row.priority), "exact_text": f" {row.exact_text} "}))

    assert not done.is_held
    assert done.release is None
    assert head.newest() == version


def test_older_templates_are_stored_as_forms_store_them() -> None:
    row = a_response()
    done = save_as_ada((row, {"exact_text": "Hello #{user_name}"}))
    done = save_as_ada(
        (row, {"exact_text": "Hello #{user_name}"}),
        confirmed=[get_finding_key(finding) for finding in done.verdict.findings],
    )

    row.refresh_from_db()
    assert row.exact_text == "Hello {{ user_name }}"
    assert done.verdict.conversions


def test_what_somebody_saves_between_judging_and_writing_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    row = a_response()
    given = edits((row, {"priority": "5"}))

    def late(*args: Any) -> Any:
        monkeypatch.setattr(grid_edits, "check_edits", check_edits)
        checked = check_edits(*args)
        with change_set(author="ben"):
            m.CeResponse.objects.filter(pk=row.pk).update(priority=8)
        return checked

    monkeypatch.setattr(grid_edits, "check_edits", late)
    done = grid_edits.save_edits("ce_response", given, lambda row: "", author="ada", reason="tidy")

    row.refresh_from_db()
    assert done.is_held
    assert done.verdict.met[row.pk][1].made_by == "ben"
    assert row.priority == 8


def test_rows_are_added_edited_and_deleted_as_one_release() -> None:
    kept, gone = a_response(priority=7), a_response(state_code="OLD")
    version = head.newest()
    given = {
        "new-1": Edit(
            texts={"intent_code": "any", "state_code": "NEW", "response_type": "EXACT", "exact_text": "Hi"},
            is_new=True,
        ),
        **edits((kept, {"priority": "8"})),
        gone.pk: Edit(digest_of(content_of(gone)), is_deleted=True),
    }
    done = save_edits("ce_response", given, lambda row: "", author="ada", reason="tidy")

    assert not done.verdict.findings
    assert head.newest() == version + 1
    (pk,) = done.verdict.names
    made = m.CeResponse.objects.get(pk=pk)
    assert (made.intent_code, made.exact_text, made.enabled) == ("ANY", "Hi", True)
    assert pk > gone.pk
    assert not m.CeResponse.objects.filter(pk=gone.pk).exists()
    assert m.CeResponse.objects.get(pk=kept.pk).priority == 8


def test_an_incomplete_new_row_and_a_row_in_use_keep_everything_as_it_is() -> None:
    stored = m.CeResponse.objects.get(intent_code="UNKNOWN", state_code="UNKNOWN")
    given = {
        "new-1": Edit(is_new=True),
        stored.pk: Edit(digest_of(content_of(stored)), is_deleted=True),
    }
    done = save_edits("ce_response", given, lambda row: "", author="ada", reason="tidy")

    assert done.is_held
    assert [finding.code for finding in done.verdict.findings if finding.row == stored.pk] == ["LAST_FALLBACK"]
    assert {finding.field for finding in done.verdict.findings if finding.row in done.verdict.names} >= {
        "response_type"
    }


@pytest.mark.parametrize(("name", "problem"), [("", "Enter a name."), ("loan", "LOAN exists already.")])
def test_the_name_of_a_new_row_must_be_typed_and_free(name: str, problem: str) -> None:
    make(m.CeIntent)
    names = {"new-1": name, "new-2": "NEW_ONE"}
    given: dict[Any, Edit] = {
        key: Edit(texts={"intent_code": code, "description": "Why."}, is_new=True) for key, code in names.items()
    }
    (finding,) = check_edits("ce_intent", given, lambda row: "").findings

    assert (finding.row, finding.field) == ("new-1", "intent_code")
    assert problem in finding.message


def test_a_row_that_is_deleted_although_somebody_changed_it_is_told_first() -> None:
    row = a_response()
    given = {row.pk: Edit(digest_of(content_of(row)), is_deleted=True)}
    with change_set(author="ben"):
        m.CeResponse.objects.filter(pk=row.pk).update(exact_text="Theirs")

    assert check_edits("ce_response", given, lambda row: "").met[row.pk][1].made_by == "ben"


def test_a_deletion_that_is_forbidden_is_said_at_the_row() -> None:
    row = a_response()
    given = {row.pk: Edit(digest_of(content_of(row)), is_deleted=True)}

    assert [each.message for each in check_edits("ce_response", given, lambda row: "Not you.").findings] == ["Not you."]
