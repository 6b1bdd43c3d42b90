"""A row that somebody deleted while another was editing it: the text is kept, and the row can be made again."""

from typing import Any, NamedTuple

from django.contrib.admin.utils import unquote
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from unfold.admin import ModelAdmin

from config_admin.admin.links import row_name, row_url
from config_admin.admin.saving.stale import Intruder, changed_by

#: The input that says that whoever saves knows that the row is gone.
AGAIN = "_again"


class Gone(NamedTuple):
    """A deleted row: what it was, who deleted it, when and why."""

    last: Any
    deleted: Intruder
    why: str
    name: str
    history_url: str


class GoneAdmin(ModelAdmin):
    """Forms whose row is gone become forms of a new row, which takes the place of the old one."""

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The form; where its row was deleted meanwhile, with what was typed and with the way to have it again."""
        gone = self._gone(object_id) if request.method == "POST" and object_id else None
        if gone and "_saveasnew" not in request.POST:
            held: Any = request
            held.gone, held.POST = gone, self._complete(request.POST, gone)
            object_id, extra_context = None, {**(extra_context or {}), "gone": gone}
        response: HttpResponse = super().changeform_view(request, object_id, form_url, extra_context)
        return response

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the row; one that takes the place of a deleted row has its number and its age."""
        if gone := getattr(request, "gone", None):
            obj.pk, obj.created_at = gone.last.pk, gone.last.created_at
        super().save_model(request, obj, form, change)

    def _gone(self, object_id: str) -> Gone | None:
        try:
            pk = self.opts.pk.to_python(unquote(object_id))
        except ValidationError:
            return None
        if self.model._default_manager.filter(pk=pk).exists():
            return None
        entry = self.model.history.filter(**{self.opts.pk.attname: pk}).order_by("-history_id").first()
        if entry is None:
            return None
        table = self.opts.db_table
        why = entry.history_change_reason or "No reason given."
        deleted = next(changed_by(self.model, pk, 0))
        return Gone(entry.instance, deleted, why, row_name(table, pk), row_url(table, pk, "history"))

    def _complete(self, sent: QueryDict, gone: Gone) -> QueryDict:
        """What was sent, with the fields that the form of a stored row does not have."""
        data = sent.copy()
        for name in getattr(self, "fixed_fields", ()):
            column = self.opts.get_field(name)
            data.setdefault(name, str(getattr(gone.last, column.attname)))
        return data
