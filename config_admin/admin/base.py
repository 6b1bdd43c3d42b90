"""What the admin pages of all configuration rows share: forms and lists."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Case, JSONField, Model, QuerySet, Value, When
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import formats, timezone
from unfold.admin import ModelAdmin

from config_admin.admin.comparison.history import HistoryAdmin
from config_admin.admin.desk import desk_of
from config_admin.admin.editing.editors import language_of, names
from config_admin.admin.editing.fields import field_of
from config_admin.admin.editing.forms import RowForm
from config_admin.admin.editing.grid_page import GridAdmin
from config_admin.admin.editing.judging import JudgingAdmin
from config_admin.admin.editing.pickers import Source, intents, states
from config_admin.admin.editing.trials import TRIALS
from config_admin.admin.filters import IntentFilter, InUseFilter, StateFilter, with_activity
from config_admin.admin.places.marks import opened
from config_admin.admin.saving.changing import ChangingAdmin
from config_admin.admin.saving.gone import GoneAdmin
from config_admin.admin.saving.returning import ReturningAdmin, way_back, workspace_url
from config_admin.snapshot.active import snapshots
from convengine.domain.deciders import DECIDERS
from convengine.domain.rows import ROW_TYPE_OF
from convengine.domain.scope import ANY, UNKNOWN
from convengine.record_columns import json_column, labelled, turns_url
from convengine.rules.explain import fault_of

#: A title, and fields; those in brackets stand on one line.
Section = tuple[str | None, Sequence[str | tuple[str, ...]]]
SCOPE: Mapping[str, Source] = {"intent_code": intents(ANY, UNKNOWN), "state_code": states(ANY, UNKNOWN)}


class RowAdmin(ChangingAdmin, HistoryAdmin, JudgingAdmin, GoneAdmin, GridAdmin, ReturningAdmin, ModelAdmin):
    """Admin of one control-plane table."""

    form = RowForm
    change_form_template = "config_admin/change_form.html"
    save_as = True
    #: Each cell is a template of the admin's own: a list of twice as many takes half a second.
    list_per_page = 50
    list_filter: Any = (InUseFilter,)
    list_filter_submit = True
    show_facets = admin.ShowFacets.NEVER

    #: The form, section by section.
    sections: ClassVar[Sequence[Section]] = ()
    #: What a field offers.
    pickers: ClassVar[Mapping[str, Source]] = {}
    #: The field that decides which suggestions of another fit.
    depends: ClassVar[Mapping[str, str]] = {}
    #: Fields that hold patterns, paths, templates or code.
    code_fields: ClassVar[Sequence[str]] = ()
    #: Fields that are set once.
    fixed_fields: ClassVar[Sequence[str]] = ()
    #: True where rows belong to an intent, and take part only while it does.
    is_scoped: ClassVar[bool] = False

    class Media:
        """What forms of rows run in the browser."""

        js = ("convengine/ce-editor.js", "convengine/form.js")

    def __init__(self, model: type[Model], admin_site: Any) -> None:
        super().__init__(model, admin_site)
        #: Columns of pages for readers, where the column of the form would show JSON on one line.
        self._shown: dict[Any, str] = {}
        columns: Any = model._meta.concrete_fields
        for column in columns:
            if isinstance(column, JSONField):
                self._shown[column.name] = shown = f"shown_{column.name}"
                setattr(self, shown, MethodType(json_column(column.name, str(column.verbose_name)), self))

    # --- the form -----------------------------------------------------------------------------------------------

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """The sections of the table, and the reason for whoever may change the row."""
        may_save = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        saving = [*(["reason"] if may_save else []), *(["last_change"] if obj else [])]
        shown: dict[Any, str] = {} if may_save else self._shown
        return [
            (title, {"fields": [shown.get(name, name) for name in fields]})
            for title, fields in (*self.sections, ("Saving", saving))
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Sequence[str]:
        """What names a row does not change: others may refer to it."""
        return (*(self.fixed_fields if obj else ()), "last_change")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> type[ModelForm]:
        """The form class of this request."""
        form: type[ModelForm] = super().get_form(request, obj, change, **options)
        return type(form.__name__, (form,), {"request": request, "forbidden": partial(self.forbidden, request)})

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """A field that offers what there is, and leaves judging to the save checks."""
        name = db_field.name
        source = self.pickers.get(name)
        found = field_of(
            db_field,
            list(source(desk_of(request))) if source else None,
            depends=self.depends.get(name, ""),
            code=name in self.code_fields,
        )
        if found and (trial := TRIALS.get((self.opts.db_table, name))):
            found.widget.attrs["data-try"] = trial.only
        if found and (language := language_of(self.opts.db_table, db_field)):
            found.widget.attrs["data-code"] = language
        return found or super().formfield_for_dbfield(db_field, request, **options)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """A page for readers offers no copy of what it does not let them fill in; an unusable row says why it is."""
        if request.method == "GET" and (stored := context.get("original")) is not None:
            self._tell_fault(request, stored.pk)
        page = super().render_change_form(request, context, *args, **options)
        page.context_data["save_as"] = self.save_as and page.context_data["has_change_permission"]
        intent = getattr(context.get("original"), "intent_code", "")
        page.context_data["where_used"] = self.uses_of(request, context.get("original"))
        page.context_data["names"] = names(desk_of(request))
        page.context_data["questions"] = self.questions(request, context.get("original"))
        if (stored := context.get("original")) is not None:
            page.context_data["is_favourite"] = opened(request.user, self.opts.db_table, stored.pk)
            if (table := self.opts.db_table) in DECIDERS:
                page.context_data["decided_url"] = turns_url(request.user, table=table, row=stored.pk)
        page.context_data["workspace_url"] = way_back(request) or (workspace_url(intent) if intent else "")
        return page

    def _tell_fault(self, request: HttpRequest, pk: Any) -> None:
        snapshot = desk_of(request).snapshot
        row = snapshot.row(ROW_TYPE_OF[self.opts.db_table], pk)
        fault = fault_of(snapshot, row) if row else None
        if fault:
            text = f"No turn uses this row: {fault.reason}. {fault.remedy or ''}".strip()
            self.message_user(request, text, messages.ERROR)

    @admin.display(description="last change")
    def last_change(self, row: Any) -> str:
        """When the row was changed, and by whom."""
        moment = formats.date_format(timezone.localtime(row.updated_at), "DATETIME_FORMAT")
        return f"{moment} by {row.updated_by}" if row.updated_by else moment

    # --- the list -----------------------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows, knowing whether they take part."""
        found = super().get_queryset(request)
        return with_activity(found) if self.is_scoped else found

    @labelled({"on": "success", "off": "default", "inactive": "warning", "unreadable": "danger"}, "use", "enabled")
    def in_use(self, row: Any) -> tuple[str, str]:
        """Whether the engine looks at the row (tables 1.6)."""
        if row.pk in snapshots.latest.tables[self.opts.db_table].unreadable:
            return "unreadable", "unusable"
        if not row.enabled:
            return "off", "off"
        return ("on", "on") if getattr(row, "intent_active", True) else ("inactive", "inactive: intent disabled")


class ScopedAdmin(RowAdmin):
    """Admin of rows that apply to an intent and a state."""

    is_scoped = True
    list_filter: Any = (InUseFilter, IntentFilter, StateFilter)


def any_last(column: str) -> tuple[Any, str]:
    """An order in which concrete codes come before ANY, as they win over it."""
    return Case(When(**{column: ANY}, then=Value(1)), default=Value(0)).asc(), column
