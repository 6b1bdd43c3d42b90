"""Admin of drafts: make one, work in it, look at its changes, publish or discard it."""

from collections.abc import Callable, Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from config_admin.drafts import review_pages
from config_admin.drafts.conditions import (
    Publication,
    count_needed_approvals,
    judge_draft_gate,
    list_problems,
    may_override,
)
from config_admin.drafts.edits import MergedEdits, find_other_drafts, hash_edits, merge_edits, store_edits
from config_admin.drafts.middleware import KEY, enter_draft, leave_draft
from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.drafts.moves_page import list_stranded_notes
from config_admin.drafts.open_draft import DraftEnded
from config_admin.drafts.publish_draft import discard_draft, publish_draft
from config_admin.drafts.review import describe_review, list_approvers, list_open_returns
from config_admin.drafts.sections import build_health, build_sections, link_gate_tests
from config_admin.editing import reasons
from config_admin.editing.confirmation import (
    SHOWN,
    ConfirmationQuestion,
    Refusal,
    ask,
    list_missing_rights,
    refusals_of,
    warnings_of,
)
from config_admin.editing.links import draft_url, release_url, row_url
from config_admin.editing.row_diff import build_comparison, diff_column
from config_admin.history.gradual.form import AudienceForm
from config_admin.releases.audience import find_gradual_release
from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.restore_rows import check_restored_rows
from config_admin.releases.row_history import find_last_versions
from config_admin.releases.row_merge import RowMerge
from config_admin.releases.tree import Content, RowDifference
from config_admin.test_cases.gate import describe_problems
from config_admin.validation.labels import row_name
from config_admin.validation.stored_columns import control_plane
from convengine.engine.text.difference import Difference
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import PagesAdmin, page
from convengine.server.admin_site.record_columns import badge_column, what_if_url
from convengine.server.admin_site.rights import PUBLISH_DRAFT

STATUS_LOOKS = {"OPEN": "info", "PUBLISHED": "success", "DISCARDED": "default"}


class DraftForm(forms.ModelForm):
    def clean_title(self) -> str:
        """The constraint of the model is not checked here, because a form has no status."""
        title = str(self.cleaned_data["title"])
        if CeDraft.objects.filter(title=title, status=DraftStatus.OPEN).exists():
            raise ValidationError("An open draft of this title already exists. Choose another title.")
        return title


