"""Columns of the record's pages: links, beginnings of texts, formatted JSON; masked where it is stored unmasked."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.apps import apps
from django.contrib.admin import display
from django.urls import NoReverseMatch, reverse
from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.timezone import localtime

from convengine.engine.redaction import Redaction
from convengine.engine.rules.row_names import name_row, quote_name
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.turn.enums import Lifecycle, TurnStatus
from convengine.engine.turn.labels import code_label, describe_position
from convengine.engine.turn.rows import Intent
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.interfaces.configuration import configuration

#: The colour of a status in lists.
STATUS_BADGES: Mapping[str, str] = {
    "OK": "success",
    "RUNNING": "success",
    "AWAITING_USER": "info",
    "PENDING_COMPLETE": "info",
    "COMPLETE": "info",
    "EXECUTED": "success",
    "DONE": "success",
    "BLOCKED": "warning",
    "INTERRUPTED": "warning",
    "ABORTED": "warning",
    "CLAIMED": "warning",
    "CANCELLED": "warning",
    "LOST": "warning",
    "FAILED": "danger",
}


#: The classes of these colours on our own pages.
_CLASSES: Mapping[str, str] = {"success": "added", "info": "changed", "warning": "warned", "danger": "removed"}


def badge_class(word: str) -> str:
    """The class of a status on our own pages."""
    return f"ce-how ce-how-{_CLASSES[STATUS_BADGES[word]]}" if word in STATUS_BADGES else "ce-how"


def status_badge(word: str) -> tuple[str, str]:
    """A status as a coloured label."""
    known = TurnStatus.read(word) or Lifecycle.read(word)
    return word, known.label if known else word.replace("_", " ").capitalize()


def link(name: str, label: Any, *args: Any, query: str = "") -> SafeString:
    """A link to an admin page by name; only its label if the page's app is not installed."""
    address = find_address(name, *args)
    if not address:
        return format_html("{}", label)
    return format_html('<a class="ce-link" href="{}{}">{}</a>', address, query, label)


def find_address(name: str, *args: Any) -> str:
    """The address of an admin page by name; blank if its app is not installed."""
    try:
        return reverse(f"admin:{name}", args=args)
    except NoReverseMatch:
        return ""


def turns_url(user: Any, **filters: Any) -> str:
    """The address of the list of matching turns; blank for users who may not read turns."""
    address = find_address("audit_ceaudit_find") if user.has_perm(READ_TURNS) else ""
    return address and f"{address}?{urlencode(filters)}"


def teach_url(**values: Any) -> str:
    """The page that makes phrases of a group (`group`) or of the message of a turn (`message_of`).

    The address names them instead of the message, because logs contain addresses.
    """
    return f"{reverse('admin:config_admin_ceintentclassifier_teach')}?{urlencode(values)}"


def effect_url(user: Any, release: int) -> str:
    """The address of a release's effect; blank for users who may not read turns."""
    return find_address("audit_ceaudit_effect", release) if user.has_perm(READ_TURNS) else ""


def what_if_url(user: Any, configuration: str) -> str:
    """The address of What if for a configuration; blank for users who may not read conversations."""
    address = find_address("audit_ceaudit_what_if") if user.has_perm("audit.view_ceaudit") else ""
    return address and f"{address}?{urlencode({'configuration': configuration})}"


def conversation_link(conversation_id: Any) -> SafeString:
    return link("ce_sessions_ceconversation_change", conversation_id, conversation_id)


def release_link(config_version: int | None) -> SafeString:
    """The page of the release that a turn ran on."""
    if config_version is None:
        return format_html("{}", "-")
    return link("config_admin_cerelease_change", f"Release {config_version}", config_version)


def row_link(table: str, pk: Any, label: str = "") -> SafeString:
    """The page of a configuration row, named like `Rule 41 “too late to cancel”`."""
    opts = get_options(table)
    if not label:
        title = shorten_line(find_row_name(table, pk), 60)
        label = f"{capfirst(opts.verbose_name) if opts else table} {pk}" + (f" {quote_name(title)}" if title else "")
    return link(f"{opts.app_label}_{opts.model_name}_change" if opts else table, label, pk)


def row_url(table: str, pk: Any) -> str:
    """The address of the page of a configuration row; blank if its app is not installed."""
    opts = get_options(table)
    return find_address(f"{opts.app_label}_{opts.model_name}_change", pk) if opts else ""


def row_links(rows: Iterable[tuple[str, Any]]) -> list[SafeString]:
    """Links to rows by table and key in a running text, named like `rule “too late to cancel”`."""
    links = []
    for table, pk in rows:
        opts, title = get_options(table), shorten_line(find_row_name(table, pk), 36)
        noun = str(opts.verbose_name) if opts else table
        links.append(row_link(table, pk, f"{noun} {quote_name(title)}" if title else f"{noun} {pk}"))
    return links


