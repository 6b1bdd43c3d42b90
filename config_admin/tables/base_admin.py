"""What the admin pages of all configuration rows share: forms, lists and their filters."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import MethodType
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Case, Exists, JSONField, Model, OuterRef, Q, QuerySet, Value, When
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import reverse
from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from unfold.contrib.filters.admin import DropdownFilter

from config_admin.editing.change_admin import ChangeAdmin
from config_admin.editing.context import EditorContext, get_editor_context
from config_admin.editing.deleted_row import DeletedRowAdmin
from config_admin.editing.field_previews import FIELD_PREVIEWS
from config_admin.editing.fields import FormOption, field_of
from config_admin.editing.links import workspace_url
from config_admin.editing.live_checks import LiveChecksAdmin
from config_admin.editing.pickers import find_source, get_code_language, intents, list_suggested_names, states
from config_admin.editing.row_form import RowForm
from config_admin.editing.translated_texts import RowTranslations
from config_admin.editing.workspace_return import FLOW, WorkspaceReturnAdmin, find_return_url
from config_admin.health.page import tell_health
from config_admin.history.history_page import HistoryAdmin
from config_admin.releases.active import snapshots
from config_admin.tables.intent import CeIntent
from config_admin.transfer.page import ExportRowsAdmin
from config_admin.validation.columns import get_column_spec
from config_admin.validation.labels import name_language, row_name
from config_admin.validation.secret_columns import COLUMNS, mask_value
from config_admin.validation.translations import COLUMN
from convengine.engine.rules.explain import find_row_fault
from convengine.engine.turn import rows
from convengine.engine.turn.rows import DECIDERS, ROW_TYPE_OF
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.server.admin_site.record_columns import badge_column, json_column, turns_url

#: Of rows that belong to an intent: whether it is enabled.
_ACTIVE = Q(intent_code__in=[ANY, UNKNOWN]) | Exists(CeIntent.objects.filter(pk=OuterRef("intent_code"), enabled=True))


class InUseFilter(DropdownFilter):
    """On, off, or on without effect because the intent is disabled."""

    title = "use"
    parameter_name = "use"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        """All three; two if rows have no scope."""
        inactive = [("inactive", "Inactive (intent disabled)")] if model_admin.is_scoped else []
        return [("on", "In use"), *inactive, ("off", "Disabled")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = self.value()
        if wanted is None or wanted == "":
            return queryset
        rows = queryset.filter(enabled=wanted != "off")
        if wanted == "off" or "intent_active" not in queryset.query.annotations:
            return rows
        return rows.filter(intent_active=wanted == "on")


class _CodeFilter(DropdownFilter):
    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        """The codes, from the configuration in force, without a query."""
        return [(option.value, option.value) for option in self.options(get_editor_context(request))]

    def options(self, editor: EditorContext) -> Iterable[FormOption]:
        raise NotImplementedError

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.parameter_name: self.value()}) if self.value() else queryset


class IntentFilter(_CodeFilter):
    title = "intent"
    parameter_name = "intent_code"

    def options(self, editor: EditorContext) -> Iterable[FormOption]:
        """Every intent, and the reserved words."""
        return intents(ANY, UNKNOWN)(editor)


class StateFilter(_CodeFilter):
    title = "state"
    parameter_name = "state_code"

    def options(self, editor: EditorContext) -> Iterable[FormOption]:
        return states(ANY)(editor)


#: The right to open the page Languages.
_READ_LANGUAGES = "config_admin.view_ceresponse"
#: A title, and fields; a tuple of fields shares one line.
Section = tuple[str | None, Sequence[str | tuple[str, ...]]]


class RowAdmin(ChangeAdmin, HistoryAdmin, ExportRowsAdmin, LiveChecksAdmin, DeletedRowAdmin, WorkspaceReturnAdmin):
    form = RowForm
    change_form_template = "config_admin/change_form.html"
    change_list_template = "config_admin/change_list.html"
    actions = (*ChangeAdmin.actions, "export_selected")
    save_as = True
    #: On a phone each row is a card: this many are as long as a page may be.
    list_per_page = 15
    list_filter: Any = (InUseFilter,)
    list_filter_submit = True
    show_facets = admin.ShowFacets.NEVER

    #: The form, section by section.
    sections: ClassVar[Sequence[Section]] = ()
    #: Fields that are set once.
    fixed_fields: ClassVar[Sequence[str]] = ()
    #: True if rows belong to an intent, and take part only while it is enabled.
    is_scoped: ClassVar[bool] = False

    class Media:
        """Scripts and styles of forms."""

        js = ("convengine/ce-editor.js", "convengine/form.js")

    def __init__(self, model: type[Model], admin_site: Any) -> None:
        super().__init__(model, admin_site)
        #: Read-only columns for JSON, which the form column would show on one line.
        self._shown: dict[Any, str] = {}
        columns: Any = model._meta.concrete_fields
        for column in columns:
            if isinstance(column, JSONField):
                self._shown[column.name] = shown = f"shown_{column.name}"
                setattr(self, shown, MethodType(json_column(column.name, str(column.verbose_name)), self))

    # --- the form -----------------------------------------------------------------------------------------------

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """The sections of the table, and the reason for users who may change the row."""
        may_save = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        saving = [*(["reason"] if may_save else []), *(["last_change"] if obj else [])]
        shown: dict[Any, str] = {} if may_save else self._shown
        translations = self.get_translations(request, obj) if may_save else None
        rest = self._list_rest({COLUMN} if translations and translations.replaces_column else set())
        return [
            *(
                (title, {"fields": [shown.get(name, name) for name in fields]})
                for title, fields in (*self.sections, *rest)
            ),
            *(self._list_translations(request, obj, translations) if translations else ()),
            ("Saving", {"fields": saving}),
        ]

    def _list_rest(self, named: set[str]) -> Iterator[Section]:
        """The columns that no section names, so that a new one is on the page."""
        named = named | {name for _, fields in self.sections for each in fields for name in _list_names(each)}
        columns = (field for field in self.opts.fields if field.editable and not field.primary_key)
        rest = [field.name for field in columns if field.name not in named]
        if rest:
            yield "More", sorted(rest, key=lambda name: name == COLUMN)

    def _list_translations(self, request: HttpRequest, obj: Any, translations: RowTranslations) -> Iterator[Any]:
        """A section for each other language; for a form, whose texts are in its JSON Schema, a link to them."""
        for language in translations.languages:
            if names := translations.list_names(language):
                yield name_language(language), {"fields": names}
        if obj and translations.are_in_schema and request.user.has_perm(_READ_LANGUAGES):
            yield "Translations", {"fields": ["translated_texts"]}

    def get_translations(self, request: HttpRequest, obj: Any) -> RowTranslations:
        """The translations of a row; those of a new row are of the one that it copies or replaces."""
        if obj is None and (deleted_row := getattr(request, "deleted_row", None)):
            obj = deleted_row.last
        elif obj is None and "_saveasnew" in request.POST and (match := request.resolver_match):
            obj = self.get_object(request, str(match.kwargs.get("object_id", "")))
        return RowTranslations(get_editor_context(request).snapshot, self.opts.db_table, obj)

    def tell_consequences(self, request: HttpRequest, saved: Any) -> None:
        """The health findings of the saved row."""
        tell_health(request, saved)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The row; without its secrets for users who may only read it."""
        row = super().get_object(request, object_id, from_field)
        if row is not None and not self.has_change_permission(request, row):
            for name in COLUMNS.get(self.opts.db_table, ()):
                setattr(row, name, mask_value(self.opts.db_table, name, getattr(row, name)))
        return row

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Sequence[str]:
        """The name of a row does not change, because others may refer to it."""
        return (*(self.fixed_fields if obj else ()), "last_change", "translated_texts")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> type[ModelForm]:
        translations = self.get_translations(request, obj)
        options["form"] = type(self.form.__name__, (self.form,), translations.make_fields())
        form: type[ModelForm] = super().get_form(request, obj, change, **options)
        own = {"request": request, "find_refusal": partial(self.find_refusal, request), "translations": translations}
        return type(form.__name__, (form,), own)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """A field with options; the save checks validate it."""
        spec = get_column_spec(db_field)
        source = find_source(spec)
        language = get_code_language(db_field)
        formfield = field_of(
            db_field,
            list(source(get_editor_context(request))) if source else None,
            depends=spec.depends_on,
            code=spec.is_code or bool(language),
        )
        if formfield and (trial := FIELD_PREVIEWS.get((self.opts.db_table, db_field.name))):
            formfield.widget.attrs["data-try"] = trial.only
        if formfield and language:
            formfield.widget.attrs["data-code"] = language
        return formfield or super().formfield_for_dbfield(db_field, request, **options)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """A read-only page offers no copy; an unusable row shows the reason."""
        if request.method == "GET" and (stored := context.get("original")) is not None:
            self._tell_fault(request, stored.pk)
        page = super().render_change_form(request, context, *args, **options)
        page.context_data["save_as"] = self.save_as and page.context_data["has_change_permission"]
        intent = getattr(context.get("original"), "intent_code", "")
        page.context_data["where_used"] = self.uses_of(request, context.get("original"))
        page.context_data["names"] = list_suggested_names(get_editor_context(request))
        page.context_data["questions"] = self.questions(request, context.get("original"))
        if (stored := context.get("original")) is not None and (table := self.opts.db_table) in DECIDERS:
            page.context_data["decided_url"] = turns_url(request.user, table=table, row=stored.pk)
        page.context_data["return_label"] = "Flow" if FLOW in request.GET else "Workspace of the intent"
        page.context_data["workspace_url"] = find_return_url(request) or (workspace_url(intent) if intent else "")
        return page

    def _tell_fault(self, request: HttpRequest, pk: Any) -> None:
        snapshot = get_editor_context(request).snapshot
        row = snapshot.row(ROW_TYPE_OF[self.opts.db_table], pk)
        fault = find_row_fault(snapshot, row) if row else None
        if fault:
            text = f"This row is invalid, so no turn uses it: {fault.reason}. {fault.remedy or ''}".strip()
            self.message_user(request, text, messages.ERROR)

    @admin.display(description="last change")
    def last_change(self, row: Any) -> str:
        moment = formats.date_format(timezone.localtime(row.updated_at), "DATETIME_FORMAT")
        return f"{moment} by {row.updated_by}" if row.updated_by else moment

    @admin.display(description="texts in other languages")
    def translated_texts(self, row: Any) -> str:
        query = urlencode({"q": row_name(self.opts.db_table, row.pk)})
        url = f"{reverse('admin:config_admin_ceresponse_languages')}?{query}"
        return format_html('<a class="ce-link" href="{}">Languages</a>', url)

    # --- the list -----------------------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows, with whether they take part."""
        queryset: QuerySet[Any] = super().get_queryset(request)
        return queryset.annotate(intent_active=_ACTIVE) if self.is_scoped else queryset

    @badge_column({"on": "success", "off": "default", "inactive": "warning", "unreadable": "danger"}, "use", "enabled")
    def in_use(self, row: Any) -> tuple[str, str]:
        """Whether the engine uses the row."""
        if row.pk in snapshots.latest.tables[self.opts.db_table].unreadable:
            return "unreadable", "unusable"
        if not row.enabled:
            return "off", "off"
        return ("on", "on") if getattr(row, "intent_active", True) else ("inactive", "inactive (intent disabled)")

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        """The rows with the words, and those of the intents that have them in their names."""
        matching, may_repeat = super().get_search_results(request, queryset, search_term)
        words = search_term.lower().split()
        is_of_intents = any(field.name == "intent_code" for field in self.opts.fields)
        intents = get_editor_context(request).snapshot.rows(rows.Intent) if words and is_of_intents else ()
        named = [row.intent_code for row in intents if all(word in row.name.lower() for word in words)]
        return (matching | queryset.filter(intent_code__in=named) if named else matching), may_repeat


class ScopedAdmin(RowAdmin):
    is_scoped = True
    list_filter: Any = (InUseFilter, IntentFilter, StateFilter)


def _list_names(field: str | tuple[str, ...]) -> tuple[str, ...]:
    return (field,) if isinstance(field, str) else field


def any_last(column: str) -> tuple[Any, str]:
    """An order with concrete codes before ANY, as they win over it."""
    return Case(When(**{column: ANY}, then=Value(1)), default=Value(0)).asc(), column
