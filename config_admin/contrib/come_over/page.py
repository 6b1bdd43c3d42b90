"""The page that shows what a bot of another system becomes, and makes a draft of it."""

from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from config_admin.contrib.come_over.make_draft import (
    LONGEST_TITLE,
    describe_systems,
    get_default_title,
    make_draft,
    name_bot,
    read_archived_project,
)
from config_admin.contrib.come_over.plan import plan_project
from config_admin.contrib.come_over.report import describe_plan
from config_admin.drafts.middleware import enter_draft
from config_admin.drafts.named_draft import find_named_draft, get_needed_right
from config_admin.editing.links import draft_url
from config_admin.flows.document import FlowRefused
from config_admin.transfer.apply_import import ImportFailed
from config_admin.transfer.document import FileRefused
from config_admin.transfer.row_by_row import limit_document, may_change_rows
from config_admin.transfer.upload_form import UploadForm
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.rights import IMPORT


class BotForm(UploadForm):
    """The archive of a bot, and the title of its draft."""

    file_missing = "Choose a file: the zipped folder of the bot."
    too_large = "Leave examples out."

    title = forms.CharField(required=False)


@page(
    "come-over/",
    of="config_admin.CeDraft",
    right="config_admin.add_cedraft",
    entry=SidebarEntry("Releases", "Come over", "Make a draft of a bot of another system, such as Rasa."),
)
def show(request: HttpRequest) -> HttpResponse:
    """Ask for the files of a bot, then show its plan; make a draft if the user confirms the plan."""
    if not may_change_rows(request):
        require_right(request, IMPORT)
    form = BotForm(request.POST, request.FILES) if request.method == "POST" else BotForm()
    context: dict[str, Any] = {"title": "Come over", "form": form, "systems": describe_systems()}
    if form.is_bound and form.is_valid():
        try:
            answer = _plan_bot(request, form)
        except (FileRefused, FlowRefused, ImportFailed) as refused:
            form.add_error("file", refused.problems if isinstance(refused, FlowRefused) else str(refused).split("\n"))
        else:
            if isinstance(answer, HttpResponse):
                return answer
            context |= answer
    return TemplateResponse(request, "config_admin/come_over.html", context)


def _plan_bot(request: HttpRequest, form: BotForm) -> HttpResponse | dict[str, Any]:
    """The context of the plan, or the way to the draft. Raises FileRefused, FlowRefused and ImportFailed."""
    user: Any = request.user
    given, apply = form.cleaned_data, "apply" in request.POST
    plan = plan_project(read_archived_project(given["name"], given["data"]))
    reason = get_default_title(given["name"])
    title = given["title"][:LONGEST_TITLE] or reason
    if apply:
        require_right(request, get_needed_right(title))
    # The changes are seen on the page of the draft, before they are published.
    limit = None if user.has_perm(IMPORT) else lambda document: replace(limit_document(document, request), seen=None)
    done = make_draft(plan, title, user, reason, apply=apply, limit=limit)
    draft = find_named_draft(title)
    if done.is_applied and draft:
        enter_draft(request, draft)
        text = f"What comes along is in the draft “{title}”. You work in it now; conversations do not use it yet."
        messages.success(request, text)
        return HttpResponseRedirect(draft_url(draft.pk))
    return {
        **describe_plan(name_bot(given["name"]), plan),
        **form.pack(),
        "plan": done.plan,
        "draft": title,
        "draft_url": draft_url(draft.pk) if draft else "",
    }
