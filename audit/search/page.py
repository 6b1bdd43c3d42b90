"""The page that finds turns and conversations. Its address contains the search, which users can save and share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse

from audit.access_log.write import log_access
from audit.export.evidence.collect import EvidenceOrder
from audit.export.view import answer_file
from audit.models import CeAccessLog, CeSavedSearch
from audit.record.outcomes import Outcome
from audit.record.queries import list_workspaces
from audit.search.export import CONTENT_TYPES, EVIDENCE, collect_evidence, stream_file
from audit.search.form import GROUPS, TIMES, FindPageForm
from audit.search.query import CONVERSATIONS, SearchQuery
from audit.search.results import build_lines
from audit.search.walk import Cursor, count_with_page, find_turns
from convengine.engine.errors import ConvEngineError
from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings
from convengine.engine.turn.audit_settings import LEVEL, RETENTION_DAYS
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.labels import error_label, state_label
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.record_columns import find_row_name, name_intent
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.release_history import release_history
from convengine.server.sessions.models import CeConversation
from convengine.server.sessions.participants import find_threads


class SaveForm(forms.Form):
    name = forms.CharField(label="Name", max_length=80, error_messages={"required": "Enter a name for the search."})
    shared = forms.BooleanField(label="Share with everyone who may search turns", required=False)

    def __init__(self, user: Any, filters: Mapping[str, str], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user, self.filters = user, filters

    def clean(self) -> dict[str, Any]:
        """Refuses a search without filters, and a name that the user has given already."""
        if not self.filters:
            raise ValidationError("The search has no filters. Enter at least one filter first.")
        if CeSavedSearch.objects.filter(owner=self.user, name=self.cleaned_data.get("name")).exists():
            self.add_error(
                "name", "You already have a search with this name. Choose another name, or delete that search first."
            )
        return self.cleaned_data

    def save(self) -> CeSavedSearch:
        """Store the search, unless the user has one with this name; returns the stored one."""
        cleaned = self.cleaned_data
        # Stored once, even if it is sent twice.
        search, _ = CeSavedSearch.objects.get_or_create(
            name=cleaned["name"],
            owner=self.user,
            defaults={"shared": cleaned["shared"], "query": urlencode(self.filters)},
        )
        return search


def visible_searches(user: Any) -> QuerySet[CeSavedSearch]:
    """The searches that a user may see, their own and shared ones, by name."""
    return CeSavedSearch.objects.filter(Q(owner=user) | Q(shared=True)).select_related("owner").order_by("name", "id")


def may_delete_search(user: Any, search: CeSavedSearch) -> bool:
    return search.owner_id == user.pk or bool(user.has_perm("audit.delete_cesavedsearch"))


#: How filters name their codes.
_LABELS: Mapping[str, Callable[[str], str]] = {
    "intent": name_intent,
    "intent_before": name_intent,
    "state": state_label,
    "state_before": state_label,
    "error": error_label,
}
#: An evidence file has the events of the turns, too.
EVIDENCE_RIGHT = "audit.view_ceaudit"
#: Lines per page.
SIZE = 15
CURSOR = "at"
#: The parameter with the format of a file of all results.
EXPORT = "export"


@page(
    "find/",
    of="audit.CeAudit",
    from_replica=True,
    right=READ_TURNS,
    entry=SidebarEntry("Conversations", "Find", "Search turns and conversations.", 0),
)
def find_page(request: HttpRequest) -> HttpResponseBase:
    """The form, the results and the saved searches. Also saves or deletes a search, and gives the results as a file."""
    form = FindPageForm(request.GET, list_workspaces())
    if request.method != "POST" and any(not text for text in request.GET.values()):
        # Empty filters are not part of the address.
        return HttpResponseRedirect(_address(request, form.filled_filters))
    save = SaveForm(request.user, form.filled_filters)
    if request.method == "POST":
        if "delete" in request.POST:
            return _delete_search(request, form)
        save = SaveForm(request.user, form.filled_filters, request.POST)
        if form.is_valid() and save.is_valid():
            messages.success(request, f"The search is saved as “{save.save().name}”.")
            return HttpResponseRedirect(_address(request, form.filled_filters))
    if (file_format := request.GET.get(EXPORT)) in CONTENT_TYPES and form.is_valid():
        log_access(request, CeAccessLog.Kind.EXPORT, search=urlencode({**form.filled_filters, EXPORT: file_format}))
        return stream_file(form.search(), file_format)
    if file_format == EVIDENCE and form.is_valid():
        return _export_evidence(request, form)
    status = 400 if any(name in form.errors for name in TIMES) else 200
    return TemplateResponse(request, "audit/find.html", _page_context(request, form, save), status=status)


def _page_context(request: HttpRequest, form: FindPageForm, save: SaveForm) -> dict[str, Any]:
    """What the template needs: the forms, the active filters, the saved searches, and for a valid form the results."""
    searches = list(visible_searches(request.user)[:MAX_LISTED])
    context = {
        **admin.site.each_context(request),
        "title": "Find",
        "form": form,
        "groups": [(title, [form[name] for name in names]) for title, names in form.groups],
        "invalid": [form[name] for name in form.fields if name in form.errors],
        # The filters of a search are named above its results; the inputs open where one is to be corrected.
        "more_open": not set(form.errors).isdisjoint(name for _, names in GROUPS[1:] for name in names),
        "active_filters": [
            (form[name].label, _describe_value(form, name), _address_without(request, form, name))
            for name in form.filled_filters
        ],
        "suggestions": {**suggest_values(), "workspace": list(map(SuggestedValue, form.workspaces))},
        "save": save,
        "saved_searches": [
            (search, may_delete_search(request.user, search), search.owner_id == request.user.pk) for search in searches
        ],
        "here": _address(request, form.filled_filters),
    }
    return context | (_results_context(request, form) if form.is_valid() else {})


def _export_evidence(request: HttpRequest, form: FindPageForm) -> HttpResponse:
    """The newest results as an evidence file. Each conversation in it is logged. Raises RightMissing."""
    require_right(request, EVIDENCE_RIGHT)
    text = urlencode({**form.filled_filters, EXPORT: EVIDENCE})
    log_access(request, CeAccessLog.Kind.EVIDENCE, search=text)
    order = EvidenceOrder(request.user.get_username(), request.user.has_perm)
    data = collect_evidence(form.search(), urlencode(form.filled_filters), order)
    for conversation in data["conversations"]:
        log_access(request, CeAccessLog.Kind.EVIDENCE, conversation["id"], search=text)
    return answer_file(data, "evidence-of-a-search")


def _results_context(request: HttpRequest, form: FindPageForm) -> dict[str, Any]:
    """Find a page of results, log the search, and describe the results for the template."""
    search = form.search()
    log_access(request, CeAccessLog.Kind.SEARCH, search=urlencode(form.filled_filters))
    at = request.GET.get(CURSOR, "")
    cursor = Cursor.read(at)
    turn_page = find_turns(search, cursor, SIZE)
    total = ""
    if turn_page.matches and not at:
        counted = count_with_page(search, turn_page)
        noun = "conversation" if search.kind == CONVERSATIONS else "turn"
        total = f"{counted.describe()} {noun}{pluralize(counted.count)}"
    user: Any = request.user
    formats = [("csv", "CSV"), ("ndjson", "NDJSON"), (EVIDENCE, "Evidence file")]
    allowed = formats if user.has_perm(EVIDENCE_RIGHT) else formats[:2]
    ways = {"older": turn_page.older, "newer": turn_page.newer, "look_further": turn_page.further}
    older_codes = release_history().older_codes(search.intent) if search.intent else ()
    filters = form.filled_filters
    return {
        "page": turn_page,
        "total": total,
        "exports": [(label, _address(request, {**filters, EXPORT: name})) for name, label in allowed]
        if turn_page.matches
        else [],
        "lines": build_lines(turn_page.matches, search.text),
        "of_conversations": search.kind == CONVERSATIONS,
        "strange_place": bool(at) and cursor is None,
        "further": at != "",
        "hints": list(iterate_hints(search)) if not turn_page.matches and not turn_page.paused else [],
        "older_codes": [(old, _address(request, {**filters, "intent": old})) for old in older_codes],
        **{
            name: _address(request, {**filters, CURSOR: str(position)}) if position else ""
            for name, position in ways.items()
        },
        "newest": _address(request, filters),
    }


def _describe_value(form: FindPageForm, name: str) -> str:
    """The value of a filter in words, with its code where the words say something else."""
    given = form.filled_filters[name]
    if name in TIMES:
        return given.replace("T", " ")
    if name in _LABELS:
        return _add_code(_LABELS[name](code(given)), code(given))
    if name == "row":
        return _add_code(find_row_name(form.filled_filters.get("table", ""), given), given)
    if name == "outcome" and code(given) in list(Outcome):
        return _add_code(Outcome(code(given)).label, code(given))
    if name == "step" and form.is_valid():
        # As in "Asked: phone, of Refund".
        step = form.cleaned_data["step"]
        title = find_row_name(OutputSchema.table, step.schema)
        ends = (f": {step.field}" if step.field else "", f", of {title}" if title else "")
        return _add_code(f"{step.kind.label}{''.join(ends)}", given)
    return str(dict(getattr(form.fields[name], "choices", ())).get(given, given))


def _add_code(label: str, given: str) -> str:
    return f"{label} ({given})" if label and label != given else given


def _address_without(request: HttpRequest, form: FindPageForm, name: str) -> str:
    """The search without one filter. The row and its table belong together."""
    gone = {"table", "row"} if name in ("table", "row") else {name}
    return _address(request, {key: text for key, text in form.filled_filters.items() if key not in gone})


def _address(request: HttpRequest, params: Mapping[str, str]) -> str:
    return f"{request.path}?{urlencode(params)}" if params else request.path


def _delete_search(request: HttpRequest, form: FindPageForm) -> HttpResponse:
    """Delete the saved search that the request names, if the user may, and go back to the present search."""
    searches = {str(search.pk): search for search in visible_searches(request.user)}
    search = searches.get(request.POST["delete"])
    if search and may_delete_search(request.user, search):
        search.delete()
        messages.success(request, f"The search “{search.name}” was deleted.")
    else:
        messages.error(request, "This search does not exist any more, or belongs to someone else.")
    return HttpResponseRedirect(_address(request, form.filled_filters))


class SuggestedValue(NamedTuple):
    """A value of a filter, and what it is called; blank if it has no other name."""

    code: str
    label: str = ""


def suggest_values() -> Mapping[str, Sequence[SuggestedValue]]:
    """Names of the present configuration, by filter. Older turns may have others."""
    snapshot: Snapshot = configuration().latest
    return {
        "intent": [SuggestedValue(intent, name_intent(intent)) for intent in _known_intents(snapshot)],
        "state": [SuggestedValue(state, state_label(state)) for state in _known_states(snapshot)],
        "error": [SuggestedValue(error, error_label(error)) for error in list_error_codes()],
    }


def iterate_hints(search: SearchQuery) -> Iterator[str]:
    """Why a search may have found nothing."""
    snapshot: Snapshot = configuration().latest
    if search.intent and search.intent not in _known_intents(snapshot):
        yield f"The current configuration does not have the intent {search.intent}."
    if search.state and search.state not in _known_states(snapshot):
        yield f"The current configuration does not have the state {search.state}."
    if search.participant and not _is_known_participant(search.participant):
        yield f"No participant has “{search.participant}” in the name or number. Try a shorter part."
    if search.text:
        yield "The search finds whole words and ignores case and accents. Use begin* for word beginnings."
    if search.stage:
        yield f"Events that “{LEVEL.label}” or other audit settings exclude cannot be found by stage."
    if days := live_settings.read(snapshot, RETENTION_DAYS).value:
        yield f"Turns older than {days} day{pluralize(days)} are removed, as set in “{RETENTION_DAYS.label}”."


def _is_known_participant(participant: str) -> bool:
    """True if a thread or a conversation of a channel has such a participant, in any workspace."""
    return (
        bool(find_threads(participant, most=1))
        or CeConversation.objects.filter(remote_jid=participant).exclude(channel=PLAIN_CHANNEL).exists()
    )


def _known_intents(snapshot: Snapshot) -> list[str]:
    return sorted(snapshot.active_intents - {ANY})


def _known_states(snapshot: Snapshot) -> list[str]:
    return sorted(snapshot.known_states)


@cache
def list_error_codes() -> Sequence[str]:
    """Every error code of a turn, in order."""
    return sorted(_codes_of(ConvEngineError))


def _codes_of(error: type[ConvEngineError]) -> set[str]:
    return {error.code, *(name for subclass in error.__subclasses__() for name in _codes_of(subclass))}


#: Maximum searches of each kind.
MAX_LISTED = 100
