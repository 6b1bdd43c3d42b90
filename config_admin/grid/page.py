"""The grid: its page, its rows a thousand at a time, and saving edits."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db.models import AutoField, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst

from config_admin.editing import reasons
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import health_url, release_url, row_url
from config_admin.editing.optimistic_lock import digest_of
from config_admin.editing.pickers import find_source
from config_admin.editing.request_change_set import describe_saved_draft
from config_admin.grid.cells import text_of
from config_admin.grid.edits import CheckedEdits, Edit, SaveResult, SavingFailed, get_finding_key, save_edits
from config_admin.health.diagnosis import RowKey
from config_admin.health.saved_row_messages import TOLD, news_of
from config_admin.releases.content import contents
from config_admin.releases.tree import Content
from config_admin.transfer.values import get_default
from config_admin.validation.columns import get_column_spec
from config_admin.validation.secret_columns import mask_value
from convengine.engine.turn.rows import Tool
from convengine.files.apart import read_apart
from convengine.files.json_text import read_json
from convengine.files.table_text import decode
from convengine.json_value import Json
from convengine.server.admin_site.pages import PagesAdmin, page
from convengine.server.deployment import conf
from convengine.server.interfaces.release_history import RowVersion

#: Rows per answer.
CHUNK = 1000
#: The parameter with the row before the next ones.
AFTER = "after"
_WIDE = ("JSONField", "TextField")


class GridAdmin(PagesAdmin):
    """The grid of a table, with the rights, the columns and the filters of its form and list."""

    change_list_template = "config_admin/change_list.html"

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list, with a link to the same rows as a grid."""
        grid = Grid(self, request)
        grid_context = {"grid_url": f"{grid.url()}?{grid.filters.urlencode()}", "may_edit_grid": grid.may_edit}
        response: HttpResponse = super().changelist_view(request, {**(extra_context or {}), **grid_context})
        return response

    def describe_condition_column(self, request: HttpRequest) -> dict[str, Json] | None:
        """The column with a condition, the columns of its kind and intent, and what its editor offers; None without."""
        return None

    @page("grid/")
    def grid_view(self, request: HttpRequest) -> HttpResponse:
        """The page; its script asks for the rows."""
        grid = Grid(self, request)
        grid.allow(grid.may_see)
        query = grid.filters.urlencode()
        listed = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        context = {
            "title": f"{capfirst(str(self.opts.verbose_name_plural))} in a grid",
            "grid": grid.about(),
            "may_edit": grid.may_edit,
            "may_add": grid.may_add,
            "may_delete": grid.may_delete,
            "is_filtered": bool(query),
            "list_url": f"{listed}?{query}",
            "reason": reasons.recall_reason(request, self.opts.db_table),
        }
        return TemplateResponse(request, "config_admin/grid.html", context)

    @page("grid/rows/", methods=["GET"])
    def rows_view(self, request: HttpRequest) -> JsonResponse:
        """Rows after one, in key order, and whether there are more."""
        grid = Grid(self, request)
        grid.allow(grid.may_see)
        pks = list(grid.filtered_rows().order_by("pk").values_list("pk", flat=True)[: CHUNK + 1])
        existing = contents(self.opts.db_table, pks[:CHUNK])
        rows = [grid.row(pk, existing[pk]) for pk in pks[:CHUNK] if pk in existing]
        return JsonResponse({"rows": rows, "next": str(pks[CHUNK - 1]) if len(pks) > CHUNK else None})

    @page("grid/save/", methods=["POST"])
    def save_view(self, request: HttpRequest) -> JsonResponse:
        """Save edits, or report what prevents it: conflicts, else findings."""
        grid = Grid(self, request)
        grid.allow(grid.may_edit)
        reason = reasons.read_reason(request)
        if not reason:
            return JsonResponse({"problem": reasons.MISSING, "field": "reason"})
        user: Any = request.user
        rows: Any = self
        edits = grid.edits()
        grid.allow(grid.may_add or not any(edit.is_new for edit in edits.values()))
        grid.allow(grid.may_delete or not any(edit.is_deleted for edit in edits.values()))
        try:
            done = save_edits(
                self.opts.db_table,
                edits,
                partial(rows.find_refusal, request),
                author=user,
                reason=reason,
                confirmed=request.POST.get("confirmed", "").split(),
            )
        except SavingFailed as error:
            return JsonResponse({"problem": str(error)})
        if done.is_held:
            return JsonResponse(grid.describe_refusal(done.verdict))
        reasons.remember(request, self.opts.db_table)
        return JsonResponse(grid.describe_save(done, edits))


