"""Edits are saved as one release or not at all."""

from typing import Any

import pytest

from config_admin import models as m
from config_admin.grid import save_edits
from config_admin.grid.check_edits import judge, key_of
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, newest
from tests.config_admin.builders import make
from tests.config_admin.grid.conftest import edits, save_as_ada

pytestmark = pytest.mark.django_db


def test_rows_that_swap_their_names_are_one_release_with_its_reason() -> None:
    first, second = (make(m.CeMcpTool, intent_code="ANY", tool_code=code) for code in ("a.b", "c.d"))
    version = head.newest()

    given = ((first, {"tool_code": "c.d"}), (second, {"tool_code": "a.b"}))
    done = save_as_ada(*given, confirmed=[key_of(one) for one in save_as_ada(*given).verdict.findings])

    assert done.release == newest()
    assert (newest().pk, newest().author, newest().reason) == (version + 1, "ada", "tidy")
    assert {row.pk: row.tool_code for row in m.CeMcpTool.objects.all()} == {first.pk: "c.d", second.pk: "a.b"}
    assert first.history.first().history_change_reason == "tidy"


def test_one_bad_cell_keeps_everything_as_it_is() -> None:
    rows = [a_response(priority=place) for place in range(5)]
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

    assert not save_as_ada(given, confirmed=[key_of(one) for one in done.verdict.findings]).is_held
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
        (row, {"exact_text": "Hello #{user_name}"}), confirmed=[key_of(one) for one in done.verdict.findings]
    )

    row.refresh_from_db()
    assert row.exact_text == "Hello {{ user_name }}"
    assert done.verdict.conversions


def test_what_somebody_saves_between_judging_and_writing_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    row = a_response()
    given = edits((row, {"priority": "5"}))

    def late(*args: Any) -> Any:
        monkeypatch.setattr(save_edits, "judge", judge)
        found = judge(*args)
        with change_set(author="ben"):
            m.CeResponse.objects.filter(pk=row.pk).update(priority=8)
        return found

    monkeypatch.setattr(save_edits, "judge", late)
    done = save_edits.save("ce_response", given, lambda row: "", author="ada", reason="tidy")

    row.refresh_from_db()
    assert done.is_held
    assert done.verdict.met[row.pk][1].who == "ben"
    assert row.priority == 8
