"""The page that finds turns: the address is the search, errors help, searches have names, and looks are noted."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import CeAccessLog, CeSavedSearch
from audit.search.page import SIZE
from config_admin.models import CeIntent, CeResponse
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.release_history import release_history
from tests.audit.search.records import conversation, turn
from tests.sign_in import sign_in_superuser
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def address() -> str:
    return reverse("admin:audit_ceaudit_find")


def member(name: str, group: str = "qa") -> Client:
    user, _ = User.objects.get_or_create(username=name, defaults={"is_staff": True})
    user.groups.set(Group.objects.filter(name=group))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def reader(db: None) -> Client:
    return member("quinn")


def list_shown_turns(answer: Any) -> list[int]:
    return [line.turn.pk for line in answer.context["lines"]]


def test_without_a_question_the_newest_turns_are_shown(reader: Client, address: str) -> None:
    turns = [turn(number).pk for number in range(3)]

    assert list_shown_turns(reader.get(address)) == turns[::-1]


def test_the_time_is_the_first_filter_and_says_its_zone(reader: Client, address: str) -> None:
    page = reader.get(address)

    (_, first), *_ = page.context["groups"]
    assert [field.name for field in first][:2] == ["since", "until"]
    assert page.content.decode().count("Time zone: UTC.") == 2


def test_what_was_left_empty_is_not_part_of_the_address(reader: Client, address: str) -> None:
    answer = reader.get(address, {"q": " late ", "intent": "", "show": "turns"})

    assert answer.headers["Location"] == f"{address}?q=late"


@pytest.mark.dialects
def test_the_address_is_the_search(reader: Client, address: str) -> None:
    mine = turn(1, conversation(remote_jid="+4912"), user_input="Where is my <parcel>?", intent_code="TRACK")
    turn(2, user_input="parcel")

    answer = reader.get(address, {"q": "PARCEL", "participant": "+4912", "intent": "track", "show": "conversations"})

    text = answer.content.decode()
    assert list_shown_turns(answer) == [mine.pk]
    assert "Where is my &lt;<mark>parcel</mark>&gt;?" in text
    assert 'value="PARCEL"' in text
    without = f"{address}?q=PARCEL&amp;participant=%2B4912&amp;show=conversations"
    assert f'href="{without}" aria-label="Remove the filter Intent"' in text


@pytest.mark.dialects
def test_a_page_leads_to_its_neighbours(reader: Client, address: str) -> None:
    turns = [turn(number, state_code="ASKED").pk for number in range(30)]

    first = reader.get(address, {"state": "ASKED"})
    second = reader.get(first.context["older"])

    assert list_shown_turns(first) + list_shown_turns(second) == turns[::-1]
    assert list_shown_turns(reader.get(second.context["newer"])) == list_shown_turns(first)
    assert second.context["newest"] == f"{address}?state=ASKED"
    assert not second.context["older"]


@pytest.mark.parametrize(
    ("given", "field", "told"),
    [
        ({"q": "?!"}, "q", "contains no word"),
        ({"q": "in*"}, "q", "at least 3 letters"),
        ({"id": "12"}, "id", "is not an ID. Copy a complete ID"),
        ({"row": "17"}, "table", "Choose the type of the row"),
        ({"table": "ce_rule"}, "row", "number or code of the row"),
        ({"since": "2026-02-02", "until": "2026-02-01"}, "until", "must be after the start"),
        ({"since": "yesterday"}, "since", "This is not a valid time"),
        ({"release": "x"}, "release", "whole number"),
        ({"cost": "-1"}, "cost", "greater than or equal to 0"),
        ({"stage": "NOT_ONE"}, "stage", "NOT_ONE"),
    ],
)
def test_what_cannot_be_read_is_told_at_its_field(
    reader: Client, address: str, given: dict[str, str], field: str, told: str
) -> None:
    answer = reader.get(address, given)

    text = answer.content.decode()
    assert told in answer.context["form"].errors[field][0]
    assert f'id="id_{field}_error"' in text
    assert "Not searched yet" in text
    assert f'<a class="ce-link" href="#id_{field}">' in text
    assert "found" not in answer.context


@pytest.mark.parametrize(("until", "shown"), [("2026-05-04", ' value="2026-05-04T00:00:00"'), ("soon", "")])
def test_a_time_with_an_error_stays_in_a_field_of_times(reader: Client, address: str, until: str, shown: str) -> None:
    text = reader.get(address, {"since": "2026-05-05T10:00", "until": until}).content.decode()

    (field,) = re.findall(r'<input [^>]*name="until"[^>]*>', text)
    assert 'type="datetime-local"' in field
    assert "".join(re.findall(r' value="[^"]*"', field)) == shown
    assert 'aria-invalid="true"' in field


def test_where_nothing_is_found_it_says_why_that_may_be(reader: Client, address: str) -> None:
    text = reader.get(address, {"intent": "GONE", "state": "LOST", "participant": "+49", "q": "x"}).content.decode()

    assert "No turn matches all filters." in text
    for hint in (
        "does not have the intent GONE",
        "does not have the state LOST",
        "No participant has “+49” in the name or number",
        "whole words",
    ):
        assert hint in text


def test_turns_before_a_rename_are_linked(reader: Client, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = turn(1, intent_code="LOAN").pk
    monkeypatch.setattr(
        type(release_history()), "older_codes", staticmethod(lambda intent: ["LOAN"] * (intent == "CREDIT"))
    )

    page = reader.get(address, {"intent": "CREDIT"})

    assert "This intent was renamed." in page.content.decode()
    ((_, link),) = page.context["older_codes"]
    assert list_shown_turns(reader.get(link)) == [old]
    assert "renamed" not in reader.get(link).content.decode()


def test_a_strange_place_in_the_list_is_its_beginning(reader: Client, address: str) -> None:
    made = turn()

    answer = reader.get(address, {"at": "nonsense"})

    assert list_shown_turns(answer) == [made.pk]
    assert "The first page is shown" in answer.content.decode()


@pytest.mark.dialects
def test_a_search_is_kept_under_a_name_for_oneself_or_for_all(reader: Client, address: str) -> None:
    other = member("vera")
    of_tracks = f"{address}?intent=TRACK"
    reader.post(of_tracks, {"name": "Tracking"})
    reader.post(of_tracks, {"name": "For all", "shared": "on"})

    def names(client: Client) -> list[str]:
        return [one.name for one, *_ in client.get(address).context["saved_searches"]]

    assert names(reader) == ["For all", "Tracking"]
    assert names(other) == ["For all"]
    kept = CeSavedSearch.objects.get(name="Tracking")
    assert f'href="{address}?{kept.query}"' in reader.get(address).content.decode()
    assert kept.query == "intent=TRACK"

    assert "You already have a search with this name" in reader.post(of_tracks, {"name": "Tracking"}).content.decode()
    assert "Enter a name for the search" in reader.post(of_tracks, {"name": ""}).content.decode()
    assert "has no filters" in reader.post(address, {"name": "Empty"}).content.decode()

    mine, all_ = kept.pk, CeSavedSearch.objects.get(name="For all").pk
    for pk in (mine, all_, "x", "9" * 30):
        other.post(address, {"delete": pk})
    assert CeSavedSearch.objects.count() == 2
    reader.post(address, {"delete": mine})
    ada = sign_in_superuser()
    ada.post(address, {"delete": all_})
    assert not CeSavedSearch.objects.exists()


def test_every_search_is_noted_with_who_made_it(reader: Client, address: str) -> None:
    reader.get(address, {"participant": "+4912"})
    reader.get(address, {"q": "?"})

    (look,) = CeAccessLog.objects.all()
    assert (look.reader, look.kind, look.search) == ("quinn", "SEARCH", "participant=%2B4912")


def test_operators_find_no_conversations(address: str) -> None:
    assert member("otto", "operator").get(address).status_code == 403


@pytest.mark.dialects
def test_the_page_costs_the_same_number_of_statements_for_any_number_of_turns(reader: Client, address: str) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            reader.get(address, {"intent": "TRACK"})
        assert not [one for one in captured.captured_queries if "COUNT(" in one["sql"]]
        return len(captured)

    turn(0, intent_code="TRACK", costs=["0.5"])
    statements()
    few = statements()
    for number in range(1, SIZE):
        turn(number, conversation(remote_jid=f"+{number}"), intent_code="TRACK", costs=["0.1"])

    assert statements() == few
    assert few <= 14


def test_a_line_leads_to_the_page_that_makes_a_test_of_it(address: str) -> None:
    row = turn(user_input="hours")
    link = f"?as=test&amp;first={row.turn_no}&amp;last={row.turn_no}"
    assert link in member("ada", "analyst").get(address).content.decode()
    assert link not in member("otto", "operator").get(address).content.decode()


def test_codes_have_their_labels_beside_them(reader: Client, address: str) -> None:
    create_help_desk()
    CeIntent.objects.filter(intent_code="HOURS").update(display_name="Opening hours")
    turn(1, intent_code="HOURS", state_code="HAND_OVER", status="FAILED", error_code="TOOL_TIMEOUT")
    configuration().current()

    page = reader.get(address, {"intent": "hours", "state": "HAND_OVER", "error": "TOOL_TIMEOUT"})

    text = " ".join(page.content.decode().split())
    assert "Opening hours / Handed over <small>HOURS / HAND_OVER ·" in text
    assert '<small class="ce-bad">Tool timeout</small> <small>TOOL_TIMEOUT</small>' in text
    assert [value for _, value, _ in page.context["active_filters"]] == [
        "Opening hours (HOURS)", "Handed over (HAND_OVER)", "Tool timeout (TOOL_TIMEOUT)"
    ]  # fmt: skip
    assert '<option value="HOURS">Opening hours</option>' in text
    assert f"{NOT_UNDERSTOOD.label} ({NOT_UNDERSTOOD})" in text


def test_a_row_and_a_step_of_a_form_are_filters_in_words(reader: Client, address: str) -> None:
    create_help_desk()
    configuration().current()
    answer = CeResponse.objects.order_by("pk")[0]
    page = reader.get(address, {"table": "ce_response", "row": str(answer.pk), "step": "7/ASKED:phone"})
    shown = {label: value for label, value, _ in page.context["active_filters"]}
    assert shown["Number or code of the row"].endswith(f"({answer.pk})")
    assert len(shown["Number or code of the row"]) > len(f"({answer.pk})")
    assert shown["Step of a form"] == "Asked: phone (7/ASKED:phone)"
