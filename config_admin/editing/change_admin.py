"""Changes of rows in the admin: forms, deletions and list actions, each one release with a reason."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import get_deleted_objects, model_ngettext
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from unfold.admin import ModelAdmin

from config_admin.editing import reasons
from config_admin.editing.confirmation import (
    ConfirmationQuestion,
    Refusal,
    ask,
    link_rows,
    list_refusals,
    refusals_of,
    warnings_of,
)
from config_admin.editing.context import EditorContext, get_editor_context
from config_admin.editing.request_change_set import describe_new_release, record_request
from config_admin.editing.usages import UsageGroup, group_usages
from config_admin.releases.change_set import current
from config_admin.validation.draft import Finding, overlaid
from config_admin.validation.labels import column_label
from config_admin.validation.save_checks import check_delete, check_row
from config_admin.validation.uses import find_references
from convengine.engine.turn.rows import ROW_TYPE_OF, Row
from convengine.engine.turn.snapshot import Snapshot


class ChangeAdmin(ModelAdmin):
    """How users change rows of a table."""

    delete_confirmation_template = "config_admin/delete.html"
    delete_selected_confirmation_template = "config_admin/delete.html"
    actions: Any = ("enable_selected", "disable_selected")

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """The form; saving makes one release."""
        with record_request(request):
            response: HttpResponse = super().changeform_view(request, *args, **options)
        if (saved := vars(request).pop("_saved_row", None)) is not None:
            self.tell_consequences(request, saved)
        return response

    def tell_consequences(self, request: HttpRequest, saved: Any) -> None:
        """What the saved row does together with others, in messages of the next page."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store the row, and report converted templates."""
        super().save_model(request, obj, form, change)
        vars(request)["_saved_row"] = obj
        if form.meeting and (note := form.meeting.note) and (open_now := current()):
            open_now.reason = f"{open_now.reason} ({note})"
        reasons.remember(request, reasons.get_subject(obj))
        if form.conversions:
            table, lines = self.opts.db_table, form.conversions
            shown = ((column_label(table, line.field), line.before, line.after) for line in lines)
            items = format_html_join("", "<li>{}: {} → {}</li>", shown)
            self.message_user(request, format_html("Stored as Jinja2:<ul>{}</ul>", items))

    def delete_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """Ask for confirmation with the uses of the row; the deletion is one release."""
        # Django deletes if a POST has any content.
        reasons.require_reason(request, consent=list(request.POST))
        with record_request(request):
            response: HttpResponse = super().delete_view(request, *args, **options)
        if isinstance(response, TemplateResponse) and response.context_data:
            stored = response.context_data.get("object")
            response.context_data["where_used"] = self.uses_of(request, stored)
            subject = reasons.get_subject(stored or self.model())
            response.context_data |= self._reason(request, subject)
        return response

    def uses_of(self, request: HttpRequest, stored: Any) -> list[UsageGroup] | None:
        """The uses of a row. Returns None for one that is not in force."""
        snapshot = get_editor_context(request).snapshot
        row = snapshot.row(ROW_TYPE_OF[self.opts.db_table], stored.pk) if stored else None
        return group_usages(snapshot, row) if row else None

    def _reason(self, request: HttpRequest, subject: str) -> dict[str, str]:
        return {
            "reason": reasons.recall_reason(request, subject),
            "reason_missing": reasons.describe_missing_reason(request),
        }

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete the row; the reason is suggested for the next change of the same thing."""
        reasons.remember(request, reasons.get_subject(obj))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        reasons.remember(request, self.opts.db_table)
        super().delete_queryset(request, queryset)

    def changelist_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """The list; its actions make one release after a confirmation."""
        reasons.require_reason(request, consent=("post", "confirmed"))
        with record_request(request):
            response: HttpResponse = super().changelist_view(request, *args, **options)
        if isinstance(response, TemplateResponse) and response.context_data:
            may_change = self.has_add_permission(request) or self.has_change_permission(request)
            response.context_data |= {"may_import": may_change}
            if "reason" not in response.context_data:
                response.context_data |= self._reason(request, self.opts.db_table)
        return response

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What would be deleted too, and what prevents it."""
        return collect_deletions(self, objs, request)

    def find_refusal(self, request: HttpRequest, row: Row) -> str:
        """Why this user may not have or change such a row, or blank."""
        return ""

    def check_together(self, snapshot: Snapshot, leaving: Collection[Any]) -> Sequence[Finding]:
        """Why these rows may not be deleted or disabled together, although each alone may."""
        return ()

    @admin.action(description="Enable selected", permissions=["change"])
    def enable_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return _switch_rows(self, request, queryset, enabled=True)

    @admin.action(description="Disable selected", permissions=["change"])
    def disable_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return _switch_rows(self, request, queryset, enabled=False)

    def message_user(
        self, request: HttpRequest, message: Any, level: Any = messages.INFO, *rest: Any, **more: Any
    ) -> None:
        """Add the release of a change to its message."""
        told_too = format_html("{} {}", message, describe_new_release()) if level == messages.SUCCESS else message
        super().message_user(request, told_too, level, *rest, **more)


