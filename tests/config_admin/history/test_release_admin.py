"""Releases: what each changed, and the ways back."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.editing.links import release_url
from config_admin.health.check import check_all
from config_admin.health.stored_findings import store_findings
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from config_admin.validation.world import World
from tests.config_admin.admin.pages import a_response, address, newest, read_message
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
WHY = {"reason": "It was better before"}
UNANSWERED = "This leads to intent LOAN, state LATER, which has no answer."


def way_back(name: str, version: int) -> str:
    return reverse(f"admin:config_admin_cerelease_{name}", args=[version])


def change(row: Any, origin: Origin = Origin.SHELL, author: str = "", **values: Any) -> int:
    with change_set(origin, author):
        for name, value in values.items():
            setattr(row, name, value)
        row.save()
    return int(newest().pk)


def test_a_release_shows_what_it_changed(ada: Client) -> None:
    row = a_response()
    version = change(row, priority=7)

    page = ada.get(address(m.CeRelease, "change", version))

    (shown,) = page.context["comparison"].rows
    assert (shown.name, shown.how) == (f"Answer {row.pk}", "changed")
    assert [change.label for change in shown.changes] == ["Priority"]


def test_the_list_reads_one_page_and_counts_nothing(ada: Client, django_assert_max_num_queries: Any) -> None:
    for priority in range(20):
        change(m.CeResponse.objects.get(), priority=priority)

    with django_assert_max_num_queries(6) as queries:
        first = ada.get(address(m.CeRelease))
    second = ada.get(address(m.CeRelease) + first.context["cl"].paginator.older)

    assert not [query for query in queries.captured_queries if "COUNT(" in query["sql"]]
    versions = [release.pk for page in (first, second) for release in page.context["cl"].result_list]
    assert versions == sorted(versions, reverse=True)
    assert versions[-1] == 1


def test_rolling_back_asks_and_shows_what_would_change(ada: Client) -> None:
    row = a_response()
    first = newest().pk
    change(row, priority=7)

    page = ada.get(way_back("roll_back", first))

    assert [shown.name for shown in page.context["question"].rows] == [f"Answer {row.pk}"]
    row.refresh_from_db()
    assert row.priority == 7


def test_rolling_back_makes_a_release_with_who_and_why(ada: Client) -> None:
    row = a_response()
    first = newest().pk
    change(row, priority=7)

    response = ada.post(way_back("roll_back", first), {"reason": "Night shift"})

    row.refresh_from_db()
    assert row.priority == 100
    assert (newest().origin, newest().author, newest().reason) == ("ROLLBACK", "ada", "Night shift")
    assert f"Release {newest().pk}</a> is active" in read_message(response, ada)


def test_taking_back_one_release_keeps_what_came_after(ada: Client) -> None:
    row, other = a_response(), a_response(priority=50)
    wrong = change(row, priority=7)
    change(other, priority=51)

    ada.post(way_back("take_back", wrong), WHY)

    row.refresh_from_db()
    other.refresh_from_db()
    assert (row.priority, other.priority) == (100, 51)
    assert (newest().origin, newest().reason) == ("REVERT", WHY["reason"])


def test_a_change_on_top_is_not_undone_in_silence(ada: Client) -> None:
    row = a_response()
    wrong = change(row, priority=7)
    change(row, priority=8)

    page = ada.post(way_back("take_back", wrong), WHY)

    row.refresh_from_db()
    assert row.priority == 8
    assert "Later releases changed these rows again" in page.content.decode()
    assert [name for _, name in page.context["question"].refusals[0].rows] == [f"Answer {row.pk}"]


def test_taking_back_leaves_other_fields_as_they_became_since(ada: Client) -> None:
    row = a_response()
    wrong = change(row, priority=7)
    change(row, exact_text="How much, please?")

    response = ada.get(way_back("take_back", wrong))
    ada.post(way_back("take_back", wrong), WHY)

    row.refresh_from_db()
    assert (row.priority, row.exact_text) == (100, "How much, please?")
    assert [change.label for change in response.context["question"].rows[0].changes] == ["Priority"]


def test_an_answer_to_a_preview_that_is_old_is_asked_again(ada: Client) -> None:
    row = a_response()
    first = newest().pk
    change(row, priority=7)
    inputs = dict(ada.get(way_back("roll_back", first)).context["question"].inputs)
    last = change(row, priority=8)

    again = ada.post(way_back("roll_back", first), WHY | inputs)
    row.refresh_from_db()
    assert row.priority == 8
    assert f"Release {last} was created meanwhile." in again.content.decode()

    ada.post(way_back("roll_back", first), WHY | dict(again.context["question"].inputs))
    row.refresh_from_db()
    assert row.priority == 100


def test_rolling_back_to_what_is_in_force_is_refused(ada: Client) -> None:
    before = newest().pk

    page = ada.post(way_back("roll_back", before), WHY)

    assert "There are no differences" in page.content.decode()
    assert newest().pk == before


def test_errors_of_rows_that_would_be_restored_are_listed(ada: Client) -> None:
    with change_set():
        make(m.CeIntent, intent_code="LOAN")
        rules = [make(m.CeRule, rule_type="REGEX", match_pattern=pattern) for pattern in ("(", "[")]
    wrong = newest().pk
    with change_set():
        m.CeRule.objects.update(match_pattern="yes")
    before = newest().pk

    for page in (ada.get(way_back("roll_back", wrong)), ada.post(way_back("roll_back", wrong), WHY)):
        messages = [refusal.message for refusal in page.context["question"].refusals]
        assert [text.split(":")[0] for text in messages] == [f"Rule {rule.pk}, condition" for rule in rules]
        assert all(text.endswith("(REGEX_INVALID)") for text in messages)
    assert newest().pk == before


def test_weak_rows_that_would_be_restored_are_told(ada: Client) -> None:
    with change_set():
        make(m.CeIntent, intent_code="LOAN")
        rule = make(m.CeRule, intent_code="ANY", state_code="ANY", match_pattern="ANY")
    weak = newest().pk
    with change_set():
        m.CeRule.objects.all().delete()

    page = ada.get(way_back("roll_back", weak))

    assert not page.context["question"].refusals
    assert [f"Rule {rule.pk}" in text for text in page.context["question"].warnings] == [True]
    ada.post(way_back("roll_back", weak), WHY)
    assert m.CeRule.objects.filter(pk=rule.pk).exists()


def test_more_findings_than_people_read_are_counted(ada: Client, monkeypatch: Any) -> None:
    from config_admin.editing import confirmation
    from config_admin.history import release_admin as release

    for module in (release, confirmation):
        monkeypatch.setattr(module, "SHOWN", 2)
    with change_set():
        make(m.CeIntent, intent_code="LOAN")
        for priority in range(4):
            make(m.CeRule, priority=priority)
    weak = newest().pk
    with change_set():
        m.CeRule.objects.all().delete()

    question = ada.get(way_back("roll_back", weak)).context["question"]

    assert (len(question.rows), question.more) == (2, 2)
    assert question.warnings[2].startswith("… and ")


def test_analysts_roll_nothing_back(ben: Client) -> None:
    first = newest().pk
    a_response()

    assert "Roll back" not in ben.get(address(m.CeRelease, "change", first)).content.decode()
    assert ben.post(way_back("roll_back", first)).status_code == 403


@pytest.mark.parametrize("author", ["ben", "cleo"])
def test_analysts_undo_their_own_and_other_analysts_releases(ben: Client, author: str) -> None:
    row = a_response()
    wrong = change(row, Origin.ADMIN, author, priority=7)

    shown = ben.get(address(m.CeRelease, "change", wrong)).content.decode()
    preview = ben.get(way_back("take_back", wrong)).context["question"]
    ben.post(way_back("take_back", wrong), WHY)

    row.refresh_from_db()
    assert way_back("take_back", wrong) in shown
    assert ([changed.name for changed in preview.rows], preview.refusals) == ([f"Answer {row.pk}"], [])
    assert (row.priority, newest().origin, newest().author) == (100, "REVERT", "ben")


def test_analysts_do_not_undo_what_a_script_did(ben: Client, ada: Client) -> None:
    row = a_response()
    wrong = change(row, Origin.SHELL, priority=7)

    shown = ben.get(address(m.CeRelease, "change", wrong)).content.decode()
    page = ben.post(way_back("take_back", wrong), WHY)

    row.refresh_from_db()
    assert row.priority == 7
    assert way_back("take_back", wrong) not in shown
    assert "Only configuration administrators can undo this release" in shown
    assert "(origin: script or shell). Ask one." in page.content.decode()
    ada.post(way_back("take_back", wrong), WHY)
    row.refresh_from_db()
    assert row.priority == 100


def test_analysts_do_not_undo_changes_of_rows_that_are_reserved(ben: Client) -> None:
    with change_set(Origin.ADMIN, "ada"):
        make(m.CeMcpServer)
    wrong = newest().pk

    page = ben.post(way_back("take_back", wrong), WHY)

    messages = [refusal.message for refusal in page.context["question"].refusals]
    assert messages[0].startswith("You may not delete MCP servers: only configuration administrators may. Ask one.")
    assert m.CeMcpServer.objects.exists()


def test_readers_are_offered_no_undo(somebody: Any) -> None:
    row = a_response()
    wrong = change(row, Origin.ADMIN, priority=7)
    quinn = somebody("quinn", "qa")

    assert "Undo" not in quinn.get(address(m.CeRelease, "change", wrong)).content.decode()
    assert quinn.get(way_back("take_back", wrong)).status_code == 403


def test_releases_are_neither_made_nor_changed_by_hand(ada: Client) -> None:
    assert ada.get(address(m.CeRelease, "add")).status_code == 403
    assert ada.post(address(m.CeRelease, "change", 1), {"reason": "x"}).status_code == 403
    assert ada.post(address(m.CeRelease, "delete", 1), {"post": "yes"}).status_code == 403


def test_a_release_that_never_was_is_not_found(ada: Client) -> None:
    assert ada.get(way_back("roll_back", 4711)).status_code == 404


def test_a_state_without_an_answer_is_told_on_the_page_of_its_release(ada: Client) -> None:
    with change_set():
        make(m.CeIntent)
        make(m.CeRule, state_code="ANY", action_value="LATER")
    made = snapshots.current().config_version
    page = ada.get(release_url(made)).content.decode()

    assert "Findings of this release" in page
    assert UNANSWERED in page

    snapshot = snapshots.current()
    store_findings(check_all(snapshot, World()), snapshot)
    with change_set():
        make(m.CeIntent, intent_code="CARD")
    assert UNANSWERED in ada.get(release_url(made)).content.decode()
    assert UNANSWERED not in ada.get(release_url(made + 1)).content.decode()
