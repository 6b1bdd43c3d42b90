"""What enters is cleaned once. `tests/test_hostile_values.py` sends such values to every call and list."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import path
from rest_framework.exceptions import NotAuthenticated

from audit.api.access_scope import require_signed_in_reader
from convengine.engine.errors import RequestInvalid
from convengine.engine.turn.codec import clean_texts
from convengine.server.api.clean_input import refuse_unstorable_texts
from convengine.server.sessions.models import CeConversation
from tests.api import Caller, make_key
from tests.worlds import create_help_desk


def show_query(request: HttpRequest) -> HttpResponse:
    return HttpResponse(repr((request.GET.get("q"), request.POST.get("q"))))


# Pages of a project beside ours, and ours, which are known by their module.
show_query_of_ours = type("View", (), {"__call__": staticmethod(show_query), "__module__": "convengine.some_page"})()
urlpatterns = [path("theirs", show_query), path("ours", show_query_of_ours)]


@pytest.mark.parametrize(("address", "query", "form"), [("/ours", "a\ufffdb", "c\ufffd"), ("/theirs", "a\0b", "c\0")])
@override_settings(ROOT_URLCONF=__name__)
def test_pages_of_ours_read_no_nul(address: str, query: str, form: str) -> None:
    answer = Client().post(f"{address}?q=a%00b", {"q": "c\0"})

    assert answer.content.decode() == repr((query, form))


@pytest.mark.django_db
def test_no_page_has_nul_in_its_address() -> None:
    client = Client()
    client.force_login(User.objects.create_user("boss", is_staff=True, is_superuser=True))

    assert client.get("/admin/ce_jobs/cejob/a%00b/change/").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["/admin/", "/admin/login/"])
def test_a_cookie_with_nul_is_as_if_it_was_not_sent(page: str) -> None:
    answer = Client().get(page, headers={"Cookie": r'sessionid="\000aaaaaaaaaa"'})

    assert answer.status_code < 500


@pytest.mark.django_db
def test_a_reader_of_a_stream_whose_cookie_has_nul_is_nobody() -> None:
    request = RequestFactory().get("/", headers={"Cookie": r'sessionid="\000aaaaaaaaaa"'})

    with pytest.raises(NotAuthenticated):
        require_signed_in_reader(request)


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["intent=a%00b", "intent=HOURS&%00=1"])
def test_a_call_with_nul_in_its_query_is_refused_by_name(query: str) -> None:
    create_help_desk()
    headers = {"Authorization": f"Api-Key {make_key(scopes=['config'])}"}
    answer = Client().get(f"/api/v1/config/ce_rule?{query}", headers=headers)

    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == ["intent" if "intent=a" in query else "\ufffd"]


@pytest.mark.django_db
def test_a_call_with_nul_in_its_address_is_refused_by_name() -> None:
    headers = {"Authorization": f"Api-Key {make_key(scopes=['config'])}"}
    answer = Client().get("/api/v1/config/flows/a%00b", headers=headers)

    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["flow_code"])


@pytest.mark.django_db
def test_a_text_of_a_configuration_is_refused_by_its_path() -> None:
    headers = {"Authorization": f"Api-Key {make_key(scopes=['config'])}"}
    body = {"title": "Hours", "description": "a\0"}
    answer = Client().post("/api/v1/config/drafts", body, content_type="application/json", headers=headers)

    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["description"])


@pytest.mark.django_db
def test_what_a_person_wrote_is_cleaned() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours")
    feedback = {
        "conversationId": caller.conversation_id,
        "feedbackType": "THUMBS_UP",
        "metadata": {"a\0": ["\ud800"]},
    }
    answer = caller.client.post(
        "/api/v1/conversation/feedback",
        feedback,
        content_type="application/json",
        headers={"Authorization": f"Api-Key {caller.secret}"},
    )

    assert answer.status_code == 201


@pytest.mark.parametrize(
    ("value", "field"),
    [
        *(("a\0", "body"), ({"a": {"b": ["c", "\ud800"]}}, "a.b.1"), ({"a": {"b\0": 1}}, "a.b\ufffd")),
        ([{"a": 1}, {"a": "\0"}], "1.a"),
    ],
)
def test_the_first_text_that_cannot_be_stored_is_named(value: Any, field: str) -> None:
    with pytest.raises(RequestInvalid) as refused:
        refuse_unstorable_texts(value)

    assert list(refused.value.fields or {}) == [field]


def test_only_the_text_that_cannot_be_stored_is_refused() -> None:
    storable = {"a": [1, None, True, "é\U0001f600", {"\ufffd": 1.5}]}

    refuse_unstorable_texts(storable)
    with pytest.raises(RequestInvalid):
        refuse_unstorable_texts({**storable, "b": "\0"})


def test_cleaning_replaces_in_keys_and_values() -> None:
    assert clean_texts({"a\0": ["b\ud800", 1, None]}) == {"a\ufffd": ["b\ufffd", 1, None]}


@pytest.mark.django_db
@pytest.mark.parametrize("number", [2**63, -(2**63), 9_007_199_254_740_993, 1.5e20])
def test_a_number_that_fits_is_kept_as_it_is(number: float) -> None:
    create_help_desk()

    Caller().say("hours", inputParams={"order": number})

    assert CeConversation.objects.get().input_params_json["order"] == number


@pytest.mark.django_db
@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "1e999", "-1e400"])
def test_a_number_that_would_become_another_one_is_refused_by_its_name(number: str) -> None:
    answer = Caller().post('{"message": "hi", "inputParams": {"ids": [1, NUMBER]}}'.replace("NUMBER", number))

    assert (answer.status_code, list(answer.json()["fields"])) == (400, ["inputParams.ids.1"])
    assert "Send it as a text" in answer.content.decode()
