"""Threads: everything that one participant writes on one channel, by session."""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from convengine.engine.errors import RequestInvalid
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.turn.enums import Lifecycle
from convengine.server.admin import session_memory
from convengine.server.admin_site.read_only import BEFORE, ReadOnlyAdmin
from convengine.server.admin_site.record_columns import badge_class
from convengine.server.sessions.models import CeConversation, CeThread
from convengine.server.sessions.participants import find_threads
from convengine.server.threads.session_lists import list_sessions

#: Sessions per page.
SIZE = 50


@admin.register(CeThread)
class ThreadAdmin(ReadOnlyAdmin):
    """Threads, newest first. The search takes parts of a participant's name or number."""

    list_display = ("participant", "channel", "workspace", "since")
    ordering = ("-id",)
    is_of_people = True
    search_fields = ("remote_jid",)
    search_help_text = "Part of a name or number"

    @admin.display(description="participant")
    def participant(self, thread: CeThread) -> str:
        """The participant's name on the channel."""
        return reveal_invisible(thread.remote_jid)

    @admin.display(description="workspace")
    def workspace(self, thread: CeThread) -> str:
        return thread.workspace_id

    @admin.display(description="since")
    def since(self, thread: CeThread) -> datetime:
        return thread.created_at

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """The threads of participants with these parts in their names, found by an index."""
        wanted = search_term.strip()
        if not wanted:
            return queryset, False
        return queryset.filter(pk__in=[thread.pk for thread in find_threads(wanted)]), False

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """The page of a thread: its sessions, newest first."""
        thread = self.get_object(request, object_id)
        if thread is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        if not self.has_view_permission(request, thread):
            raise PermissionDenied
        names = {"workspace_id": thread.workspace_id, "channel": thread.channel, "remote_jid": thread.remote_jid}
        before = request.GET.get(BEFORE)
        try:
            rows, older = list_sessions(names, before, SIZE)
        except RequestInvalid:
            before = None
            rows, older = list_sessions(names, None, SIZE)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Thread of {thread.remote_jid}",
            "opts": self.opts,
            "thread": thread,
            "sessions": [_describe_session(row) for row in rows],
            "older": older,
            "is_older": bool(before),
        }
        return TemplateResponse(request, "convengine/thread.html", context)


def _describe_session(row: CeConversation) -> dict[str, Any]:
    goal = next((line.value for line in session_memory.list_summary(row) if line.name == "Goal"), "")
    return {
        "row": row,
        "lifecycle": Lifecycle(row.lifecycle).label,
        "look": badge_class(row.lifecycle),
        "reason": row.lifecycle_detail.get("reason", ""),
        "goal": goal,
    }