def find_row_name(table: str, pk: Any) -> str:
    """The name of a row in the newest release; blank if it does not exist there."""
    row = configuration().latest.find_row(table, str(pk))
    return name_row(table, row) if row else ""


#: The configuration whose names are written, if not the newest release.
_naming: ContextVar[Snapshot | None] = ContextVar("naming", default=None)


@contextmanager
def name_by(snapshot: Snapshot) -> Iterator[None]:
    """Write the names of a configuration, without a database."""
    token = _naming.set(snapshot)
    try:
        yield
    finally:
        _naming.reset(token)


def name_intent(intent: str | None) -> str:
    """The title of an intent in the newest release, or its code."""
    row = (_naming.get() or configuration().latest).find_row(Intent.table, intent or "")
    return shorten_line(getattr(row, "display_name", ""), 60) or code_label(intent)


def quote_intent(intent: str | None) -> str:
    """The title of an intent in quotation marks, or its code."""
    name = name_intent(intent)
    return name if name == code_label(intent) else f"“{name}”"


def describe_named_position(intent: str | None, state: str | None) -> str:
    """An intent by its title, and a state: "Intent “Fees”, state IDLE"."""
    return describe_position(intent if intent in (None, "", UNKNOWN) else quote_intent(intent), state)


@cache
def get_options(table: str) -> Any:
    """The model options of a table, such as its names. Returns None if its app is not installed."""
    return next((model._meta for model in apps.get_models() if model._meta.db_table == table), None)


def answer_text(answer: Any) -> str:
    if isinstance(answer, dict) and isinstance(answer.get("value"), str):
        return str(answer["value"])
    return "" if answer is None else json.dumps(answer, ensure_ascii=False)


def render_json(value: Any) -> SafeString:
    """A JSON value, indented, in a code font."""
    if value is None:
        return format_html("{}", "-")
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return format_html('<pre class="ce-json" tabindex="0">{}</pre>', reveal_invisible(text))


Column = Callable[[Any, Any], Any]
C = TypeVar("C", bound=Column)


def badge_column(looks: Mapping[str, str], description: str, ordering: str | None = None) -> Callable[[C], C]:
    """A list column with a coloured word; the column gives (word, text)."""

    def mark(show: C) -> C:
        marked: C = display(description=description, ordering=ordering)(show)
        vars(marked)["label"] = looks
        return marked

    return mark


class ProofColumns:
    """Columns of signed rows: whether the product wrote the row, for its list and its page."""

    @badge_column({"proven": "success", "not proven": "danger"}, "proof")
    def standing(self, row: Any) -> tuple[str, str]:
        word = self.validity(row)
        return word, word

    @display(description="proof")
    def validity(self, row: Any) -> str:
        return "proven" if row.is_genuine() else "not proven"


def json_column(name: str, label: str) -> Column:
    """A page column with a JSON column of the table."""

    @display(description=label)
    def show(admin: Any, row: Any) -> SafeString:
        return render_json(getattr(row, name))

    return show


def text_column(name: str, label: str) -> Column:
    """A page column with a text and its line breaks."""

    @display(description=label)
    def show(admin: Any, row: Any) -> SafeString:
        return format_html('<div class="ce-said">{}</div>', reveal_invisible(str(getattr(row, name) or "-")))

    return show


def value_column(name: str, label: str) -> Column:
    """A column of the table under another title; a time is shown in local time."""

    @display(description=label)
    def show(admin: Any, row: Any) -> Any:
        value = getattr(row, name)
        return localize(localtime(value)) if isinstance(value, datetime) else value

    return show


def code_column(name: str, label: str) -> Column:
    """A list column with an intent or a state."""

    @display(description=label)
    def show(admin: Any, row: Any) -> str:
        return code_label(getattr(row, name))

    return show


def excerpt_column(name: str, label: str, limit: int = 60) -> Column:
    """A list column with the beginning of a text."""

    @display(description=label)
    def show(admin: Any, row: Any) -> str:
        return shorten_line(reveal_invisible(str(getattr(row, name) or "")), limit)

    return show


def status_column(name: str = "status") -> Column:
    """A list column with a coloured status."""

    @badge_column(STATUS_BADGES, name)
    def show(admin: Any, row: Any) -> tuple[str, str]:
        return status_badge(getattr(row, name))

    return show


def current_redaction() -> Redaction:
    """The current masks for events."""
    return Redaction.of(configuration().current())


def masked_column(name: str, label: str) -> Column:
    """A page column with a masked JSON column of the table."""

    @display(description=label)
    def show(admin: Any, row: Any) -> SafeString:
        return render_json(current_redaction().document(getattr(row, name)))

    return show