@admin.register(CeDraft)
class DraftAdmin(PagesAdmin):
    """Drafts, newest first."""

    change_form_template = "config_admin/draft.html"
    list_display = ("title", "status_label", "created_by", "created_at", "release_label")
    list_filter = ("status",)
    ordering = ("-draft_id",)
    form = DraftForm
    fields = ("title", "description")
    actions = None
    show_full_result_count = False

    @badge_column(STATUS_LOOKS, "status", "status")
    def status_label(self, draft: CeDraft) -> tuple[str, str]:
        """Whether it is still edited."""
        return draft.status, str(draft.get_status_display())

    @admin.display(description="release", ordering="config_version")
    def release_label(self, draft: CeDraft) -> str:
        return f"Release {draft.config_version}" if draft.config_version else "-"

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """The title is given once: the history of rows names it."""
        return self.fields if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Drafts are discarded; what was in them stays readable."""
        return False

    def save_model(self, request: HttpRequest, obj: CeDraft, form: Any, change: bool) -> None:
        """Store the draft; a new one is worked in at once."""
        if not change:
            obj.created_by = request.user.get_username()
        super().save_model(request, obj, form, change)
        if not change:
            enter_draft(request, obj)

    def response_add(self, request: HttpRequest, obj: CeDraft, post_url_continue: Any = None) -> HttpResponse:
        """Say what happens from now on, and where to begin."""
        text = f"You work in the draft “{obj.title}” now. What you save goes into it; conversations do not use it yet."
        messages.success(request, text)
        return HttpResponseRedirect(draft_url(obj.pk))

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """The draft with its changes over the live configuration."""
        draft = self.get_object(request, object_id)
        context: dict[str, Any] = {}
        if draft:
            merged = merge_edits(draft) if draft.status == DraftStatus.OPEN else MergedEdits()
            context = {
                "draft": draft,
                "is_open": draft.status == DraftStatus.OPEN,
                "is_entered": request.session.get(KEY) == draft.pk,
                "comparison": build_comparison(request, merged.differences),
                "conflicts": [_describe_conflict(name, merge) for name, merge in merged.conflicts.items()],
                "others": _list_other_drafts(draft) if draft.status == DraftStatus.OPEN else [],
                "edits": _list_edits(merged),
                "release_url": release_url(draft.config_version) if draft.config_version else "",
                "may_publish": request.user.has_perm(PUBLISH_DRAFT),
                "what_if_url": what_if_url(request.user, f"draft:{draft.pk}"),
                "review": review_pages.build_review(request, draft, merged),
                "sections": build_sections(request, draft, merged) if draft.status == DraftStatus.OPEN else [],
            }
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    # --- one draft ----------------------------------------------------------------------------------------------

    @page("<int:draft_id>/enter/")
    def enter_view(self, request: HttpRequest, draft_id: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        require_right(request, "config_admin.change_cedraft")
        draft = _find_open(draft_id)
        enter_draft(request, draft)
        messages.success(request, f"You work in the draft “{draft.title}” now. What you save goes into it.")
        wanted = request.POST.get("next", "")
        is_own = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
        return HttpResponseRedirect(wanted if is_own else draft_url(draft_id))

    @page("leave/")
    def leave_view(self, request: HttpRequest) -> HttpResponse:
        """Show the live configuration again."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        require_right(request, "config_admin.view_cedraft")
        leave_draft(request)
        messages.success(
            request, "You left the draft; its changes stay in it. Pages show the live configuration again."
        )
        return HttpResponseRedirect(reverse("admin:config_admin_cedraft_changelist"))

    @page("<int:draft_id>/drop/")
    def drop_view(self, request: HttpRequest, draft_id: int) -> HttpResponse:
        return self._edit_row(request, draft_id, lambda merged, table, pk: merged.live[table][pk])

    @page("<int:draft_id>/settle/")
    def settle_view(self, request: HttpRequest, draft_id: int) -> HttpResponse:
        """Decide a conflict: the row as the draft has it, or as it is live in the fields that both changed."""

        def decide(merged: MergedEdits, table: str, pk: Any) -> Content | None:
            return merged.conflicts[table, pk].merge_changes(prefer_now=request.POST.get("side") != "draft")

        return self._edit_row(request, draft_id, decide)

    def _edit_row(
        self, request: HttpRequest, draft_id: int, decide: Callable[[MergedEdits, str, Any], Content | None]
    ) -> HttpResponse:
        """Change the posted row of a draft as `decide` says, with the draft locked, and return to its page.

        A user without the right to change drafts is refused.
        """
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        require_right(request, "config_admin.change_cedraft")
        with transaction.atomic():
            self._edit_locked_row(request, _find_open(draft_id, is_locked=True), decide)
        return HttpResponseRedirect(draft_url(draft_id))

    def _edit_locked_row(
        self, request: HttpRequest, draft: CeDraft, decide: Callable[[MergedEdits, str, Any], Content | None]
    ) -> None:
        """Store what `decide` makes of the posted row; tell the user if the row is gone, forbidden or decided."""
        table, merged = request.POST.get("table", ""), merge_edits(draft)
        pk = next((pk for name, pk in merged.edits if name == table and str(pk) == request.POST.get("row")), None)
        if pk is None:
            messages.warning(request, "This row is not in the draft any more.")
            return
        refusals = list_missing_rights(request, {table: [row for row in merged.differences[table] if row.pk == pk]})
        if refusals:
            messages.error(request, refusals[0].message)
            return
        try:
            after = decide(merged, table, pk)
        except KeyError:
            messages.warning(request, "Nothing is left to decide for this row.")
            return
        reason = merged.edits[table, pk].reason
        store_edits(draft, {table: [RowDifference(pk, merged.live[table][pk], after)]}, request.user, reason)
        messages.success(request, f"{row_name(table, pk)}: done.")

    @page("<int:draft_id>/publish/")
    def publish_view(self, request: HttpRequest, draft_id: int) -> HttpResponse:
        """Ask whether to publish, with everything that changes live; or do it."""
        reasons.require_reason(request, consent=())
        require_right(request, PUBLISH_DRAFT)
        draft = _find_open(draft_id)
        merged = merge_edits(draft)
        question = _build_publish_question(request, draft, merged)
        override = _read_override(request)
        is_complete = (not question.form.is_bound or question.form.is_valid()) and bool(
            override or not question.override
        )
        if not question.is_agreed(request) or not is_complete:
            return ask(request, question, self.opts)
        audience = question.form.audience if request.POST.get("to") == "part" else None
        with question.collect_refusals(ValueError, DraftEnded):
            release = publish_draft(draft_id, request.user, reasons.read_reason(request), merged, audience, override)
        if question.refusals:
            return ask(request, question, self.opts)
        if request.session.get(KEY) == draft_id:
            leave_draft(request)
        who = "Its audience uses it" if audience else "Every conversation uses it"
        messages.success(
            request, f"The draft “{draft.title}” is published as release {release.pk}. {who} from the next message on."
        )
        if audience and (row := find_gradual_release()):
            return HttpResponseRedirect(reverse("admin:config_admin_cegradualrelease_change", args=[row.pk]))
        return HttpResponseRedirect(release_url(release.pk))

    @page("<int:draft_id>/discard/")
    def discard_view(self, request: HttpRequest, draft_id: int) -> HttpResponse:
        """Ask whether to discard the draft, or do it."""
        require_right(request, "config_admin.change_cedraft")
        draft = _find_open(draft_id)
        merged = merge_edits(draft)
        question = ConfirmationQuestion(
            title=f"Discard the draft “{draft.title}”",
            intro="End this draft without publishing it? The live configuration stays as it is.",
            answer="Discard",
            back_url=draft_url(draft_id),
            danger=True,
            asks_reason=False,
        )
        question.show_rows(merged.differences)
        if request.method != "POST":
            return ask(request, question, self.opts)
        discard_draft(draft_id)
        if request.session.get(KEY) == draft_id:
            leave_draft(request)
        messages.success(request, f"The draft “{draft.title}” is discarded. Nothing changed live.")
        return HttpResponseRedirect(reverse("admin:config_admin_cedraft_changelist"))