#: How many rows a page lists.
MAX_ROWS = 20


def collect_deletions(
    model_admin: Any, objs: Any, request: HttpRequest
) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
    """As in Django: what is deleted, counts, missing rights, and protected rows, which come from our checks."""
    objects, snapshot = list(objs), get_editor_context(request).snapshot
    going, counts, missing, _ = get_deleted_objects(objects, request, model_admin.admin_site)
    stored = snapshot.table(ROW_TYPE_OF[model_admin.opts.db_table]).by_pk
    rows = [stored[obj.pk] for obj in objects if obj.pk in stored]
    refusals = list_refusals(model_admin, request, rows)
    for row in rows:
        for finding in check_delete(row, snapshot):
            in_the_way = find_references(snapshot, row) if finding.code == "IN_USE" else ()
            refusals.append(Refusal(finding.message, tuple(link_rows(in_the_way[:MAX_ROWS]))))
    together = model_admin.check_together(snapshot, {obj.pk for obj in objects})
    refusals += [Refusal(finding.message) for finding in together]
    shown = going if len(going) <= MAX_ROWS else [*going[:MAX_ROWS], f"… and {len(going) - MAX_ROWS} more"]
    return shown, counts, missing, list(dict.fromkeys(refusals))


def _switch_rows(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any], *, enabled: bool
) -> TemplateResponse | None:
    """Ask whether to enable or disable rows, or after confirmation do it. Rows in the wanted state are skipped.

    Returns None if it is done, or if there is nothing to do.
    """
    pks = list(queryset.filter(enabled=not enabled).order_by().values_list("pk", flat=True))
    word = "enabled" if enabled else "disabled"
    if not pks:
        model_admin.message_user(request, f"All selected rows are already {word}.", messages.INFO)
        return None
    editor = get_editor_context(request)
    stored = editor.snapshot.table(ROW_TYPE_OF[model_admin.model._meta.db_table]).by_pk
    drafts: dict[Any, Row] = {pk: replace(stored[pk], enabled=enabled) for pk in pks if pk in stored}
    findings = _check_drafts(editor, drafts, everything=enabled)
    refusals = [*list_refusals(model_admin, request, drafts.values()), *refusals_of(findings)]
    if not enabled:
        refusals += [Refusal(finding.message) for finding in model_admin.check_together(editor.snapshot, set(pks))]
    if "confirmed" in request.POST and not refusals:
        reasons.remember(request, model_admin.opts.db_table)
        changed = queryset.model._default_manager.filter(pk__in=pks).update(enabled=enabled)
        model_admin.message_user(
            request, f"{changed} {model_ngettext(model_admin.opts, changed)} {word}.", messages.SUCCESS
        )
        return None
    question = _build_question(model_admin, request, drafts, refusals, warnings_of(findings), enabled)
    return ask(request, question, model_admin.opts)


def _check_drafts(editor: EditorContext, drafts: Mapping[Any, Row], *, everything: bool) -> list[Finding]:
    """The findings of the save checks for changed rows.

    For rows to enable (`everything`) all of them, in the resulting configuration; for rows to disable only those that
    the row does not have today.
    """
    if everything:
        after = overlaid(editor.snapshot, drafts)
        return [finding for draft in drafts.values() for finding in check_row(draft, after, editor.world)]
    findings: list[Finding] = []
    for draft in drafts.values():
        stored = editor.snapshot.row(type(draft), draft.pk)
        before = check_row(stored, editor.snapshot, editor.world) if stored else []
        findings += [finding for finding in check_row(draft, editor.snapshot, editor.world) if finding not in before]
    return findings


def _build_question(
    model_admin: Any,
    request: HttpRequest,
    drafts: Mapping[Any, Row],
    refusals: list[Refusal],
    warnings: list[str],
    enabled: bool,
) -> ConfirmationQuestion:
    """The question before many rows are enabled or disabled; it shows at most `MAX_ROWS` of each list."""
    count = len(drafts)
    what = f"{count} {model_ngettext(model_admin.opts, count)}"
    verb = "Enable" if enabled else "Disable"
    shown = list(drafts.values())[:MAX_ROWS]
    across = request.POST.get("select_across") == "1"
    # Django runs an action only when a box is ticked; with `select_across` one box stands for all rows.
    selected = request.POST.getlist(ACTION_CHECKBOX_NAME)[: 1 if across else None]
    return ConfirmationQuestion(
        title=f"{verb} {what}",
        intro=f"{verb} these rows? All changes become one release.",
        answer=f"{verb} {what}",
        back_url=request.get_full_path(),
        refusals=refusals[:MAX_ROWS],
        warnings=warnings[:MAX_ROWS],
        row_links=link_rows(shown),
        more=count - len(shown),
        reason=reasons.recall_reason(request, model_admin.opts.db_table),
        inputs=[
            ("action", request.POST.get("action", "")),
            ("select_across", "1" if across else "0"),
            ("confirmed", "1"),
            *((ACTION_CHECKBOX_NAME, pk) for pk in selected),
        ],
    )
