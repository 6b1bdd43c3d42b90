"""What sessions keep: summaries, preferences and units. Their admin pages, and their part of a session's page."""

from typing import NamedTuple

from django.contrib import admin
from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from convengine.engine.turn.session import KNOWLEDGE_BASE
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import excerpt_column, json_column, link, text_column, value_column
from convengine.server.database.sql import database_time
from convengine.server.executors.models import CeDocumentCollection
from convengine.server.model_clients.connections import ModelUnknown
from convengine.server.sessions.models import CeConversation, CeMemory, CeSessionUnit
from convengine.server.wiring import models

#: How many units the page shows; the list of units has all.
UNITS = 10
_KINDS = {"model": "Model", KNOWLEDGE_BASE: "Knowledge base", "intent_resolver": "Intent resolver"}


class LabelledText(NamedTuple):
    """A label and its text."""

    name: str
    value: str | SafeString
    note: str | SafeString = ""


def list_summary(row: CeConversation) -> list[LabelledText]:
    """The five lines of the context summary; none before the first turn."""
    pairs = [line.partition(": ") for line in row.context_summary.splitlines()]
    return [LabelledText(name.capitalize(), text) for name, _, text in pairs if text]


def list_preferences(row: CeConversation) -> list[LabelledText]:
    """The session's preferences with their current meaning, and its mounted collection. One query."""
    names = {row.preferences.get(KNOWLEDGE_BASE), row.mounted_kb_id} - {None}
    rows = CeDocumentCollection.objects.filter(workspace_id=row.workspace_id, name__in=names)
    collections = {collection.name: collection for collection in rows}
    facts = []
    for kind, wanted in sorted(row.preferences.items()):
        label = _KINDS.get(kind) or kind.replace("_", " ").capitalize()
        facts.append(LabelledText(label, str(wanted), _describe_preference(kind, str(wanted), collections)))
    if row.mounted_kb_id:
        facts.append(LabelledText("Mounted", row.mounted_kb_id, _describe_collection(row.mounted_kb_id, collections)))
    return facts


def list_units(row: CeConversation) -> list[CeSessionUnit]:
    """The newest units, and one more than the page shows if there are more."""
    return list(CeSessionUnit.objects.filter(conversation=row).order_by("-unit_id")[: UNITS + 1])


def _describe_preference(kind: str, wanted: str, collections: dict[str, CeDocumentCollection]) -> str | SafeString:
    if kind != "model":
        return _describe_collection(wanted, collections) if kind == KNOWLEDGE_BASE else "the engine's own"
    try:
        connection, model = models().find(wanted)
    except ModelUnknown:
        return "no longer allowed, so the model of the settings is used"
    return f"{model} at {connection.base_url or connection.name}"


def _describe_collection(name: str, collections: dict[str, CeDocumentCollection]) -> str | SafeString:
    collection = collections.get(name)
    if collection is None:
        return "no longer exists, so turns do not use it (KB_UNAVAILABLE)"
    page = link("ce_executors_cedocumentcollection_change", f"collection {name}", collection.pk)
    if collection.expires_at is None:
        return page
    ended = collection.expires_at <= database_time()
    until = localize(localtime(collection.expires_at))
    tail = "expired since {}, so turns do not use it (KB_UNAVAILABLE)" if ended else "valid until {}"
    return format_html("{}, {}", page, tail.format(until))


@admin.register(CeMemory)
class MemoryAdmin(ByConversation):
    """Summaries of long conversations."""

    list_display = ("memory_type", "summary", "source", "from_turn", "to_turn", "conversation_page", "last_change")
    last_change = value_column("updated_at", "last change")
    ordering = ("-memory_id",)
    fields = ("memory_type", "conversation_page", "text", "source", "from_turn", "to_turn", "detail", "updated_at")
    readonly_fields = ("conversation_page", "text", "detail")
    summary = excerpt_column("summary_text", "summary", 90)
    text = text_column("summary_text", "summary")
    detail = json_column("detail_json", "detail")


@admin.register(CeSessionUnit)
class SessionUnitAdmin(ByConversation):
    """Reusable facts, constraints, definitions and guidance."""

    list_display = ("topic", "kind", "excerpt", "turn", "conversation_page", "time")
    turn = value_column("source_turn", "turn")
    time = value_column("committed_at", "time")
    ordering = ("-unit_id",)
    fields = ("kind", "topic", "text", "conversation_page", "turn", "useful_for", "in_phases", "time")
    readonly_fields = ("text", "conversation_page", "turn", "useful_for", "in_phases", "time")
    excerpt = excerpt_column("claim", "claim", 90)
    text = text_column("claim", "claim")
    useful_for = json_column("utility", "useful for")
    in_phases = json_column("phases", "phases")
