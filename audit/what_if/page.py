"""The pages of What if: choose a configuration and conversations, watch the progress, read what differs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse

from audit.access_log.write import log_access
from audit.addresses import read_number
from audit.models import CeAccessLog, CeAudit, CeWhatIf
from audit.search.form import FindForm
from audit.search.page import suggest_values
from audit.what_if.engine import ConfigurationPair
from audit.what_if.jobs import (
    DEFAULT_LAST,
    FILTERS,
    hash_configurations,
    pack_unsaved,
    read_comparison,
    start_run,
    what_ifs,
)
from audit.what_if.results import (
    GROUPS,
    PAGE,
    count_differences,
    count_untold,
    link_row,
    read_groups,
    select_results,
    show_turns,
)
from audit.what_if.selection import MAX_CONVERSATIONS
from convengine.engine.errors import ReplayBusy
from convengine.server.admin_site.breadcrumbs import Crumb, set_breadcrumbs
from convengine.server.admin_site.configuration_choice import (
    READ_RIGHTS,
    get_current_name,
    list_choices,
    may_read,
    require_readable,
)
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.record_columns import badge_class, row_url
from convengine.server.interfaces.configuration import ConfigurationName
from convengine.server.interfaces.unsaved_form import UnsavedForm
from convengine.server.jobs.background_runs import RunStatus

WHAT_IF, RUN, CANCEL = (f"audit_ceaudit_what_if{name}" for name in ("", "_run", "_cancel"))
#: Reading conversations and their events.
RIGHTS = ("audit.view_ceaudit", "ce_sessions.view_ceconversationhistory")
_LISTED = 10
_DAY = 86_400


class WhatIfForm(forms.Form):
    """The configuration, what it is compared with, and how many conversations."""

    configuration = forms.ChoiceField(
        label="Configuration", error_messages={"invalid_choice": "This configuration does not exist any more."}
    )
    base = forms.ChoiceField(
        label="Compared with",
        choices=CeWhatIf.Base.choices,
        help_text="Live now: what would the change do? As recorded: what became different since each turn?",
    )
    last = forms.IntegerField(
        label="Conversations",
        min_value=1,
        max_value=MAX_CONVERSATIONS,
        help_text="The newest ones with a turn that matches the filters. All their turns run again.",
    )

    def __init__(self, request: HttpRequest, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        field: Any = self.fields["configuration"]
        field.choices = list_choices(
            request, str(self.initial.get("configuration") or self.data.get("configuration") or "")
        )


def run_url(run: CeWhatIf) -> str:
    return reverse(f"admin:{RUN}", args=[run.pk])


def require_rights(request: HttpRequest, configuration: str = "") -> None:
    """Raises RightMissing for somebody who may not read conversations or the configuration."""
    for right in RIGHTS:
        require_right(request, right)
    require_readable(request, configuration)


@page(
    "what-if/",
    of="audit.CeAudit",
    right="audit.view_ceaudit",
    entry=SidebarEntry(
        "Try & test", "What if", "Run stored conversations on a draft or a release, and see what changes.", 1
    ),
)
def show_start(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """The form and the latest runs; or start one."""
    require_rights(request, request.POST.get("configuration", ""))
    if request.method != "POST":
        return _render_start(model_admin, request, _offer_form(request), _read_filters(request.GET))
    unsaved = _read_unsaved(request)
    form, find = WhatIfForm(request, request.POST), _read_filters(request.POST)
    if all([form.is_valid(), find.is_valid()]):
        run = CeWhatIf(
            owner=f"user:{request.user.get_username()}",
            **form.cleaned_data,
            filters=find.filled_filters,
            unsaved=unsaved and unsaved.rows,
            title=unsaved.title if unsaved else "",
        )
        if _start(request, run):
            return HttpResponseRedirect(run_url(run))
    return _render_start(model_admin, request, form, find, unsaved)


def show_unsaved(request: HttpRequest, form: UnsavedForm, configuration: ConfigurationName) -> HttpResponse:
    """The start page with the rows of a form, signed for its user. A form with errors is not signed and cannot run."""
    require_rights(request, str(configuration))
    model_admin = admin.site.get_model_admin(CeAudit)
    offered = _offer_form(request, str(configuration))
    unsaved = _Unsaved(form.title, "", problems=form.errors)
    if not form.errors:
        values = {"title": form.title, "rows": pack_unsaved(form.rows)}
        unsaved = _Unsaved(form.title, signing.dumps(values, salt=_salt(request), compress=True))
    return _render_start(model_admin, request, offered, _read_filters(request.GET), unsaved)


class _Unsaved(NamedTuple):
    """A form that is not saved. It is signed for the next request of the same user, because its rows were checked."""

    title: str
    #: Blank if the form has errors.
    signed: str
    rows: Any = None
    problems: Sequence[tuple[str, str]] = ()


def _offer_form(request: HttpRequest, configuration: str = "") -> WhatIfForm:
    """The form with the values of the address, else with defaults. `configuration` goes before that of the address."""
    initial = {
        "configuration": configuration or request.GET.get("configuration") or get_current_name(request),
        "base": request.GET.get("base") or CeWhatIf.Base.LIVE,
        "last": request.GET.get("last") or DEFAULT_LAST,
    }
    return WhatIfForm(request, initial=initial)


def _read_filters(given: QueryDict) -> FindForm:
    return FindForm({name: given.get(name, "") for name in FILTERS})


def _render_start(
    model_admin: Any, request: HttpRequest, form: WhatIfForm, find: FindForm, unsaved: _Unsaved | None = None
) -> HttpResponse:
    """The start page: the form, the filters of conversations, the unsaved rows, and the latest runs of all users."""
    what_ifs.mark_lost()
    context = {
        **_page_context(model_admin, request, None),
        "form": form,
        "address": reverse(f"admin:{WHAT_IF}"),
        "unsaved": unsaved,
        "filters": [find[name] for name in FILTERS],
        "has_filters": bool(find.filled_filters),
        "suggestions": {name: values for name, values in suggest_values().items() if name in FILTERS},
        "runs": [_describe_run(run) for run in _select_readable_runs(request)[:_LISTED]],
    }
    return TemplateResponse(request, "audit/what_if.html", context)


def _select_readable_runs(request: HttpRequest) -> QuerySet[CeWhatIf]:
    """The runs of people whose configurations the user may read, the newest first; those of API keys are left out."""
    runs = CeWhatIf.objects.filter(workspace_id="").order_by("-created_at")
    for kind in READ_RIGHTS:
        runs = runs if may_read(request, kind) else runs.exclude(configuration__startswith=f"{kind}:")
    return runs


def _read_unsaved(request: HttpRequest) -> _Unsaved | None:
    """The signed rows of a request. Returns None if it has none.

    Raises PermissionDenied for rows that this user was not shown within the last day.
    """
    if not (text := request.POST.get("unsaved", "")):
        return None
    try:
        values = signing.loads(text, salt=_salt(request), max_age=_DAY)
    except signing.BadSignature:
        raise PermissionDenied("These unsaved changes cannot be used any more. Open the form again.") from None
    return _Unsaved(values["title"], text, values["rows"])


def _salt(request: HttpRequest) -> str:
    return f"what if {request.user.pk}"


def _start(request: HttpRequest, run: CeWhatIf) -> bool:
    """Log the reading, and start. Returns False for a refusal, which becomes a message."""
    log_access(request, CeAccessLog.Kind.WHAT_IF, search=urlencode({"configuration": run.configuration, **run.filters}))
    try:
        start_run(run)
    except (ReplayBusy, LookupError) as refused:
        messages.error(request, getattr(refused, "message", str(refused)))
        return False
    return True


@page("what-if/<uuid:what_if_id>/cancel/", of="audit.CeAudit", methods=["POST"])
def cancel(request: HttpRequest, what_if_id: Any) -> HttpResponse:
    run = _find_run(request, what_if_id)
    if what_ifs.cancel(run.pk):
        messages.success(request, "The run is cancelled. What it found so far is listed.")
    return HttpResponseRedirect(run_url(run))


@page("what-if/<uuid:what_if_id>/", of="audit.CeAudit", name="what_if_run", methods=["GET"])
def show_run(model_admin: Any, request: HttpRequest, what_if_id: Any) -> HttpResponse:
    """A run: its progress, its groups, or the turns of one group."""
    what_ifs.mark_lost()
    run = _find_run(request, what_if_id)
    groups = read_groups(run)
    comparison, problem = _read_comparison(run)
    inputs = {"configuration": run.configuration, "base": run.base, "last": run.last, **run.filters}
    source, _, number = run.configuration.partition(":")
    draft_url = reverse("admin:config_admin_cedraft_change", args=[number]) if source == "draft" and comparison else ""
    context = {
        **_page_context(model_admin, request, run),
        "run": run,
        "line": _describe_run(run),
        "progress": _describe_progress(run),
        "groups": [
            (
                group,
                [(each, link_row((each.table, each.pk), comparison) if each.table else "") for each in group.causes],
            )
            for group in groups
        ],
        "differing": count_differences(groups),
        "untold": count_untold(groups),
        # Those of erased conversations count as the same.
        "same": max(0, run.done - sum(group.count for group in groups)),
        "sides": (run.get_base_display(), run.title),
        "problem": problem,
        "cancel_url": reverse(f"admin:{CANCEL}", args=[run.pk]),
        "again_url": f"{reverse(f'admin:{WHAT_IF}')}?{urlencode(inputs)}",
        "may_run_again": comparison is not None,
        "draft_url": draft_url,
    }
    if (kind := request.GET.get("kind", "")) in GROUPS:
        context |= _turns_context(request, run, comparison, kind)
    return TemplateResponse(request, "audit/what_if_run.html", context)


def _turns_context(
    request: HttpRequest, run: CeWhatIf, comparison: ConfigurationPair | None, kind: str
) -> dict[str, Any]:
    """A page of the turns of a group. They run again now, so it is logged; without `comparison` there are none."""
    given = {name: request.GET[name] for name in ("kind", "table", "row", "note") if name in request.GET}
    log_access(request, CeAccessLog.Kind.WHAT_IF, search=urlencode({"run": str(run.pk), **given}))
    number = min(read_number(request.GET.get("page", "")) or 1, 99_999)
    start = (number - 1) * PAGE
    rows = list(select_results(run, given)[start : start + PAGE + 1])
    return {
        "chosen": {"kind": kind, "title": GROUPS[kind][0], "query": urlencode(given)},
        "cause": link_row((given["table"], given["row"]), comparison)
        if given.get("table") and given.get("row")
        else "",
        "note": given.get("note", ""),
        **_find_draft_of_row(request, run, given),
        "turns": show_turns(comparison, rows[:PAGE]) if comparison else [],
        "newer": f"?{urlencode({**given, 'page': number - 1})}" if number > 1 else "",
        "older": f"?{urlencode({**given, 'page': number + 1})}" if len(rows) > PAGE else "",
    }


def _find_draft_of_row(request: HttpRequest, run: CeWhatIf, given: Mapping[str, str]) -> dict[str, str]:
    """How to open a row in the draft of a run, for a user who may and is not in that draft; else empty."""
    kind, _, number = run.configuration.partition(":")
    user, draft = request.user, getattr(request, "ce_draft", None)
    is_in_it = draft is not None and str(draft.pk) == number
    if kind != "draft" or is_in_it or not given.get("table") or not user.has_perm("config_admin.change_cedraft"):
        return {}
    enter_url = reverse("admin:config_admin_cedraft_enter", args=[number])
    return {"enter_url": enter_url, "row_url": row_url(given["table"], given.get("row", ""))}


def _find_run(request: HttpRequest, key: Any) -> CeWhatIf:
    """The run with this key. Raises RightMissing, and Http404 for a run that does not exist."""
    require_rights(request)
    run: CeWhatIf | None = CeWhatIf.objects.filter(pk=key).first()
    if run is None:
        raise Http404("This run does not exist. Results are removed after a week.")
    require_rights(request, run.configuration)
    return run


def _read_comparison(run: CeWhatIf) -> tuple[ConfigurationPair | None, str]:
    """The configurations as they are now; and why the turns cannot be shown, or that they may look different."""
    try:
        comparison = read_comparison(run)
    except LookupError:
        what = "draft has ended" if run.configuration.startswith("draft") else "configuration does not exist any more"
        return None, f"The {what}, so the turns cannot be shown. The counts are those of the run."
    if run.hashes and hash_configurations(comparison) != run.hashes:
        return comparison, (
            "The configuration changed since this run. The counts are those of the run; turns are shown as they would "
            "be now. Run it again."
        )
    return comparison, ""


def _describe_progress(run: CeWhatIf) -> str:
    if run.turns is None:
        return "Waiting" if run.status == RunStatus.PENDING else "Selecting conversations"
    return f"{run.done:,} of {run.turns:,} turns"


def _describe_run(run: CeWhatIf) -> dict[str, Any]:
    """A run as the templates show it in a line."""
    return {
        "run": run,
        "url": run_url(run),
        "look": badge_class(run.status),
        "by": run.owner.partition(":")[2],
        "filters": _describe_filters(run),
    }


def _describe_filters(run: CeWhatIf) -> str:
    labels = {name: str(FindForm.base_fields[name].label) for name in FILTERS}
    given = ((labels[name], value) for name, value in run.filters.items() if name in labels)
    return ", ".join(f"{label[:1].lower()}{label[1:]}: {value}" for label, value in given)


def _page_context(model_admin: Any, request: HttpRequest, run: CeWhatIf | None) -> dict[str, Any]:
    """What the templates of both pages need. Sets the breadcrumbs; without `run`, those of the start page."""
    address = reverse(f"admin:{WHAT_IF}")
    noted: Any = request
    noted.ce_place, noted.is_about_drafts = address, True
    if run:
        set_breadcrumbs(request, Crumb("What if", address), Crumb(run.title))
    else:
        set_breadcrumbs(request, Crumb("What if"))
    title = f"What if: {run.title}" if run else "What if"
    return {**model_admin.admin_site.each_context(request), "title": title, "opts": model_admin.model._meta}
