"""Admin pages of documents, which users edit, and of sent messages, which nobody edits."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from convengine.server.admin_site.pages import PagesAdmin
from convengine.server.admin_site.read_only import ReadOnlyAdmin
from convengine.server.admin_site.record_columns import excerpt_column, text_column
from convengine.server.executors.document_store import finish
from convengine.server.executors.models import CeDocument, CeDocumentCollection, CeNotification


@admin.register(CeDocumentCollection)
class DocumentCollectionAdmin(PagesAdmin):
    """Collections with their number of documents."""

    list_display = ("name", "workspace_id", "size", "expires_at")
    search_fields = ("name",)
    ordering = ("workspace_id", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        collections: QuerySet[Any] = super().get_queryset(request).annotate(documents_held=Count("documents"))
        return collections

    @admin.display(description="documents", ordering="documents_held")
    def size(self, row: Any) -> int:
        return int(row.documents_held)


@admin.register(CeDocument)
class DocumentAdmin(PagesAdmin):
    """Documents. The next turn finds a saved document."""

    list_display = ("title", "collection", "start", "updated_at")
    list_filter = ("collection",)
    list_select_related = ("collection",)
    search_fields = ("title", "body")
    ordering = ("collection", "title")
    fields = ("collection", "title", "body", "metadata")
    start = excerpt_column("body", "body", 90)

    def save_model(self, request: HttpRequest, obj: CeDocument, form: Any, change: bool) -> None:
        """With its digest and vector."""
        finish(obj)
        obj.save()


@admin.register(CeNotification)
class NotificationAdmin(ReadOnlyAdmin):
    """Messages of tools, newest first."""

    list_display = ("recipient", "channel", "subject", "status", "tool_code", "created_at")
    ordering = ("-notification_id",)
    is_of_people = True
    fields = (
        *("channel", "recipient", "subject", "text", "status", "error"),
        *("tool_code", "conversation_id", "turn_no", "created_at", "sent_at"),
    )
    readonly_fields = ("text",)
    text = text_column("body", "text")
