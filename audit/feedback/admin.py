"""Admin pages of feedback: the list, and giving it."""

import uuid

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit import addresses
from audit.feedback.store import FeedbackInput, store_feedback
from audit.models import CeMcpUserFeedback
from convengine.engine.errors import ConvEngineError, RequestInvalid
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import (
    badge_column,
    code_column,
    excerpt_column,
    json_column,
    release_link,
    row_link,
    text_column,
    value_column,
)
from convengine.server.deployment import conf

_THUMB_BADGES = {"THUMBS_UP": "success", "THUMBS_DOWN": "danger"}


@admin.register(CeMcpUserFeedback)
class FeedbackAdmin(ByConversation):
    """Feedback, newest first."""

    list_display = ("time", "thumb", "turn", "user_excerpt", "answered", "comments", "corrected", "row", "by")
    fields = (
        *("rating", "turn", "conversation_page", "by", "time", "replaced_at", "message"),
        *("answer", "comment", "correction", "row", "release", "intent", "state"),
        *("tool", "answer_id", "metadata"),
    )
    readonly_fields = (
        *("rating", "turn", "conversation_page", "by", "time", "message", "answer", "row", "release"),
        *("intent", "state", "tool", "answer_id", "metadata"),
    )
    list_filter = ("feedback_type",)
    ordering = ("-feedback_id",)
    time = value_column("created_at", "time")
    message = text_column("user_query", "user")
    answer = text_column("assistant_response", "answer")
    intent = code_column("intent_code", "intent")
    state = code_column("state_code", "state")
    tool = value_column("mcp_tool_code", "tool")
    answer_id = value_column("message_id", "message ID")
    metadata = json_column("metadata_json", "metadata")
    user_excerpt = excerpt_column("user_query", "user")
    answered = excerpt_column("assistant_response", "answer")
    comments = excerpt_column("comment", "comment")
    corrected = excerpt_column("correction", "correction")

    @badge_column(_THUMB_BADGES, "thumb")
    def thumb(self, row: CeMcpUserFeedback) -> tuple[str, str]:
        """The direction of the thumb; a replaced one is marked."""
        return row.feedback_type, self.rating(row)

    @admin.display(description="thumb")
    def rating(self, row: CeMcpUserFeedback) -> str:
        return str(row.get_feedback_type_display()) + (", replaced" if row.replaced_at else "")

    @admin.display(description="turn")
    def turn(self, row: CeMcpUserFeedback) -> SafeString:
        """The rated turn, on its timeline, because retention may have removed its record."""
        address = addresses.timeline_url(row.conversation_id, row.turn_no)
        return format_html('<a class="ce-link" href="{}">Turn&nbsp;{}</a>', address, row.turn_no)

    @admin.display(description="by")
    def by(self, row: CeMcpUserFeedback) -> str:
        return row.who

    @admin.display(description="answered by")
    def row(self, row: CeMcpUserFeedback) -> SafeString | str:
        if not row.row_pk:
            return "-"
        return row_link(row.table_name, row.row_pk)

    @admin.display(description="configuration")
    def release(self, row: CeMcpUserFeedback) -> SafeString:
        return release_link(row.config_version)

    @page("<uuid:conversation_id>/<turn:turn_no>/give/", name="give", methods=["POST"])
    def give_page(self, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
        """Store the feedback of the signed-in user on a turn, and return to it."""
        require_right(request, "audit.add_cemcpuserfeedback")
        texts = {name: request.POST.get(name, "").strip() for name in ("comment", "correction")}
        limit = conf.get("MAX_MESSAGE_BYTES")
        kind = request.POST.get("feedback_type", "")
        if kind not in CeMcpUserFeedback.Type.values:
            messages.error(request, "Choose “Good answer” or “Bad answer”.")
        elif any(len(text.encode()) > limit for text in texts.values()):
            messages.error(request, f"The text is longer than {limit} bytes. Shorten it.")
        else:
            given = FeedbackInput(kind, comment=texts["comment"], correction=texts["correction"])
            try:
                store_feedback(conversation_id, None, f"user:{request.user.get_username()}", given, turn_no=turn_no)
            except RequestInvalid as wrong:
                messages.error(request, " ".join(text for texts in wrong.fields.values() for text in texts))
            except ConvEngineError as error:
                messages.error(request, error.message)
            else:
                messages.success(request, "Your feedback is saved.")
        return HttpResponseRedirect(f"{addresses.turn_url(conversation_id, turn_no)}#feedback")
