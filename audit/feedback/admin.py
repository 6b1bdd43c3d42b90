"""Pages of feedback: all of it, the newest first; rows by what was thought of their answers; and giving it."""

import uuid
from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_POST

from audit.feedback.counting import MOST, Rated, rated
from audit.feedback.giving import Given, give
from audit.models import CeMcpUserFeedback
from audit.pages import addresses
from convengine import conf
from convengine.domain.text import storable
from convengine.errors import ConvEngineError, RequestInvalid
from convengine.read_only import ByConversation
from convengine.record_columns import beginning, labelled, release_link, row_link

#: Days that the list of rows looks back, to choose from.
DAYS = (7, 30, 90, 365)
_LOOKS = {"THUMBS_UP": "success", "THUMBS_DOWN": "danger"}


@admin.register(CeMcpUserFeedback)
class FeedbackAdmin(ByConversation):
    """Feedback, the newest first."""

    list_display = ("created_at", "thumb", "turn", "said", "answered", "comments", "corrected", "row", "by")
    fields = (
        *("thumb", "turn", "conversation_page", "by", "created_at", "replaced_at", "user_query"),
        *("assistant_response", "comment", "correction", "row", "release", "intent_code", "state_code"),
        *("mcp_tool_code", "message_id", "metadata_json"),
    )
    readonly_fields = ("thumb", "turn", "conversation_page", "by", "row", "release")
    list_filter = ("feedback_type",)
    ordering = ("-feedback_id",)
    said = beginning("user_query", "user")
    answered = beginning("assistant_response", "answer")
    comments = beginning("comment", "comment")
    corrected = beginning("correction", "correction")

    def get_urls(self) -> list[Any]:
        """Beside the usual pages, that of rows."""
        view = self.admin_site.admin_view
        return [
            path("rated/", view(require_GET(self.rated_page)), name="audit_cemcpuserfeedback_rated"),
            path(
                "<uuid:conversation_id>/<turn:turn_no>/give/",
                view(require_POST(self.give_page)),
                name="audit_cemcpuserfeedback_give",
            ),
            *super().get_urls(),
        ]

    @labelled(_LOOKS, "thumb")
    def thumb(self, row: CeMcpUserFeedback) -> tuple[str, str]:
        """Which way it points; one that was replaced says so."""
        return row.feedback_type, row.get_feedback_type_display() + (", replaced" if row.replaced_at else "")

    @admin.display(description="turn")
    def turn(self, row: CeMcpUserFeedback) -> SafeString:
        """The turn that is rated, on its timeline: retention may have taken its record."""
        address = addresses.timeline_url(row.conversation_id, row.turn_no)
        return format_html('<a class="ce-link" href="{}">Turn {}</a>', address, row.turn_no)

    @admin.display(description="by")
    def by(self, row: CeMcpUserFeedback) -> str:
        """Who gave it."""
        return row.who

    @admin.display(description="answered by")
    def row(self, row: CeMcpUserFeedback) -> SafeString | str:
        """The row that answered."""
        if not row.row_pk:
            return "-"
        return row_link(row.table_name, row.row_pk, f"{row.table_name.removeprefix('ce_')} {row.row_pk}")

    @admin.display(description="configuration")
    def release(self, row: CeMcpUserFeedback) -> SafeString:
        """The release that the turn ran on."""
        return release_link(row.config_version)

    def rated_page(self, request: HttpRequest) -> HttpResponse:
        """Rows by what was thought of their answers, the worst first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        given = request.GET.get("days", "")
        days = int(given) if given.isascii() and given.isdecimal() and int(given[:6]) in DAYS else DAYS[1]
        found = rated(timezone.now() - timedelta(days=days))
        context = {
            **self.admin_site.each_context(request),
            "title": "Rated rows",
            "opts": self.opts,
            "lines": [(one, _linked(one), _list_of(one)) for one in found],
            "days": days,
            "choices": DAYS,
            "full": len(found) == MOST,
        }
        return TemplateResponse(request, "audit/rated.html", context)

    def give_page(self, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
        """Keep what somebody who is signed in thinks of a turn, and go back to it."""
        if not request.user.has_perm("audit.add_cemcpuserfeedback"):
            raise PermissionDenied
        texts = {name: storable(request.POST.get(name, "")).strip() for name in ("comment", "correction")}
        limit = conf.get("MAX_MESSAGE_BYTES")
        kind = request.POST.get("feedback_type", "")
        if kind not in CeMcpUserFeedback.Type.values:
            messages.error(request, "Say whether the answer was good or bad: press one of the two thumbs.")
        elif any(len(text.encode()) > limit for text in texts.values()):
            messages.error(request, f"That is longer than {limit} bytes. Say less at once.")
        else:
            given = Given(kind, comment=texts["comment"], correction=texts["correction"])
            self._give(request, conversation_id, turn_no, given)
        return HttpResponseRedirect(f"{addresses.turn_url(conversation_id, turn_no)}#feedback")

    def _give(self, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int, given: Given) -> None:
        try:
            give(conversation_id, None, f"user:{request.user.get_username()}", given, turn_no=turn_no)
        except RequestInvalid as wrong:
            messages.error(request, " ".join(text for texts in wrong.fields.values() for text in texts))
        except ConvEngineError as error:
            messages.error(request, error.message)
        else:
            messages.success(request, "Your feedback is kept.")


def _linked(one: Rated) -> SafeString:
    return row_link(one.table, one.pk, f"{one.table.removeprefix('ce_').replace('_', ' ')} {one.pk}")


def _list_of(one: Rated) -> str:
    address = reverse("admin:audit_cemcpuserfeedback_changelist")
    return f"{address}?table_name={one.table}&row_pk={one.pk}&replaced_at__isnull=True"
