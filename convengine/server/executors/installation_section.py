"""The documents of an installation's file."""

from typing import Any

from django import forms

from convengine.server.executors.document_store import finish
from convengine.server.executors.models import CeDocument, CeDocumentCollection
from convengine.server.interfaces.installation_section import InstallationSection

_COLLECTION = forms.fields_for_model(CeDocumentCollection, ["name", "workspace_id", "expires_at"])


class _DocumentForm(forms.ModelForm):  # type: ignore[type-arg]
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
