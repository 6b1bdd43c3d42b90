"""What changes rows in the admin: forms, deletions and actions of lists, each of them one release, for a reason."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from unfold.admin import ModelAdmin

from config_admin.admin.comparison.differences import label_of
from config_admin.admin.desk import desk_of
from config_admin.admin.places.where_used import Group, where_used
from config_admin.admin.saving import deleting, reasons, switching
from config_admin.admin.saving.aftermath import tell_health
from config_admin.admin.saving.presence import Place, others
from config_admin.admin.saving.recording import recorded, told
from config_admin.releases.change_set import current
from config_admin.validation.findings import Finding
from config_admin.validation.older_forms import Change
from convengine.domain.rows import ROW_TYPE_OF, Row
from convengine.domain.snapshot import Snapshot


class ChangingAdmin(ModelAdmin):
    """The ways in which people change rows of a table."""

    delete_confirmation_template = "config_admin/delete.html"
    delete_selected_confirmation_template = "config_admin/delete.html"
    actions: Any = ("enable_selected", "disable_selected")

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """The form; what it saves is one release."""
        with recorded(request):
            response: HttpResponse = super().changeform_view(request, *args, **options)
        if (saved := vars(request).pop("_saved_row", None)) is not None:
            tell_health(request, saved)
        return response

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the row, and say which of its templates were put into another form."""
        super().save_model(request, obj, form, change)
        vars(request)["_saved_row"] = obj
        if form.meeting and (note := form.meeting.note) and (open_now := current()):
            open_now.reason = f"{open_now.reason} ({note})"
        reasons.remember(request, reasons.thing_of(obj))
        if form.conversions:
            items = format_html_join("", "<li>{}: {} → {}</li>", self._told(form.conversions))
            self.message_user(request, format_html("Stored as Jinja2:<ul>{}</ul>", items))

    def _told(self, conversions: Iterable[Change]) -> Iterator[tuple[str, str, str]]:
        for one in conversions:
            yield label_of(self.opts.db_table, one.field), one.before, one.after

    def delete_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """The question whether to delete, beside what uses the row; the answer is one release."""
        # Django deletes when a POST has anything in it.
        reasons.need(request, consent=list(request.POST))
        with recorded(request):
            response: HttpResponse = super().delete_view(request, *args, **options)
        if isinstance(response, TemplateResponse) and response.context_data:
            stored = response.context_data.get("object")
            response.context_data["where_used"] = self.uses_of(request, stored)
            response.context_data["others"] = list(others(request.user, Place(self.model, stored.pk))) if stored else []
            thing = reasons.thing_of(stored or self.model())
            response.context_data |= self._reason(request, thing)
        return response

    def uses_of(self, request: HttpRequest, stored: Any) -> list[Group] | None:
        """What uses a row; null for one that is not in force."""
        snapshot = desk_of(request).snapshot
        row = snapshot.row(ROW_TYPE_OF[self.opts.db_table], stored.pk) if stored else None
        return where_used(snapshot, row) if row else None

    def _reason(self, request: HttpRequest, thing: str) -> dict[str, str]:
        return {"reason": reasons.remembered(request, thing), "reason_missing": reasons.told(request)}

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete the row; the reason is offered for what is done next to the same thing."""
        reasons.remember(request, reasons.thing_of(obj))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete the selected rows."""
        reasons.remember(request, self.opts.db_table)
        super().delete_queryset(request, queryset)

    def changelist_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """The list; what its actions change is one release, once they were asked about."""
        reasons.need(request, consent=("post", "confirmed"))
        with recorded(request):
            response: HttpResponse = super().changelist_view(request, *args, **options)
        if isinstance(response, TemplateResponse) and response.context_data and "reason" not in response.context_data:
            response.context_data |= self._reason(request, self.opts.db_table)
        return response

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What would go along, and what forbids it."""
        return deleting.deleted(self, objs, request)

    def forbidden(self, request: HttpRequest, row: Row) -> str:
        """Why this user may not have such a row, or change it; blank when nothing forbids it."""
        return ""

    def check_together(self, snapshot: Snapshot, leaving: Collection[Any]) -> Sequence[Finding]:
        """What forbids that rows leave, or are switched off, all at once, though each alone could."""
        return ()

    @admin.action(description="Enable selected", permissions=["change"])
    def enable_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Switch rows on, after a look at what the checks say."""
        return switching.switch(self, request, queryset, enabled=True)

    @admin.action(description="Disable selected", permissions=["change"])
    def disable_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Switch rows off, after a look at what the checks say."""
        return switching.switch(self, request, queryset, enabled=False)

    def message_user(
        self, request: HttpRequest, message: Any, level: Any = messages.INFO, *rest: Any, **more: Any
    ) -> None:
        """Say which release a change made, whichever way it was made."""
        told_too = format_html("{} {}", message, told()) if level == messages.SUCCESS else message
        super().message_user(request, told_too, level, *rest, **more)
