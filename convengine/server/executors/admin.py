"""Admin pages of documents, which users edit, and of sent messages, which nobody edits."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from convengine.server.admin_site.pages import PagesAdmin
from convengine.server.admin_site.read_only import ReadOnlyAdmin
from convengine.server.admin_site.record_columns import excerpt_column, text_column
from convengine.server.executors.document_store import finish
from convengine.server.executors.models import CeDocument, CeDocumentCollection, CeNotification
from convengine.server.interfaces.installation_section import InstallationSection

_COLLECTION = forms.fields_for_model(CeDocumentCollection, ["name", "workspace_id", "expires_at"])


@admin.register(CeDocumentCollection)
class DocumentCollectionAdmin(PagesAdmin):
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


class _DocumentForm(forms.ModelForm):
    """A document with its collection, which need not exist."""

    collection = _COLLECTION["name"]
    workspace_id = _COLLECTION["workspace_id"]
    expires_at = _COLLECTION["expires_at"]

    def clean_metadata(self) -> dict[str, Any]:
        metadata = self.cleaned_data["metadata"]
        if not isinstance(metadata, dict):
            raise forms.ValidationError("This must be an object, such as {source: orders.md}.")
        return metadata

    def clean(self) -> None:
        values = self.cleaned_data
        if not self.errors:
            self.instance.collection = CeDocumentCollection(
                name=values["collection"], workspace_id=values["workspace_id"], expires_at=values["expires_at"]
            )


def _store(document: CeDocument) -> str:
    """Store a document, and its collection before. A document has no secret."""
    wanted = document.collection
    document.collection, _ = CeDocumentCollection.objects.update_or_create(
        workspace_id=wanted.workspace_id, name=wanted.name, defaults={"expires_at": wanted.expires_at}
    )
    finish(document)
    document.save()
    return ""


DOCUMENTS = InstallationSection(
    CeDocument,
    ("workspace_id", "collection", "title", "body", "metadata", "expires_at"),
    "title",
    _DocumentForm,
    lambda: CeDocument.objects.select_related("collection").defer("vector"),
    within=("workspace_id", "collection"),
    paths={
        "workspace_id": "collection.workspace_id",
        "collection": "collection.name",
        "expires_at": "collection.expires_at",
    },
    add=_store,
    change=_store,
)