def _list_health_notes(request: HttpRequest, draft: CeDraft, merged: MergedEdits) -> Iterator[Refusal]:
    """What the health check finds only in the draft, or that it still runs or failed; nothing if it was not made."""
    health = build_health(request, draft, merged)
    if health is None:
        return
    if "is_running" in health:
        ended = "is still running. Open this page again" if health["is_running"] else "failed. Look at the draft's page"
        yield Refusal(f"The health check of the draft {ended}.", [(draft_url(draft.pk), "The draft")])
        return
    for finding in health["added"]:
        links = [(finding["url"], finding["name"])] if finding["url"] else []
        text = f"Health, {finding['impact'].label}: {finding['message']} {finding['consequence']}"
        yield Refusal(text.strip(), links)
    mended = f" It mends {len(health['mended'])}." if health["mended"] else ""
    if health["hidden"]:
        yield Refusal("The draft's page shows more findings.", [(draft_url(draft.pk), "The draft")])
    elif not health["added"]:
        yield Refusal(f"The health check finds nothing new in the draft.{mended}")


def _build_publish_question(request: HttpRequest, draft: CeDraft, merged: MergedEdits) -> ConfirmationQuestion:
    """What the user sees before publishing: the changes, what prevents it, warnings and notes."""
    by_table = merged.differences
    findings = check_restored_rows(merged.wanted)
    conflicts = [(row_url(table, pk), row_name(table, pk)) for table, pk in list(merged.conflicts)[:SHOWN]]
    state = judge_draft_gate(draft)
    gate = list(describe_problems(state))
    # The last of the sentences has the links, so that they stand once.
    links = {gate[-1]: link_gate_tests(request, draft, state)} if gate else {}
    closed = gate if may_override(request.user) else []
    problems = list_problems(Publication(draft, merged, request.user, "asked below" if closed else ""))
    refusals = [
        *(
            [Refusal("These rows were changed live and in the draft. Decide on the page of the draft:", conflicts)]
            if conflicts
            else []
        ),
        *list_missing_rights(request, by_table),
        *refusals_of(findings),
        *(Refusal(problem, links.get(problem, ())) for problem in problems),
        *([Refusal(emptiness)] if (emptiness := merged.explain_emptiness()) else []),
    ]
    question = ConfirmationQuestion(
        title=f"Publish the draft “{draft.title}”",
        intro="Make one release of all these changes?",
        answer="Publish",
        back_url=draft_url(draft.pk),
        refusals=refusals[:SHOWN],
        warnings=[*_list_returns(draft), *warnings_of(findings)][:SHOWN],
        notes=[
            *_note_review(draft),
            *map(Refusal, list_stranded_notes(draft, merged)),
            *_list_health_notes(request, draft, merged),
        ],
        choice="config_admin/publish_audience.html",
        form=AudienceForm(request.POST) if request.POST.get("to") == "part" else AudienceForm(),
        reason=reasons.read_reason(request) or draft.offered_reason,
        override=[Refusal(problem, links.get(problem, ())) for problem in closed],
        override_reason=_read_override(request),
    )
    question.show_rows(by_table)
    question.require_seen(request, "live", _sum_up(merged), "The draft or the live configuration changed meanwhile.")
    return question


