"""A row that was deleted while somebody edited it: the text is kept, and the row can be made again."""

from typing import Any, NamedTuple

from django.contrib.admin.utils import unquote
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from unfold.admin import ModelAdmin

from config_admin.editing.links import row_url
from config_admin.releases.row_history import find_last_versions
from config_admin.validation.labels import row_name
from convengine.server.interfaces.release_history import RowVersion

#: The input that confirms that the user knows about the deletion.
AGAIN = "_again"


class DeletedRow(NamedTuple):
    """A deleted row: its content, and the version that says who deleted it, when and why."""

    last: Any
    deletion: RowVersion
    name: str
    history_url: str


class DeletedRowAdmin(ModelAdmin):
    """Forms of deleted rows become forms of new rows that replace them."""

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The form; if its row was deleted meanwhile, with the typed text and a way to make it again."""
        deleted_row = self._find_deleted_row(object_id) if request.method == "POST" and object_id else None
        if deleted_row and "_saveasnew" not in request.POST:
            held: Any = request
            data = request.POST.copy()
            # The fields that the form of a stored row lacks.
            for name in getattr(self, "fixed_fields", ()):
                column = self.opts.get_field(name)
                data.setdefault(name, str(getattr(deleted_row.last, column.attname)))
            held.deleted_row, held.POST = deleted_row, data
            object_id, extra_context = None, {**(extra_context or {}), "deleted_row": deleted_row}
        response: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        return response

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the row; one that replaces a deleted row gets its number and creation time."""
        if deleted_row := getattr(request, "deleted_row", None):
            obj.pk, obj.created_at = deleted_row.last.pk, deleted_row.last.created_at
        super().save_model(request, obj, form, change)

    def _find_deleted_row(self, object_id: str) -> DeletedRow | None:
        """The last version of a deleted row. Returns None if the row exists, never did, or the id is not valid."""
        try:
            pk = self.opts.pk.to_python(unquote(object_id))
        except ValidationError:
            return None
        if self.model._default_manager.filter(pk=pk).exists():
            return None
        table = self.opts.db_table
        deletion = find_last_versions([(table, pk)]).get((table, str(pk)))
        if deletion is None:
            return None
        last = self.model.history.get(pk=deletion.history_id).instance
        return DeletedRow(last, deletion, row_name(table, pk), row_url(table, pk, "history"))
