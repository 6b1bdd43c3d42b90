"""The search of the whole admin, in memory, as a page and for the Ctrl-K box."""

import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.views.decorators.http import require_GET

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import list_visible_tables, release_url, settings_url
from config_admin.editing.usages import link_of
from config_admin.manual import prose
from config_admin.releases.working_copy import write_outside
from config_admin.validation.labels import column_label
from config_admin.validation.uses import RowTexts, list_row_texts
from config_admin.workplace.settings_page import list_settings
from convengine.engine.text.compare import code
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.text.participants import SHORTEST
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn import rows
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.layout import list_places
from convengine.server.interfaces.access_log import access_log
from convengine.server.sessions.models import CeConversation
from convengine.server.sessions.participants import find_participants

#: How many hits are shown.
SHOWN = 50
#: How many conversations of participants are among them.
PARTICIPANTS = 8


@dataclass(frozen=True)
class Hit:
    """A hit: its address, its name, and the excerpt."""

    url: str
    name: str
    about: str = ""
    #: The column with the words, and the excerpt.
    field: str = ""
    before: str = ""
    match: str = ""
    after: str = ""
    enabled: bool = True

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class SearchResults:
    """The best hits, and the total number."""

    hits: Sequence[Hit]
    total: int


@require_GET
def find(request: HttpRequest) -> HttpResponse:
    """The search results; none without words."""
    text = request.GET.get("q", "").strip()
    results = _search_all(request, text)
    if request.headers.get("Accept", "").startswith("application/json"):
        return JsonResponse({"hits": [hit.as_dict() for hit in results.hits], "total": results.total})
    context = {**admin.site.each_context(request), "title": "Search", "wanted": text, "results": results}
    return TemplateResponse(request, "config_admin/search.html", context)


def _search_all(request: HttpRequest, text: str) -> SearchResults:
    conversation = [*_find_conversation(request, text), *_find_participant_hits(request, text)]
    places = [page for section in list_places(request) for page in section["items"]]
    chapters = [chapter for _, of_part in prose.contents() for chapter in of_part]
    pages = [Hit(page["link"], page["title"], page["help"]) for page in places] + [
        Hit(reverse("manual_chapter", args=[chapter.slug]), chapter.title, "Chapter of the manual")
        for chapter in chapters
    ]
    results = search(get_editor_context(request).snapshot, text, list_visible_tables(request), pages)
    return SearchResults([*conversation, *results.hits], len(conversation) + results.total)


def _find_conversation(request: HttpRequest, text: str) -> Iterator[Hit]:
    """The conversation of an id; its page says whether it exists."""
    user: Any = request.user
    try:
        wanted = uuid.UUID(text)
        url = reverse("admin:ce_sessions_ceconversation_change", args=[wanted])
    except (ValueError, NoReverseMatch):
        return
    if user.has_perm("ce_sessions.view_ceconversation"):
        yield Hit(url, f"Conversation {wanted}", "Conversation with its turns")


def _find_participant_hits(request: HttpRequest, text: str) -> Iterator[Hit]:
    """The newest conversations of the participants with these words in their names."""
    user: Any = request.user
    if len(text) < SHORTEST or not user.has_perm("ce_sessions.view_ceconversation"):
        return
    names = find_participants(text, most=PARTICIPANTS)
    if names:
        write_outside(lambda: access_log().log_row_access(request, None))
    newest = CeConversation.objects.exclude(channel=PLAIN_CHANNEL).filter(remote_jid__in=names).order_by("-created_at")
    for row in newest.only("remote_jid", "channel", "created_at")[:PARTICIPANTS]:
        about = f"Conversation on {row.channel}, since {date_format(localtime(row.created_at), 'DATETIME_FORMAT')}"
        url = reverse("admin:ce_sessions_ceconversation_change", args=[row.pk])
        yield Hit(url, reveal_invisible(row.remote_jid), about)


#: How much text is shown around a hit.
_BEFORE, _AFTER = 32, 60
#: Columns that name a row.
_NAMES = frozenset({"tool_code", "action_key", "name", "config_key", "intent_code", "state_code", "description"})
#: The quality of a hit: equal to the name, start of a word of it, in the name, in a text, or its words apart in a text.
_IS, _BEGINS, _HAS, _SAYS, _MENTIONS = range(5)


def search(snapshot: Snapshot, text: str, tables: Collection[str], pages: Sequence[Hit] = ()) -> SearchResults:
    """Everything with all words of a text, best first: pages, settings, then rows of the tables.

    No query. Rows with the words in their name come first; the name of its intent counts as words of a row.
    """
    words = text.lower().split()
    if not words:
        return SearchResults((), 0)
    named = [hit for hit in pages if _has_all(f"{hit.name} {hit.about}".lower(), words)]
    if rows.Config.table in tables:
        named += [
            Hit(settings_url(setting), setting.label, f"{setting.name} · {setting.help}")
            for setting in list_settings()
            if _has_all(f"{setting.label} {setting.name} {setting.help}".lower(), words)
        ]
    ranked = sorted(_rank_rows(snapshot, words, tables), key=lambda each: each[0])
    best = (_build_hit(row, words) for _, row in islice(ranked, SHOWN))
    number = parse_whole_number(text.lower().removeprefix("release").strip(), snapshot.config_version)
    about = "Release of the configuration"
    release = [Hit(release_url(number), f"Release {number}", about)] if number else []
    return SearchResults([*release, *named, *best][:SHOWN], len(release) + len(named) + len(ranked))


def _rank_rows(
    snapshot: Snapshot, words: Sequence[str], tables: Collection[str]
) -> Iterator[tuple[tuple[int, int], RowTexts]]:
    whole = " ".join(words)
    intents = {code(row.intent_code): row.name.lower() for row in snapshot.rows(rows.Intent)}
    for order, row_type in enumerate(rows.ROW_TYPES):
        if row_type.table in tables:
            for texts in list_row_texts(snapshot, row_type):
                intent = intents.get(code(getattr(texts.row, "intent_code", None) or ""), "")
                if _has_all(f"{texts.folded}\n{intent}", words):
                    yield (_rank(texts, whole), order), texts


def _rank(texts: RowTexts, whole: str) -> int:
    names = [text.lower() for name, text in texts.texts.items() if name in _NAMES or name == texts.row.key]
    if whole == str(texts.row.pk).lower():
        return _IS
    if any(f" {whole}" in f" {name.replace('_', ' ')}" for name in names):
        return _BEGINS
    if any(whole in name for name in names):
        return _HAS
    return _SAYS if whole in texts.folded else _MENTIONS


def _has_all(folded: str, words: Sequence[str]) -> bool:
    return all(word in folded for word in words)


def _build_hit(texts: RowTexts, words: Sequence[str]) -> Hit:
    link = link_of(texts.row)
    for wanted in (" ".join(words), *words):
        for name, text in texts.texts.items():
            if (start := text.lower().find(wanted)) >= 0:
                end = start + len(wanted)
                before = f"{'…' if start > _BEFORE else ''}{text[max(start - _BEFORE, 0) : start]}"
                match, after = text[start:end], f"{text[end : end + _AFTER]}{'…' if end + _AFTER < len(text) else ''}"
                label = column_label(texts.row.table, name)
                return Hit(link.url, link.name, link.about, label, before, match, after, link.enabled)
    return Hit(link.url, link.name, link.about, enabled=link.enabled)