def _note_review(draft: CeDraft) -> list[Refusal]:
    """How the review stands; where approvals are missing that are needed, the problems say it."""
    edits_hash, needed = hash_edits(draft), count_needed_approvals()
    if len(list_approvers(draft, edits_hash)) < needed:
        return []
    end = "" if needed else " Publishing needs no approval here."
    return [Refusal(describe_review(draft, edits_hash) + end, [(f"{draft_url(draft.pk)}#review", "The review")])]


def _list_returns(draft: CeDraft) -> list[str]:
    """Who returned the draft as it is, where publishing needs no approval."""
    if count_needed_approvals():
        return []
    return [
        f"{name} returned the draft. Read the review first." for name in list_open_returns(draft, hash_edits(draft))
    ]


def _read_override(request: HttpRequest) -> str:
    """Why somebody publishes although tests fail; blank for those who may not."""
    return request.POST.get("override", "").strip()[:500] if may_override(request.user) else ""


def _sum_up(merged: MergedEdits) -> str:
    """A digest of everything that publishing would change, so that nobody publishes what they did not see."""
    rows = {table: [[row.pk, row.before, row.after] for row in rows] for table, rows in merged.differences.items()}
    return hash_of(canonical(rows))[:16]


def _describe_conflict(name: tuple[str, Any], merge: RowMerge) -> dict[str, Any]:
    """A row that both sides changed, with the values of each."""
    table, pk = name
    now, after = merge.now or {}, merge.after or {}
    fields = [diff_column(table, field, now[field], after[field]) for field in merge.find_fields()]
    if merge.has_deleted_side():
        sides = ("deleted", "changed") if merge.now is None else ("changed", "deleted")
        fields = [Difference((), *sides, "The whole row")]
    return {
        "name": row_name(table, pk),
        "url": row_url(table, pk),
        "table": table,
        "pk": pk,
        "fields": fields,
        "how": "Deleted" if merge.now is None else "Changed",
        "version": find_last_versions([(table, pk)]).get((table, str(pk))),
    }


def _list_edits(merged: MergedEdits) -> list[dict[str, Any]]:
    """The rows of the draft with their editors, for taking them out."""
    return [
        {"name": row_name(table, pk), "table": table, "pk": pk, "edit": edit, "key": (table, edit.row_pk)}
        for table in control_plane()
        for (of_table, pk), edit in merged.edits.items()
        if of_table == table
    ][:SHOWN]


def _list_other_drafts(draft: CeDraft) -> list[dict[str, Any]]:
    """Rows that other open drafts edit too; at most `SHOWN`."""
    return [
        {
            "name": row_name(table, pk),
            "url": row_url(table, pk),
            "drafts": [(draft_url(other.pk), other.title) for other in others],
        }
        for (table, pk), others in list(find_other_drafts(draft).items())[:SHOWN]
    ]


def _find_open(draft_id: int, *, is_locked: bool = False) -> CeDraft:
    """The draft, if asked for locked until the transaction ends. Raises Http404."""
    query = CeDraft.objects.select_for_update() if is_locked else CeDraft.objects
    draft = query.filter(pk=draft_id).first()
    if draft is None or draft.status != DraftStatus.OPEN:
        raise Http404("This draft does not exist, or has ended.")
    return draft
