"""How the record shows what it holds: links between its pages, beginnings of texts, JSON for people."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.apps import apps
from django.contrib.admin import display
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

#: How a status looks in lists.
STATUS_LOOKS: Mapping[str, str] = {
    "OK": "success",
    "RUNNING": "success",
    "AWAITING_USER": "info",
    "PENDING_COMPLETE": "info",
    "COMPLETE": "info",
    "EXECUTED": "success",
    "BLOCKED": "warning",
    "INTERRUPTED": "warning",
    "ABORTED": "warning",
    "CLAIMED": "warning",
    "LOST": "warning",
    "FAILED": "danger",
}


#: What a page of our own calls these looks.
_CLASSES: Mapping[str, str] = {"success": "added", "info": "changed", "warning": "warned", "danger": "removed"}


def look_of(word: str) -> str:
    """The class of a status on a page of our own."""
    return f"ce-how ce-how-{_CLASSES[STATUS_LOOKS[word]]}" if word in STATUS_LOOKS else "ce-how"


def status(word: str) -> tuple[str, str]:
    """A status as a label that STATUS_LOOKS colours."""
    return word, word.replace("_", " ").lower()


def link(name: str, label: Any, *args: Any, query: str = "") -> SafeString:
    """A link to an admin page by name; only its label where the page's app is not installed."""
    try:
        address = reverse(f"admin:{name}", args=args)
    except NoReverseMatch:
        return format_html("{}", label)
    return format_html('<a class="ce-link" href="{}{}">{}</a>', address, query, label)


def turns_url(user: Any, **asked: Any) -> str:
    """Where the turns are listed that fit what is asked; blank for whoever may not read turns."""
    if not user.has_perm("ce_sessions.view_ceconversationhistory"):
        return ""
    try:
        return f"{reverse('admin:audit_ceaudit_find')}?{urlencode(asked)}"
    except NoReverseMatch:
        return ""


def conversation_link(conversation_id: Any) -> SafeString:
    """The page of a conversation."""
    return link("ce_sessions_ceconversation_change", conversation_id, conversation_id)


def release_link(config_version: int | None) -> SafeString:
    """The page of the release that a turn ran on."""
    if config_version is None:
        return format_html("{}", "-")
    return link("config_admin_cerelease_change", f"Release {config_version}", config_version)


def row_link(table: str, pk: Any, label: str = "") -> SafeString:
    """The page of a configuration row."""
    return link(f"{_admin_name(table)}_change", label or f"{table} {pk}", pk)


@cache
def _admin_name(table: str) -> str:
    found = next((model._meta for model in apps.get_models() if model._meta.db_table == table), None)
    return f"{found.app_label}_{found.model_name}" if found else table


def shortened(text: Any, limit: int = 90) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(str(text or "").split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def spoken(answer: Any) -> str:
    """The text of an answer; one that is JSON, as JSON."""
    if isinstance(answer, dict) and isinstance(answer.get("value"), str):
        return str(answer["value"])
    return "" if answer is None else json.dumps(answer, ensure_ascii=False)


def as_json(value: Any) -> SafeString:
    """A JSON value for people: indented, in the type of code."""
    if value is None:
        return format_html("{}", "-")
    return format_html(
        '<pre class="ce-json" tabindex="0">{}</pre>', json.dumps(value, indent=2, ensure_ascii=False, default=str)
    )


Column = Callable[[Any, Any], Any]
C = TypeVar("C", bound=Column)


def labelled(looks: Mapping[str, str], description: str, ordering: str | None = None) -> Callable[[C], C]:
    """A column of a list that shows a word in its colour; the column gives (word, text)."""

    def mark(show: C) -> C:
        marked: C = display(description=description, ordering=ordering)(show)
        vars(marked)["label"] = looks
        return marked

    return mark


def json_column(name: str, label: str) -> Column:
    """A column of a page that shows a JSON column of the table."""

    @display(description=label)
    def show(admin: Any, row: Any) -> SafeString:
        return as_json(getattr(row, name))

    return show


def text_column(name: str, label: str) -> Column:
    """A column of a page that shows a text as it was written, line by line."""

    @display(description=label)
    def show(admin: Any, row: Any) -> SafeString:
        return format_html('<div class="ce-said">{}</div>', getattr(row, name) or "-")

    return show


def beginning(name: str, label: str, limit: int = 60) -> Column:
    """A column of a list that shows the beginning of a text."""

    @display(description=label)
    def show(admin: Any, row: Any) -> str:
        return shortened(getattr(row, name), limit)

    return show


def status_column(name: str = "status") -> Column:
    """A column of a list that shows a status in its colour."""

    @labelled(STATUS_LOOKS, name)
    def show(admin: Any, row: Any) -> tuple[str, str]:
        return status(getattr(row, name))

    return show
