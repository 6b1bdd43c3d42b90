"""The page that publishes a draft at a time."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.timezone import get_current_timezone_name

from config_admin.drafts.conditions import Publication, list_problems
from config_admin.drafts.edits import merge_edits
from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.drafts.open_draft import DraftEnded
from config_admin.drafts.schedule import ScheduleRefused, cancel_schedule, format_time, schedule_draft
from config_admin.editing.confirmation import list_missing_rights
from config_admin.editing.links import draft_url
from config_admin.history.gradual.form import AudienceForm
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.rights import PUBLISH_DRAFT


class _Time(forms.DateTimeField):
    """A date with a time, in the time zone of the workspace."""

    def __init__(self, **values: Any) -> None:
        widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
        super().__init__(widget=widget, input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"], **values)


class ScheduleForm(forms.Form):
    """When, until when, and why."""

    publish_at = _Time(label="Publish at")
    take_back_at = _Time(
        label="Take back at",
        required=False,
        help_text="At this time, a new release undoes what the release changed. If empty, it is never taken back.",
    )
    reason = forms.CharField(
        label="Reason for this change", help_text="It is shown in the history and with the release."
    )


@page("<int:draft_id>/schedule/", of="config_admin.CeDraft")
def schedule_view(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Ask for the times, or store them."""
    require_right(request, PUBLISH_DRAFT)
    draft = CeDraft.objects.filter(pk=draft_id, status=DraftStatus.OPEN).first()
    if draft is None:
        raise Http404("This draft does not exist, or has ended.")
    merged = merge_edits(draft)
    refusals = [refusal.message for refusal in list_missing_rights(request, merged.differences)]
    if emptiness := merged.explain_emptiness():
        refusals.append(emptiness)
    form = ScheduleForm(request.POST or None, initial={"reason": draft.offered_reason})
    is_for_part = request.POST.get("to") == "part"
    audience = AudienceForm(request.POST) if is_for_part else AudienceForm()
    is_valid = form.is_valid() and (audience.is_valid() or not is_for_part)
    if request.method == "POST" and is_valid and not refusals:
        values = form.cleaned_data
        times, who = (values["publish_at"], values["take_back_at"]), audience.audience if is_for_part else None
        try:
            schedule = schedule_draft(draft_id, request.user, *times, values["reason"], who)
        except (ScheduleRefused, DraftEnded) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"The draft will be published at {format_time(schedule.publish_at)}.")
            return HttpResponseRedirect(draft_url(draft_id))
    problems = list_problems(Publication(draft, merged, request.user))
    if merged.conflicts:
        problems.insert(0, "Rows were changed live and in the draft. Decide on the page of the draft.")
    context = {
        "title": f"Schedule the draft “{draft.title}”",
        "form": form,
        "audience": audience,
        "refusals": refusals,
        "problems": problems,
        "zone": get_current_timezone_name(),
        "back_url": draft_url(draft_id),
    }
    return TemplateResponse(request, "config_admin/draft_schedule.html", context)


@page("<int:draft_id>/cancel/", of="config_admin.CeDraft")
def cancel_view(request: HttpRequest, draft_id: int) -> HttpResponse:
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    require_right(request, PUBLISH_DRAFT)
    try:
        cancel_schedule(draft_id, request.user)
    except CeDraft.DoesNotExist:
        raise Http404("This draft does not exist.") from None
    except ScheduleRefused as refused:
        messages.warning(request, str(refused))
    else:
        messages.success(request, "Nothing is scheduled for this draft any more.")
    return HttpResponseRedirect(draft_url(draft_id))
