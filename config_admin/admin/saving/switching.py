"""Switching rows on or off, many at once: judged together first, asked once, one release."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import model_ngettext
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from config_admin.admin.desk import Desk, desk_of
from config_admin.admin.saving import reasons
from config_admin.admin.saving.confirming import Question, Refusal, ask, named, refusals_of, refused, warnings_of
from config_admin.validation.draft import overlaid
from config_admin.validation.findings import Finding
from config_admin.validation.run import check_row
from convengine.domain.rows import ROW_TYPE_OF, Row
from convengine.domain.snapshot import Snapshot

#: How many rows and findings the page spells out.
SHOWN = 20


def switch(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any], *, enabled: bool
) -> TemplateResponse | None:
    """Ask, or when the page was answered do it. Rows that are so already are left alone."""
    pks = list(queryset.filter(enabled=not enabled).order_by().values_list("pk", flat=True))
    word = "enabled" if enabled else "disabled"
    if not pks:
        model_admin.message_user(request, f"All of them are {word} already.", messages.INFO)
        return None
    desk = desk_of(request)
    drafts = _drafts(desk.snapshot, model_admin.model._meta.db_table, pks, enabled)
    findings = _judged(desk, drafts, everything=enabled)
    refusals = [*refused(model_admin, request, drafts.values()), *refusals_of(findings)]
    if not enabled:
        refusals += [Refusal(finding.message) for finding in model_admin.check_together(desk.snapshot, set(pks))]
    if "confirmed" in request.POST and not refusals:
        reasons.remember(request, model_admin.opts.db_table)
        changed = queryset.model._default_manager.filter(pk__in=pks).update(enabled=enabled)
        model_admin.message_user(
            request, f"{changed} {model_ngettext(model_admin.opts, changed)} {word}.", messages.SUCCESS
        )
        return None
    return ask(
        request, _question(model_admin, request, drafts, refusals, warnings_of(findings), enabled), model_admin.opts
    )


def _drafts(snapshot: Snapshot, table: str, pks: list[Any], enabled: bool) -> Mapping[Any, Row]:
    stored = snapshot.table(ROW_TYPE_OF[table]).by_pk
    return {pk: replace(stored[pk], enabled=enabled) for pk in pks if pk in stored}


def _judged(desk: Desk, drafts: Mapping[Any, Row], *, everything: bool) -> list[Finding]:
    """What the checks say: of rows that are switched on, everything, beside the others that are; of rows that are
    switched off, only what becomes wrong by it, for they may stay as wrong as they were.
    """
    if everything:
        after = overlaid(desk.snapshot, drafts)
        return [finding for draft in drafts.values() for finding in check_row(draft, after, desk.world)]
    found: list[Finding] = []
    for draft in drafts.values():
        stored = desk.snapshot.row(type(draft), draft.pk)
        before = check_row(stored, desk.snapshot, desk.world) if stored else []
        found += [finding for finding in check_row(draft, desk.snapshot, desk.world) if finding not in before]
    return found


def _question(
    model_admin: Any,
    request: HttpRequest,
    drafts: Mapping[Any, Row],
    refusals: list[Refusal],
    warnings: list[str],
    enabled: bool,
) -> Question:
    count = len(drafts)
    what = f"{count} {model_ngettext(model_admin.opts, count)}"
    verb = "Enable" if enabled else "Disable"
    shown = list(drafts.values())[:SHOWN]
    across = request.POST.get("select_across") == "1"
    # Django looks at an action only when a box is ticked; with `select_across` one box stands for all rows.
    selected = request.POST.getlist(ACTION_CHECKBOX_NAME)[: 1 if across else None]
    return Question(
        title=f"{verb} {what}",
        intro=f"{verb} these rows? They change together, as one release.",
        answer=f"{verb} {what}",
        back_url=request.get_full_path(),
        refusals=refusals[:SHOWN],
        warnings=warnings[:SHOWN],
        named=named(shown),
        more=count - len(shown),
        reason=reasons.remembered(request, model_admin.opts.db_table),
        inputs=[
            ("action", request.POST.get("action", "")),
            ("select_across", "1" if across else "0"),
            ("confirmed", "1"),
            *((ACTION_CHECKBOX_NAME, pk) for pk in selected),
        ],
    )
