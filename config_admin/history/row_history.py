"""The history of a row: who changed what, when and why; and restoring an earlier state (R5)."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from simple_history.admin import SimpleHistoryAdmin

from config_admin.comparison.configurations import changed_row
from config_admin.comparison.row_diff import changes
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import put_back_url, release_url, row_name, row_url
from config_admin.form_save import reasons
from config_admin.form_save.confirmation import Question, Refusal, ask, list_refusals, refusals_of, warnings_of
from config_admin.form_save.request_change_set import record_request
from config_admin.releases.content import as_json, contents, kept_columns
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.queries import NoSuchRelease, row_at
from config_admin.releases.tree import Content, RowDifference, has_same_text
from config_admin.restore.checks import check_restored_rows, compile_rows
from config_admin.restore.restore_rows import RestoreRefused, RowsBelongTogether
from config_admin.restore.revert import revert_row
from convengine.engine.text.difference import Difference
from convengine.engine.turn.rows import ROW_TYPE_OF

_WORDS = {"+": "Added", "~": "Changed", "-": "Deleted"}


class Entry(NamedTuple):
    """One change of the row."""

    what: str
    who: str
    why: str
    record: Any
    release_url: str
    changes: Sequence[Difference]
    #: The link to restore this state; blank if it is the present one, or the release does not have it.
    put_back_url: str
    #: True for the newest entry, while it is the present state.
    is_now: bool


class HistoryAdmin(SimpleHistoryAdmin):
    """The history page, and restoring."""

    object_history_list_template = "config_admin/history.html"
    history_list_per_page = 50

    def get_urls(self) -> list[Any]:
        """Add the page that restores a row; leave out the library's own, which skips the checks."""
        name = f"{self.opts.app_label}_{self.opts.model_name}_put_back"
        view = self.admin_site.admin_view(self.put_back_view)
        others = [pattern for pattern in super().get_urls() if not str(pattern.name or "").endswith("_simple_history")]
        return [path("<path:object_id>/put-back/<int:config_version>/", view, name=name), *others]

    def history_view_title(self, request: HttpRequest, obj: Any) -> str:
        """The title of the page."""
        return f"History of {self.opts.verbose_name} {obj}"

    def set_history_delta_changes(self, request: HttpRequest, historical_records: Any, **options: Any) -> None:
        """Set the entries of the page: each record compared with the one before it, also across pages."""
        records = list(historical_records)
        older = list(self._before(records[-1])) if records else []
        releases = CeRelease.objects.in_bulk([record.config_version for record in records])
        may = self.has_change_permission(request)
        historical_records.entries = list(self._entries([*records, *older], releases, may))[: len(records)]

    def _before(self, record: Any) -> Any:
        key = self.opts.pk.attname
        older = type(record).objects.filter(**{key: getattr(record, key)}, history_id__lt=record.history_id)
        return older.order_by("-history_id")[:1]

    def _entries(self, records: list[Any], releases: dict[int, CeRelease], may: bool) -> Iterator[Entry]:
        table = self.opts.db_table
        now = self._now(getattr(records[0], self.opts.pk.attname)) if records else None
        for index, record in enumerate(records):
            older = records[index + 1] if index + 1 < len(records) else None
            was = _content(older) if older is not None and older.history_type != "-" else None
            content = _content(record)
            release = releases.get(record.config_version)
            is_there = record.history_type != "-"
            back = may and is_there and not has_same_text(content, now)
            pk = getattr(record, self.opts.pk.attname)
            yield Entry(
                what=_WORDS[record.history_type],
                who=(release.author or release.get_origin_display()) if release else "",
                why=record.history_change_reason or "",
                record=record,
                release_url=release_url(record.config_version),
                changes=changes(table, was, content if is_there else None),
                put_back_url=put_back_url(table, pk, record.config_version) if back else "",
                is_now=index == 0 and is_there and has_same_text(content, now),
            )

    def _now(self, pk: Any) -> Content | None:
        return contents(self.opts.db_table, [pk]).get(pk)

    # --- restore ------------------------------------------------------------------------------------------------

    def put_back_view(self, request: HttpRequest, object_id: str, config_version: int) -> HttpResponse:
        """Ask whether to restore a row as it was in a release, or do it."""
        pk = self.opts.pk.to_python(unquote(object_id))
        reasons.require_reason(request, consent=())
        with record_request(request, Origin.REVERT):
            if not self.has_change_permission(request):
                raise PermissionDenied
            question = self._question(request, pk, config_version)
            if request.method != "POST" or question.refusals or not reasons.read_reason(request):
                return ask(request, question, self.opts)
            try:
                revert_row(self.opts.db_table, pk, config_version)
            except RestoreRefused as error:
                question.refusals = refusals_of(error.findings)
                return ask(request, question, self.opts)
            except RowsBelongTogether as error:
                question.refusals = [Refusal(str(error))]
                return ask(request, question, self.opts)
            done = f"{row_name(self.opts.db_table, pk)} was restored from release {config_version}."
            self.message_user(request, done, messages.SUCCESS)
        return HttpResponseRedirect(row_url(self.opts.db_table, pk, "history"))

    def _question(self, request: HttpRequest, pk: Any, config_version: int) -> Question:
        table, editor = self.opts.db_table, get_editor_context(request)
        now, name = self._now(pk), row_name(self.opts.db_table, pk)
        try:
            was = row_at(config_version, table, pk)
        except NoSuchRelease as error:
            was, missing = now, [Refusal(str(error))]
        else:
            missing = [Refusal("The row already has this content.")] if has_same_text(was, now) else []
        stored = editor.snapshot.row(ROW_TYPE_OF[table], pk)
        concerned = [*([stored] if stored else []), *compile_rows(table, {pk: was}).rows]
        findings = check_restored_rows({table: {pk: was}})
        return Question(
            title=f"Restore {name}",
            intro=f"Restore this row from release {config_version}? Other rows are not changed.",
            answer="Restore",
            back_url=row_url(table, pk, "history"),
            refusals=[*missing, *list_refusals(self, request, concerned), *refusals_of(findings)],
            warnings=warnings_of(findings),
            reason=f"As in release {config_version}",
            rows=[changed_row(table, RowDifference(pk, now, was))],
        )


def _content(record: Any) -> dict[str, Any]:
    table = record.instance_type._meta.db_table
    return {name: as_json(getattr(record, name)) for name in kept_columns(table)}
