"""No value that a caller sends breaks a call of the API or a page: NUL, half a character, numbers without end.

The parameters come from the OpenAPI document, from the registry of the admin, and from what the code reads of a query:
a new one is covered without a line here.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.db import models, transaction
from django.http import HttpResponse, QueryDict
from django.test import Client, RequestFactory
from django.urls import resolve, reverse

from convengine.server.api.clean_input import CleanInputMiddleware
from convengine.server.api.conversation_token import ConversationToken
from convengine.server.api.models import SCOPES
from tests.access import PAGES
from tests.api import Caller, make_key
from tests.config_admin.builders import MODELS
from tests.convengine.server.admin_site.test_rights import LOOKED_AT, addresses, rows
from tests.convengine.server.api.test_schema import read_document
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

#: As in an address. The first cannot be stored; the next two are no UTF-8; the others fit into no column. Quick tests
#: take every other one.
HOSTILE = ("a%00b", "%FF", "%ED%A0%80", "9" * 20, "9" * 5000)
#: As in a body.
UNSTORABLE = ("a\0b", "a\ud800b")
#: The origin of the token's page.
PAGE = "https://shop.example.com"
Failures = list[str]


@contextmanager
def roll_back() -> Iterator[None]:
    """What happens inside changes nothing."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def record_read_names(names: set[str]) -> Iterator[None]:
    """Adds each name that is looked for in a query or a form."""
    with pytest.MonkeyPatch.context() as patched:
        for method in ("__getitem__", "getlist", "__contains__"):
            patched.setattr(QueryDict, method, _make_recorder(getattr(QueryDict, method), names))
        yield


def _make_recorder(read: Callable[..., Any], names: set[str]) -> Callable[..., Any]:
    def record(query: QueryDict, name: str, *args: Any) -> Any:
        names.add(name)
        return read(query, name, *args)

    return record


class Prober:
    """Sends values, and remembers what failed."""

    def __init__(self, client: Client) -> None:
        self.failures: Failures = []
        self.sent = 0
        self._client = client

    def send(self, method: str, address: str, **options: Any) -> int:
        """Send a request whose effects are taken back; gives the status."""
        with roll_back():
            answer = self._client.generic(method.upper(), address, **options)
        self.sent += 1
        if answer.status_code >= 500:
            what = options.get("data", b"")[:100]
            self.failures.append(f"{answer.status_code} {method} {address[:200]} {what!r}")
        return int(answer.status_code)

    def send_queries(self, address: str, names: Iterable[str], usual: Mapping[str, str], values: Iterable[str]) -> None:
        """Send each value for each name, beside the usual ones of the others."""
        for name in sorted(names):
            for value in values:
                others = "".join(f"&{quote(other)}={quote(usual[other])}" for other in usual if other != name)
                self.send("get", f"{address}?{quote(name)}={value}{others}")

    def find_read_names(self, address: str, usual: Mapping[str, str]) -> set[str]:
        """The names that a page or call looks for in its query."""
        names: set[str] = set()
        with roll_back(), record_read_names(names):
            self._client.get(address, usual)
        return names - {"csrfmiddlewaretoken"}


@pytest.fixture
def known() -> Mapping[str, str]:
    """Values of parameters that lead to rows."""
    create_help_desk()
    caller = Caller()
    turn_id = caller.say("hours", inputParams={"vip": True})["turnId"]
    ids = dict.fromkeys(("conversation_id", "conversationId", "session_id"), caller.conversation_id)
    return {**ids, "table": "ce_rule", "workspace_id": "default", "turn": "1", "turn_no": "1", "messageId": turn_id}


@pytest.fixture
def callers(known: Mapping[str, str]) -> Sequence[Prober]:
    """A key with every scope, and a conversation token."""
    secret = make_key(scopes=[name for name, _ in SCOPES])
    token = ConversationToken(known["conversation_id"], secret.partition(".")[0], PAGE).sign()
    headers = ({"Authorization": f"Api-Key {secret}"}, {"Authorization": f"Bearer {token}", "Origin": PAGE})
    return [Prober(Client(raise_request_exception=False, headers=each)) for each in headers]


class Call(NamedTuple):
    """A call of the API, with values that its description allows."""

    method: str
    address: str
    in_path: dict[str, str]
    in_query: dict[str, str]
    names: set[str]
    #: The example of its body, and the schema; null for a call without one.
    body: Any
    schema: dict[str, Any]

    def fill(self, **values: str) -> str:
        """The address with values of its parameters."""
        address = self.address
        for name, value in {**self.in_path, **values}.items():
            address = address.replace(f"{{{name}}}", value)
        return address


def list_calls(known: Mapping[str, str]) -> Iterator[Call]:
    """Every call of the OpenAPI document."""
    document = read_document()
    for address, methods in document["paths"].items():
        for method, operation in methods.items():
            parameters = operation.get("parameters", [])
            usual = {
                kind: {
                    each["name"]: known.get(each["name"], str(each.get("example", 1)))
                    for each in parameters
                    if each["in"] == kind and each.get("required")
                }
                for kind in ("path", "query")
            }
            names = {each["name"] for each in parameters if each["in"] == "query"}
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
            schema = document["components"]["schemas"].get(name, {})
            yield Call(method, address, usual["path"], usual["query"], names, content.get("example"), schema)


def choose_caller(callers: Sequence[Prober], call: Call) -> Prober:
    """Whom the call serves."""
    return next((caller for caller in callers if caller.send(call.method, call.fill()) != 403), callers[0])