def address_name(model_admin: Any, page: str = "") -> str:
    """The URL name of a grid's address."""
    return "_".join(filter(None, (model_admin.opts.app_label, model_admin.opts.model_name, "grid", page)))


class Grid:
    """A table's grid for one request."""

    def __init__(self, model_admin: Any, request: HttpRequest) -> None:
        self.admin, self.request, self.opts = model_admin, request, model_admin.opts
        self.table: str = self.opts.db_table
        names = [name for _, fields in model_admin.sections for part in fields for name in _flat(part)]
        #: The columns of the form, in order, after the key.
        self.columns = [column for name in names if not (column := self.opts.get_field(name)).primary_key]
        self.may_see: bool = model_admin.has_view_or_change_permission(request)
        self.may_edit: bool = model_admin.has_change_permission(request)
        #: Rows of a tool need its form, which offers the tools.
        self.may_add: bool = self.may_edit and not self.opts.pk.is_relation and model_admin.has_add_permission(request)
        self.may_delete: bool = self.may_edit and model_admin.has_delete_permission(request)
        self.has_typed_key = not isinstance(self.opts.pk, AutoField) and not self.opts.pk.is_relation

    def allow(self, may: bool) -> None:
        """Raises PermissionDenied without the right."""
        if not may:
            raise PermissionDenied

    def url(self, page: str = "") -> str:
        """An address of the grid."""
        return reverse(f"admin:{address_name(self.admin, page)}")

    @property
    def filters(self) -> QueryDict:
        """The filters of the list."""
        filters = self.request.GET.copy()
        for name in (PAGE_VAR, "o", AFTER):
            filters.pop(name, None)
        return filters

    def filtered_rows(self) -> QuerySet[Any]:
        """The rows of the list with the same filters, after the requested one. Raises BadRequest."""
        request: Any = self.request
        after = request.GET.get(AFTER)
        request.GET = self.filters
        try:
            query: QuerySet[Any] = self.admin.get_changelist_instance(request).queryset
            return query if after is None else query.filter(pk__gt=self.opts.pk.to_python(after))
        except (IncorrectLookupParameters, ValidationError) as error:
            raise BadRequest(str(error)) from error

    def about(self) -> dict[str, Json]:
        """The description of the table for the script."""
        return {
            "row": capfirst(str(self.opts.verbose_name)),
            "key": capfirst(str(self.opts.pk.verbose_name)),
            "keyNumber": isinstance(self.opts.pk, AutoField),
            "keyName": self.opts.pk.attname,
            "keyTyped": self.has_typed_key,
            "mayEdit": self.may_edit,
            "mayAdd": self.may_add,
            "mayDelete": self.may_delete,
            "rows": f"{self.url('rows')}?{self.filters.urlencode()}",
            "save": self.url("save"),
            "columns": [self._serialize_column(column) for column in self.columns],
            "condition": self.admin.describe_condition_column(self.request),
        }

    def _serialize_column(self, column: Any) -> dict[str, Json]:
        kind = column.get_internal_type()
        return {
            "name": column.attname,
            "label": capfirst(str(column.verbose_name)),
            "help": str(column.help_text),
            "initial": text_of(get_default(column)),
            "fixed": column.name in self.admin.fixed_fields,
            "wide": kind in _WIDE,
            "number": "Integer" in kind or kind == "DecimalField",
            "truth": kind == "BooleanField",
            "options": list(dict.fromkeys(self._options(column))),
        }

    def _options(self, column: Any) -> Iterator[str]:
        source = find_source(get_column_spec(column))
        if column.choices:
            yield from (str(value) for value, _ in column.flatchoices)
        elif source:
            yield from (option.value for option in source(get_editor_context(self.request)))

    def row(self, pk: Any, content: Content) -> list[Json]:
        """A row for the script: its key, digest, form address, name and texts."""
        texts = [text_of(mask_value(self.table, column.attname, content[column.attname])) for column in self.columns]
        return [str(pk), digest_of(content), row_url(self.table, pk), self._name(pk), texts]

    def _name(self, pk: Any) -> str:
        """The key, or the code of the tool of the row."""
        tool = get_editor_context(self.request).snapshot.row(Tool, pk) if self.opts.pk.is_relation else None
        return tool.tool_code if tool else str(pk)

    def edits(self) -> dict[Any, Edit]:
        """The submitted edits as a JSON file: `{key: {"seen": digest, "cells": {column: text}}}`.

        `{name: {"new": true, "cells": …}}` adds a row, `{key: {"seen": digest, "deleted": true}}` deletes one.
        Raises BadRequest.
        """
        sent, limit = self.request.FILES.get("edits"), conf.get("MAX_IMPORT_BYTES")
        if sent is None or (sent.size or 0) > limit:
            raise BadRequest(f"Send the edits as a file `edits` of at most {limit} bytes.")
        editable = {column.attname for column in self.columns if column.name not in self.admin.fixed_fields}
        try:
            data = sent.read()
            document = read_apart(data, read_json, decode(data))
            edits = {key: self._read_edit(edit, editable) for key, edit in document.items()}
            return {key if edit.is_new else self._read_key(key): edit for key, edit in edits.items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ValidationError) as error:
            raise BadRequest(f"The list of edits is not valid: {error}") from error

    def _read_key(self, text: str) -> Any:
        """The key of a row. Raises ValidationError for one that no row can have."""
        column = self.opts.pk.target_field if self.opts.pk.is_relation else self.opts.pk
        key = column.to_python(text)
        column.run_validators(key)
        return key

    def _read_edit(self, edit: Mapping[str, Any], editable: set[str]) -> Edit:
        """One submitted edit. A new row may have a key and needs no digest; a deleted row has no cells.

        Raises ValueError, KeyError, TypeError.
        """
        is_new, is_deleted = edit.get("new") is True, edit.get("deleted") is True
        if is_new and self.has_typed_key:
            editable = editable | {self.opts.pk.attname}
        seen = edit.get("seen", "") if is_new else edit["seen"]
        texts = {} if is_deleted else dict(edit["cells"])
        if unknown := texts.keys() - editable:
            raise ValueError(f"{', '.join(sorted(unknown))} cannot be changed in the grid. Use the form of the row.")
        if not all(isinstance(text, str) for text in (seen, *texts.values())):
            raise ValueError("cells are texts.")
        return Edit(seen, texts, is_new=is_new, is_deleted=is_deleted)

    def describe_refusal(self, verdict: CheckedEdits) -> dict[str, Json]:
        """What prevents saving the edits."""
        findings = [
            {
                **finding.as_dict(),
                "row": str(verdict.names.get(finding.row, finding.row)),
                "key": get_finding_key(finding),
            }
            for finding in verdict.findings
        ]
        met = {str(pk): self._describe_conflict(pk, content, change) for pk, (content, change) in verdict.met.items()}
        return {"findings": findings, "met": met}

    def _describe_conflict(self, pk: Any, content: Content | None, change: RowVersion) -> dict[str, Json]:
        return {"who": change.made_by, "when": change.when, "row": None if content is None else self.row(pk, content)}

    def describe_save(self, done: SaveResult, edits: Mapping[Any, Edit]) -> dict[str, Json]:
        """The release, the rows after saving, and warnings."""
        wanted, release, names = done.verdict.wanted, done.release, done.verdict.names
        stored = [*names, *(pk for pk, edit in edits.items() if not edit.is_new)]
        return {
            "release": {"number": release.pk, "url": release_url(release.pk)} if release else None,
            "draft": describe_saved_draft(),
            "rows": [self.row(pk, content) for pk, content in contents(self.table, stored).items()],
            "added": {name: str(pk) for pk, name in names.items()},
            "deleted": [str(pk) for pk, edit in edits.items() if edit.is_deleted],
            "told": news_of([RowKey(self.table, pk) for pk, row in wanted.items() if row])[:TOLD] if release else [],
            "health": health_url(),
            "conversions": [
                f"{pk}: {change.before} → {change.after}"
                for pk, changes in done.verdict.conversions.items()
                for change in changes
            ],
        }


def _flat(part: str | tuple[str, ...]) -> tuple[str, ...]:
    return (part,) if isinstance(part, str) else part
