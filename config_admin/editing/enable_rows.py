"""Enable or disable many rows: checked together, confirmed once, one release."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import model_ngettext
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from config_admin.editing import reasons
from config_admin.editing.confirmation import (
    Question,
    Refusal,
    ask,
    link_rows,
    list_refusals,
    refusals_of,
    warnings_of,
)
from config_admin.editing.context import EditorContext, get_editor_context
from config_admin.validation.draft import overlaid
from config_admin.validation.findings import Finding
from config_admin.validation.save_checks import check_row
from convengine.engine.turn.rows import ROW_TYPE_OF, Row

#: How many rows and findings the page shows.
SHOWN = 20


def switch(
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
) -> Question:
    """The question before many rows are enabled or disabled; it shows at most `SHOWN` of each list."""
    count = len(drafts)
    what = f"{count} {model_ngettext(model_admin.opts, count)}"
    verb = "Enable" if enabled else "Disable"
    shown = list(drafts.values())[:SHOWN]
    across = request.POST.get("select_across") == "1"
    # Django runs an action only when a box is ticked; with `select_across` one box stands for all rows.
    selected = request.POST.getlist(ACTION_CHECKBOX_NAME)[: 1 if across else None]
    return Question(
        title=f"{verb} {what}",
        intro=f"{verb} these rows? All changes become one release.",
        answer=f"{verb} {what}",
        back_url=request.get_full_path(),
        refusals=refusals[:SHOWN],
        warnings=warnings[:SHOWN],
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
