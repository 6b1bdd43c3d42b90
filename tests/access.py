"""Who may call what: every endpoint and page, called really by every caller (config_admin/manual/access.json)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from convengine.included_urls import API
from convengine.server.admin_site.rights import GROUPS
from convengine.server.api.conversation_token import ConversationToken
from convengine.server.api.models import SCOPES
from tests.api import make_key
from tests.config_admin.builders import MODELS
from tests.convengine.server.admin_site.test_rights import LOOKED_AT, addresses, rows

#: Values of parameters in addresses.
_VALUES: Mapping[str, str] = {
    "conversation_id": "0b7b8c9a-5f0e-4a57-9d2a-0c6f6b1f5a10",
    "session_id": "0b7b8c9a-5f0e-4a57-9d2a-0c6f6b1f5a10",
    "turn_no": "1",
    "replay_id": "0b7b8c9a-5f0e-4a57-9d2a-0c6f6b1f5a10",
}
#: The origin of the token's page.
_PAGE = "https://shop.example.com"
_METHODS = ("get", "post", "put", "patch", "delete")
#: A parameter in an address that is a regular expression.
_GROUP = r"\(\?P<(\w+)>[^)]*\)"
#: Pages beside those of tables.
PAGES = ("admin:index", "admin:search", "admin:password_change", "manual", "api-docs", "convengine-schema")

#: Callers, and an address of theirs.
Row = tuple[str, str]


def list_endpoints(patterns: Sequence[Any] = API, prefix: str = "/") -> Iterator[tuple[str, str, str]]:
    """Each address of the API as a pattern and with values, and each of its methods."""
    for pattern in patterns:
        text = f"{prefix}{re.sub(_GROUP, lambda match: f'<{match[1]}>', str(pattern.pattern)).strip('^$')}"
        if isinstance(pattern, URLResolver):
            yield from list_endpoints(pattern.url_patterns, text)
            continue
        address = prefix
        view = pattern.callback.view_class
        for part in text.removeprefix(prefix).split("/"):
            name = part.strip("<>").rpartition(":")[2] if part.startswith("<") else ""
            address += (_VALUES.get(name, "1") if name else part) + "/"
        for method in _METHODS:
            if hasattr(view, method):
                yield text, f"{address[:-1]}" or "/", method


def collect_api() -> Iterator[Row]:
    """Who gets further than a refusal, for each method of each address."""
    callers: dict[str, dict[str, str]] = {"no key": {}, "an unknown key": {"Authorization": "Api-Key no.key"}}
    prefix = make_key(scopes=["turns"]).partition(".")[0]
    token = ConversationToken(_VALUES["conversation_id"], prefix, _PAGE).sign()
    callers["a conversation token"] = {"Authorization": f"Bearer {token}", "Origin": _PAGE}
    for scope, _ in SCOPES:
        callers[scope] = {"Authorization": f"Api-Key {make_key(scopes=[scope])}"}
    for text, address, method in list_endpoints():
        if "/conversation/stream/" in text:
            # The main port redirects everybody; the process of event streams checks the key (tests/audit/live/).
            continue
        names = [name for name, headers in callers.items() if _is_served(address, method, headers)]
        yield ", ".join(names), f"{method.upper()} {text.removeprefix('/api/v1')}"


def _is_served(address: str, method: str, headers: dict[str, str]) -> bool:
    with _roll_back():
        answer = getattr(Client(), method)(address, headers=headers)
    assert answer.status_code < 500, (method, address, answer.status_code)
    return answer.status_code not in (401, 403)


def collect_admin() -> Iterator[Row]:
    """Who may read each page (R) and send to it (W)."""
    clients = dict(_make_clients())
    owner = User.objects.get(username="administrator")
    pages = [(reverse(name), reverse(name)) for name in PAGES]
    for model, row in rows(owner).items():
        if model in MODELS and model not in LOOKED_AT:
            continue
        opts = model._meta
        patterns = {
            url.name: str(url.pattern) for url in admin.site._registry[model].urls if isinstance(url, URLPattern)
        }
        for name, address in addresses(model, row):
            pages.append((f"/admin/{opts.app_label}/{opts.model_name}/{patterns[name]}", address))
    for text, address in pages:
        by_letters: dict[str, list[str]] = {}
        for name, client in clients.items():
            by_letters.setdefault(_open_page(client, address), []).append(name)
        by_letters.pop("", None)
        yield "; ".join(f"{letters}: {', '.join(names)}" for letters, names in sorted(by_letters.items())), text


def _make_clients() -> Iterator[tuple[str, Client]]:
    yield "nobody", Client()
    for name in ("no group", *(group.name for group in GROUPS), "administrator"):
        user = User.objects.create_user(name.replace(" ", "-"), is_staff=True, is_superuser=name == "administrator")
        user.groups.set(Group.objects.filter(name=name))
        client = Client(raise_request_exception=False)
        client.force_login(user)
        yield name, client


def _open_page(client: Client, address: str) -> str:
    letters = ""
    for letter, send in (("R", client.get), ("W", client.post)):
        with _roll_back():
            answer = send(address)
        assert answer.status_code < 500, (letter, address, answer.status_code)
        to_login = answer.status_code == 302 and answer.headers["Location"].startswith("/admin/login/")
        letters += "" if to_login or answer.status_code in (401, 403, 404, 405) else letter
    return letters


@contextmanager
def _roll_back() -> Iterator[None]:
    """What happens inside changes nothing."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def group_by_callers(rows: Iterator[Row]) -> dict[str, list[str]]:
    """The addresses of each combination of callers."""
    addresses: dict[str, list[str]] = {}
    for callers, address in rows:
        if callers:
            addresses.setdefault(callers, []).append(re.sub("<[^>]*:", "<", address))
    return addresses
