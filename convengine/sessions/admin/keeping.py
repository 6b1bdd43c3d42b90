"""What a session keeps, for people: its summary by lines, its preferences and what their ids stand for, its units."""

from collections.abc import Iterator
from typing import NamedTuple

from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from convengine.domain.preferences import KNOWLEDGE_BASE
from convengine.executors.models import CeDocumentCollection
from convengine.llm.connections import ModelUnknown
from convengine.record_columns import link
from convengine.sessions.clock import database_time
from convengine.sessions.models import CeConversation, CeSessionUnit
from convengine.wiring import models

#: How many units the page shows; the list of units has them all.
UNITS = 10
_KINDS = {"model": "Model", KNOWLEDGE_BASE: "Knowledge base", "intent_resolver": "Intent resolver"}


class Told(NamedTuple):
    """A name and what is said about it."""

    name: str
    value: str | SafeString
    note: str | SafeString = ""


def summary(row: CeConversation) -> list[Told]:
    """The five lines of the context summary; none before the first turn."""
    pairs = [line.partition(": ") for line in row.context_summary.splitlines()]
    return [Told(name.capitalize(), said) for name, _, said in pairs if said]


def preferences(row: CeConversation) -> list[Told]:
    """What the session prefers, with what is known of it now, and what it has mounted. One query."""
    names = {row.preferences.get(KNOWLEDGE_BASE), row.mounted_kb_id} - {None}
    found = CeDocumentCollection.objects.filter(workspace_id=row.workspace_id, name__in=names)
    collections = {one.name: one for one in found}
    told = [Told(_called(kind), wanted, _stands_for(kind, wanted, collections)) for kind, wanted in _stated(row)]
    if row.mounted_kb_id:
        told.append(Told("Mounted", row.mounted_kb_id, _collection(row.mounted_kb_id, collections)))
    return told


def units(row: CeConversation) -> list[CeSessionUnit]:
    """The newest units, and one more than the page shows when there are more."""
    return list(CeSessionUnit.objects.filter(conversation=row).order_by("-unit_id")[: UNITS + 1])


def _stated(row: CeConversation) -> Iterator[tuple[str, str]]:
    return ((str(kind), str(wanted)) for kind, wanted in sorted(row.preferences.items()))


def _called(kind: str) -> str:
    return _KINDS.get(kind) or kind.replace("_", " ").capitalize()


def _stands_for(kind: str, wanted: str, collections: dict[str, CeDocumentCollection]) -> str | SafeString:
    if kind == "model":
        return _model(wanted)
    return _collection(wanted, collections) if kind == KNOWLEDGE_BASE else "the engine's own"


def _model(wanted: str) -> str:
    try:
        connection, model = models().find(wanted)
    except ModelUnknown:
        return "not allowed here any more: the model of the settings is asked"
    return f"{model} at {connection.base_url or connection.name}"


def _collection(name: str, collections: dict[str, CeDocumentCollection]) -> str | SafeString:
    found = collections.get(name)
    if found is None:
        return "not there any more: turns go on without it (KB_UNAVAILABLE)"
    page = link("ce_executors_cedocumentcollection_change", f"collection {name}", found.pk)
    if found.expires_at is None:
        return page
    ended = found.expires_at <= database_time()
    until = localize(localtime(found.expires_at))
    tail = "out of date since {}: turns go on without it (KB_UNAVAILABLE)" if ended else "valid until {}"
    return format_html("{}, {}", page, tail.format(until))
