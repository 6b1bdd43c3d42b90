"""The page with the history of a row: who changed what, when and why; and restoring an earlier state."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from simple_history.admin import SimpleHistoryAdmin

from config_admin.editing import reasons
from config_admin.editing.confirmation import (
    ConfirmationQuestion,
    Refusal,
    ask,
    list_refusals,
    refusals_of,
    warnings_of,
)
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import put_back_url, row_url
from config_admin.editing.request_change_set import record_request
from config_admin.editing.row_diff import changed_row, changes
from config_admin.releases.content import contents
from config_admin.releases.models import Origin
from config_admin.releases.queries import NoSuchRelease, row_at
from config_admin.releases.restore_rows import check_restored_rows, compile_rows
from config_admin.releases.row_history import read_entries, select_author
from config_admin.releases.tree import RowDifference, has_same_text
from config_admin.releases.undo import revert_row
from config_admin.validation.labels import row_name
from convengine.engine.text.difference import Difference
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.server.interfaces.release_history import RowVersion

_WORDS = {"+": "Added", "~": "Changed", "-": "Deleted"}


class HistoryEntry(NamedTuple):
    what: str
    version: RowVersion
    changes: Sequence[Difference]
    #: The link to restore this state; blank if it is the present one, or the release does not have it.
    put_back_url: str
    #: True for the newest entry, while it is the present state.
    is_now: bool


class HistoryAdmin(SimpleHistoryAdmin):
    object_history_list_template = "config_admin/history.html"
    history_list_per_page = 50

    def get_urls(self) -> list[Any]:
        """Add the page that restores a row; leave out the library's own, which skips the checks."""
        name = f"{self.opts.app_label}_{self.opts.model_name}_put_back"
        view = self.admin_site.admin_view(self.put_back_view)
        others = [pattern for pattern in super().get_urls() if not str(pattern.name or "").endswith("_simple_history")]
        return [path("<path:object_id>/put-back/<int:config_version>/", view, name=name), *others]

    def history_view_title(self, request: HttpRequest, obj: Any) -> str:
        return f"History of {self.opts.verbose_name} {obj}"

    def get_history_queryset(self, request: HttpRequest, *args: Any) -> QuerySet[Any]:
        """The entries with the authors of their releases."""
        entries = super().get_history_queryset(request, *args)
        annotated: QuerySet[Any] = entries.annotate(made_by=select_author())
        return annotated

    def set_history_delta_changes(self, request: HttpRequest, historical_records: Any, **options: Any) -> None:
        """Set the entries of the page: each record compared with the one before it, also across pages."""
        records, table = list(historical_records), self.opts.db_table
        historical_records.entries = entries = list[HistoryEntry]()
        if not records:
            return
        pk, may_restore = records[0].instance.pk, self.has_change_permission(request)
        now = contents(table, [pk]).get(pk)
        for index, (version, was, content) in enumerate(read_entries(table, pk, records)):
            is_now = content is not None and has_same_text(content, now)
            can_restore = may_restore and content is not None and not is_now
            entries.append(
                HistoryEntry(
                    what=_WORDS[version.sign],
                    version=version,
                    changes=changes(table, was, content),
                    put_back_url=put_back_url(table, pk, version.config_version) if can_restore else "",
                    is_now=is_now and index == 0,
                )
            )

    # --- restore ------------------------------------------------------------------------------------------------

    def put_back_view(self, request: HttpRequest, object_id: str, config_version: int) -> HttpResponse:
        """Ask whether to restore a row as it was in a release, or do it."""
        pk = self.opts.pk.to_python(unquote(object_id))
        reasons.require_reason(request, consent=())
        with record_request(request, Origin.REVERT):
            if not self.has_change_permission(request):
                raise PermissionDenied
            table, question = self.opts.db_table, self._question(request, pk, config_version)
            if not question.store_if_agreed(request, lambda: revert_row(table, pk, config_version)):
                return ask(request, question, self.opts)
            done = f"{row_name(table, pk)} was restored from release {config_version}."
            self.message_user(request, done, messages.SUCCESS)
            return HttpResponseRedirect(row_url(table, pk, "history"))

    def _question(self, request: HttpRequest, pk: Any, config_version: int) -> ConfirmationQuestion:
        table, editor = self.opts.db_table, get_editor_context(request)
        now, name = contents(table, [pk]).get(pk), row_name(table, pk)
        try:
            was = row_at(config_version, table, pk)
        except NoSuchRelease as error:
            was, missing = now, [Refusal(str(error))]
        else:
            missing = [Refusal("The row already has this content.")] if has_same_text(was, now) else []
        stored = editor.snapshot.row(ROW_TYPE_OF[table], pk)
        concerned = [*([stored] if stored else []), *compile_rows(table, {pk: was}).rows]
        findings = check_restored_rows({table: {pk: was}})
        return ConfirmationQuestion(
            title=f"Restore {name}",
            intro=f"Restore this row from release {config_version}? Other rows are not changed.",
            answer="Restore",
            back_url=row_url(table, pk, "history"),
            refusals=[*missing, *list_refusals(self, request, concerned), *refusals_of(findings)],
            warnings=warnings_of(findings),
            reason=f"As in release {config_version}",
            rows=[changed_row(table, RowDifference(pk, now, was))],
        )