def report(callers: Sequence[Prober]) -> str:
    """What failed, a line each."""
    return "\n".join(failure for caller in callers for failure in caller.failures)


def test_no_parameter_breaks_a_call(callers: Sequence[Prober], known: Mapping[str, str]) -> None:
    for call in list_calls(known):
        caller = choose_caller(callers, call)
        for name in call.in_path:
            for value in HOSTILE:
                caller.send(call.method, call.fill(**{name: value}))
        if call.method == "get":
            names = call.names | caller.find_read_names(call.fill(), call.in_query)
            caller.send_queries(call.fill(), names, call.in_query, HOSTILE)

    assert sum(caller.sent for caller in callers) > 500
    assert not report(callers), report(callers)


def test_no_text_in_a_body_breaks_a_call(callers: Sequence[Prober], known: Mapping[str, str]) -> None:
    for call in list_calls(known):
        caller = choose_caller(callers, call)
        for unstorable in UNSTORABLE if call.schema else ():
            for body in spoil_body(call, known, unstorable):
                data = json.dumps(body).encode()
                caller.send(call.method, call.fill(), data=data, content_type="application/json")

    assert sum(caller.sent for caller in callers) > 500
    assert not report(callers), report(callers)


def spoil_body(call: Call, known: Mapping[str, str], unstorable: str) -> Iterator[Any]:
    """Bodies of a call, each with one key or one value spoilt; also in fields that the example leaves out."""
    example = call.body
    if isinstance(example, dict):
        example = {name: known.get(name, value) for name, value in example.items()}
    yield from spoil(example, unstorable)
    for name in call.schema.get("properties", {}).keys() - (example or {}).keys():
        for value in (unstorable, [unstorable], {unstorable: unstorable}, {"key": unstorable}):
            yield {**(example or {}), name: value}


def spoil(value: Any, unstorable: str) -> Iterator[Any]:
    """Copies of a value, each with one key or one value spoilt."""
    yield unstorable
    if isinstance(value, dict):
        yield {**value, unstorable: unstorable}
        for key, inner in value.items():
            yield from ({**value, key: spoilt} for spoilt in spoil(inner, unstorable))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from ([*value[:index], spoilt, *value[index + 1 :]] for spoilt in spoil(inner, unstorable))


@pytest.fixture
def boss() -> User:
    return User.objects.create_user("boss", is_staff=True, is_superuser=True)


@pytest.fixture
def at_desk(boss: User) -> Prober:
    client = Client(raise_request_exception=False)
    client.force_login(boss)
    return Prober(client)


def list_filter_names(boss: User, model: type[models.Model]) -> set[str]:
    """What the filters, the search, the dates, the ordering and the pages of a list take, and each field."""
    request = RequestFactory().get("/")
    request.user = boss
    listed = admin.site._registry[model].get_changelist_instance(request)
    names = {name for spec in listed.filter_specs for name in spec.expected_parameters()}
    names |= {"q", "o", "p", "all", "e", "_popup", "_to_field", "_changelist_filters"}
    if listed.date_hierarchy:
        names |= {f"{listed.date_hierarchy}__{part}" for part in ("year", "month", "day")}
    return names | {field.name for field in model._meta.concrete_fields}


def open_list(boss: User, model: type[models.Model], query: str) -> None:
    """Read a list as its page does, without its frame, which takes most of the time."""
    request = RequestFactory().get(f"{list_address(model)}?{query}")
    request.user, request.resolver_match = boss, resolve(list_address(model))
    CleanInputMiddleware(lambda request: HttpResponse()).process_view(request, None, (), {})
    # What its page answers with a redirect, or with 400.
    with suppress(IncorrectLookupParameters, SuspiciousOperation), roll_back():
        admin.site._registry[model].get_changelist_instance(request)


def list_address(model: type[models.Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


@pytest.mark.long
def test_no_parameter_breaks_a_list_of_the_admin(boss: User) -> None:
    failures, tried = [], 0
    for model in rows(boss):
        for name in sorted(list_filter_names(boss, model)):
            for value in HOSTILE[::2]:
                tried += 1
                try:
                    open_list(boss, model, f"{name}={value}")
                except Exception as error:
                    failures.append(f"{model.__name__} {name}={value[:20]}: {error!r}"[:200])

    assert tried > 1000
    assert not failures, "\n".join(failures)


@pytest.mark.nightly
def test_no_lookup_breaks_a_page_with_a_list(at_desk: Prober, boss: User) -> None:
    for model in rows(boss):
        fields = model._meta.concrete_fields
        names = {f"{field.name}__{lookup}" for field in fields for lookup in (*field.get_lookups(), "key")}
        names |= list_filter_names(boss, model) | at_desk.find_read_names(list_address(model), {})
        at_desk.send_queries(list_address(model), names, {}, HOSTILE)

    assert not at_desk.failures, report([at_desk])


@pytest.mark.nightly
def test_no_parameter_breaks_a_page_of_the_admin(at_desk: Prober, boss: User) -> None:
    pages = [reverse(name) for name in PAGES]
    for model, row in rows(boss).items():
        if model not in MODELS or model in LOOKED_AT:
            pages += [address for name, address in addresses(model, row) if not name.endswith("_changelist")]
    for address in pages:
        at_desk.send_queries(address, at_desk.find_read_names(address, {}), {}, HOSTILE)

    assert not at_desk.failures, report([at_desk])
