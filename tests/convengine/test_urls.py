"""Odd query parameters break no address of the product."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.template.response import SimpleTemplateResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from convengine.server.api.models import SCOPES
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
ENDS = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01", "9999-12-31", "0001-01-01 00:00")


def _list_routes(patterns: Any, prefix: str = "") -> Iterator[str]:
    for entry in patterns:
        route = prefix + _clean(str(entry.pattern))
        if isinstance(entry, URLResolver):
            yield from _list_routes(entry.url_patterns, route)
        elif isinstance(entry, URLPattern):
            yield route


def _clean(route: str) -> str:
    return re.sub(r"^\^|\$$|\\Z", "", route)


def _list_addresses(conversation_id: str) -> list[str]:
    """Every address, with the id of a conversation where one may stand."""
    addresses = set()
    for route in _list_routes(get_resolver().url_patterns):
        filled = re.sub(r"\(\?P<(\w+)>(?:\[[^\]]*\]|\\.|[^)\[])*\)", r"<\1>", route)
        ids = "conversation_id|session_id|object_id" if "admin/r/" in route else "conversation_id|session_id"
        filled = re.sub(rf"<(?:\w+:)?(?:{ids})>", conversation_id, filled)
        addresses.add("/" + re.sub(r"<[^>]*>", "1", filled))
    # Leaving would end the walk; files are no pages of ours.
    return sorted(each for each in addresses if "logout" not in each and not each.startswith("/static"))


@pytest.fixture
def conversation_id() -> str:
    create_help_desk()
    caller = Caller()
    caller.say("hours")
    return caller.conversation_id


@pytest.mark.long
def test_no_page_writes_before_it_refuses(
    conversation_id: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is refused is decided before a page is written, and most of the time went into writing hundreds.
    monkeypatch.setattr("convengine.urls.handler403", lambda request, exception: HttpResponse(status=403))
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")
    client.force_login(User.objects.create_user("nobody", is_staff=True))
    refused, written = 0, []
    for address in _list_addresses(conversation_id):
        for send in (client.get, client.post) if address.startswith("/admin/") else ():
            with CaptureQueriesContext(connection) as queries:
                is_refused = send(address).status_code == 403
            refused += is_refused
            statements = [query["sql"] for query in queries if query["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
            written += [(address, sql[:120]) for sql in statements if is_refused and "django_session" not in sql]
    assert written == []
    assert refused > 100


#: Names of times in addresses of the API, pages and lists.
_TIMES = ("since", "until", "from", "to", "at", "created_at__gte", "updated_at__lt", "created__gte", "started_at__lt")


@pytest.mark.nightly
def test_no_address_fails_for_a_format_or_for_the_ends_of_time(conversation_id: str, client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    client.raise_request_exception = False
    api = {"Authorization": f"Api-Key {make_key(scopes=[name for name, _ in SCOPES])}"}
    queries = [{"format": "anything"}, *(dict.fromkeys(_TIMES, end) for end in ENDS)]
    broken = []
    for address in _list_addresses(conversation_id):
        for query in queries:
            headers = api if address.startswith("/api/") else {}
            response = client.get(address, query, headers=headers)
            if response.status_code >= 500:
                broken.append((address, query, response.status_code))
            if response.status_code in (404, 405):
                break
    assert broken == []


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    ("path", "names"), [("audit/turns", ("since", "until")), ("conversation/audit/{}", ("from", "to"))]
)
def test_the_api_names_the_time_that_is_outside_of_the_calendar(
    conversation_id: str, client: Client, path: str, names: tuple[str, ...], end: str
) -> None:
    headers = {"Authorization": f"Api-Key {make_key(scopes=['audit'])}"}
    for name in names:
        response = client.get(f"/api/v1/{path.format(conversation_id)}", {name: end}, headers=headers)

        assert (response.status_code, list(response.json()["fields"])) == (400, [name])
        assert "1900 to 9998" in response.json()["fields"][name][0]


@pytest.mark.parametrize("name", ["since", "until"])
def test_the_page_names_the_time_that_is_outside_of_the_calendar(client: Client, name: str) -> None:
    client.force_login(User.objects.create_superuser("ada"))

    response = client.get(reverse("admin:audit_ceaudit_find"), {name: ENDS[0]})

    assert (response.status_code, list(response.context["form"].errors)) == (400, [name])


def test_an_unknown_format_is_named_with_the_known_ones(conversation_id: str, client: Client) -> None:
    headers = {"Authorization": f"Api-Key {make_key(scopes=['audit'])}"}
    response = client.get(f"/api/v1/conversation/audit/{conversation_id}", {"format": "xml"}, headers=headers)

    assert response.status_code == 400
    assert response.json()["fields"] == {"format": ["There is no format 'xml'. Known: json, ndjson."]}
