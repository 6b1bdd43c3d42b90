"""Admin of releases: their changes, what differs between two, and undo."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from unfold.contrib.filters.admin import ChoicesDropdownFilter

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
from config_admin.editing.context import get_editor_context
from config_admin.editing.fields import FormOption, PickerInput
from config_admin.editing.links import draft_url, find_readable_url, health_url, release_url, row_url
from config_admin.editing.request_change_set import describe_new_release, record_request
from config_admin.editing.row_diff import build_comparison
from config_admin.health.check import check_touched
from config_admin.health.diagnosis import RowKey
from config_admin.health.impact import Impact
from config_admin.health.stored_findings import CeHealthAcknowledgement, list_new_findings
from config_admin.releases.audience import find_gradual_release
from config_admin.releases.diff import RowDifferences, changes_of, compare_wanted, differences, rows_after
from config_admin.releases.head import newest
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.queries import NoSuchRelease, release_of
from config_admin.releases.restore_rows import check_restored_rows
from config_admin.releases.undo import differences_by_roll_back, revert_release, roll_back, wanted_by_revert
from config_admin.validation.labels import row_name
from config_admin.validation.stored_columns import control_plane
from convengine.engine.text.compare import shorten_line
from convengine.server.admin_site.missing_rights import RightMissing, require_right
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.read_only import ReadOnlyAdmin
from convengine.server.admin_site.record_columns import badge_column, effect_url, excerpt_column, turns_url, what_if_url
from convengine.server.admin_site.rights import ROLL_BACK

T = TypeVar("T")
ORIGIN_LOOKS = dict.fromkeys(Origin.values, "default") | {
    Origin.ROLLBACK.value: "warning",
    Origin.REVERT.value: "warning",
    Origin.OUT_OF_BAND.value: "danger",
}
#: Releases that everybody may undo who may change their rows. The others are for configuration administrators.
UNDONE_BY_EDITORS = frozenset({Origin.ADMIN, Origin.REVERT, Origin.DRAFT})
#: How many findings are shown, and how many changed rows are checked at once.
MAX_FINDINGS, MAX_CHECKED = 20, 50
#: How many of the newest releases are offered to compare; any number may be typed.
MAX_OFFERED = 100
_CHANGED_AGAIN = (
    "Later releases changed these rows again, so this release cannot be undone. Restore single rows instead:"
)


class Pair(NamedTuple):
    """The two releases, the earlier one first; None is the empty configuration before the first release."""

    before: CeRelease | None
    after: CeRelease | None


class PairForm(forms.Form):
    """Choose two releases."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        newest_first = CeRelease.objects.order_by("-pk").defer("manifest")
        offered = [
            FormOption(str(release.pk), f"{shorten_line(release.reason, 60)} · {release.made_by}")
            for release in newest_first[:MAX_OFFERED]
        ]
        for name, label in (("before", "From release"), ("after", "To release")):
            picker = PickerInput(offered, {"class": "ce-number", "inputmode": "numeric"})
            self.fields[name] = forms.IntegerField(label=label, min_value=0, widget=picker)

    def clean_before(self) -> CeRelease | None:
        return self._release("before")

    def clean_after(self) -> CeRelease | None:
        return self._release("after")

    def _release(self, name: str) -> CeRelease | None:
        number = self.cleaned_data[name]
        try:
            return release_of(number) if number else None
        except NoSuchRelease as error:
            raise ValidationError(f"{error} The newest is {newest()}.", "NO_SUCH_RELEASE") from error


@admin.register(CeRelease)
class ReleaseAdmin(ReadOnlyAdmin):
    """Releases, newest first."""

    change_form_template = "config_admin/release.html"
    list_display = ("version", "origin_label", "author", "why", "created_at")
    list_filter = (("origin", ChoicesDropdownFilter),)
    ordering = ("-config_version",)
    fields = ("config_version", "origin", "author", "reason", "created_at")
    why = excerpt_column("reason", "reason", 90)

    @page("compare/", entry=SidebarEntry("Releases", "Compare releases", "The differences between two releases.", 3))
    def compare_view(self, request: HttpRequest) -> HttpResponse:
        """The two pickers and the differences; without numbers, the changes of the newest release."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        last = newest()
        form = PairForm({"before": max(last - 1, 0), "after": last, **request.GET.dict()})
        context: dict[str, Any] = {"title": "Compare releases", "form": form}
        if form.is_valid():
            pair = Pair(form.cleaned_data["before"], form.cleaned_data["after"])
            before, after = (release.pk if release else 0 for release in pair)
            context |= {
                "pair": pair,
                "comparison": build_comparison(request, differences(before, after)),
                "other_way_url": compare_url(after, before),
                "may_go_back": self.has_roll_back_permission(request),
                "in_force": last,
                "gradual": find_gradual_release(),
            }
        return TemplateResponse(request, "config_admin/compare.html", context)

    @admin.display(description="release")
    def version(self, release: CeRelease) -> str:
        return f"Release {release.config_version}"

    @badge_column(ORIGIN_LOOKS, "origin")
    def origin_label(self, release: CeRelease) -> tuple[str, str]:
        return release.origin, str(release.get_origin_display())

    def has_roll_back_permission(self, request: HttpRequest) -> bool:
        """Configuration administrators may."""
        return bool(request.user.has_perm(ROLL_BACK))

    def has_undo_permission(self, request: HttpRequest) -> bool:
        """True for users who may change rows. The undo then checks the right to each row."""
        model_admins = map(self.admin_site.get_model_admin, control_plane().values())
        return any(model_admin.has_change_permission(request) for model_admin in model_admins)

    def find_undo_refusal(self, request: HttpRequest, release: CeRelease) -> str:
        """Why this user may not undo such a release, or blank."""
        if release.origin in UNDONE_BY_EDITORS or self.has_roll_back_permission(request):
            return ""
        origin = str(release.get_origin_display()).lower()
        return f"Only configuration administrators can undo this release (origin: {origin}). Ask one."

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        release = self.get_object(request, object_id)
        by_table = changes_of(release) if release else {}
        in_force = newest()
        may_read = request.user.has_perm("config_admin.view_cerule")
        context = {
            "comparison": build_comparison(request, by_table),
            "in_force": in_force,
            "gradual": find_gradual_release(),
            "is_newest": release is not None and release.pk == in_force,
            "to_newest_url": compare_url(release.pk, in_force) if release else "",
            "turns_url": turns_url(request.user, release=release.pk) if release else "",
            "effect_url": effect_url(request.user, release.pk) if release else "",
            "what_if_url": what_if_url(request.user, f"release:{release.pk}") if release else "",
            "may_go_back": self.has_roll_back_permission(request),
            "findings": list_release_findings(request, release.pk, by_table) if release and may_read else [],
            "health_url": health_url(),
            "may_undo": self.has_undo_permission(request),
            "undo_refusal": self.find_undo_refusal(request, release) if release else "",
            **(_describe_draft(release) if release else {}),
        }
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    # --- undo ---------------------------------------------------------------------------------------------------

    @page("<int:config_version>/roll-back/")
    def roll_back_view(self, request: HttpRequest, config_version: int) -> HttpResponse:
        """Ask whether to restore all rows as they were in a release, or do it."""
        reasons.require_reason(request, consent=())
        with record_request(request, Origin.ROLLBACK):
            require_right(request, ROLL_BACK)
            _find_release(config_version)
            in_force = newest()
            question = ConfirmationQuestion(
                title=f"Roll back to release {config_version}",
                intro=f"Make every row what it was in release {config_version}? Conversations use it from their next "
                "message on. Nothing is lost: this makes a new release, and every release between stays.",
                answer=f"Roll back to release {config_version}",
                back_url=release_url(config_version),
                danger=True,
                reason=f"Roll back to release {config_version}",
                more_url=compare_url(in_force, config_version),
            )
            by_table = differences_by_roll_back(config_version)
            return self._ask(request, question, by_table, lambda: roll_back(config_version))

    @page("<int:config_version>/take-back/")
    def take_back_view(self, request: HttpRequest, config_version: int) -> HttpResponse:
        """Ask whether to undo only the changes of one release, or do it."""
        reasons.require_reason(request, consent=())
        with record_request(request, Origin.REVERT):
            if not self.has_undo_permission(request):
                raise RightMissing("config_admin.change_cerule")
            release = _find_release(config_version)
            wanted, conflicts = wanted_by_revert(config_version)
            by_table, reserved = compare_wanted(wanted), self.find_undo_refusal(request, release)
            in_the_way = [(row_url(table, pk, "history"), row_name(table, pk)) for table, pk in conflicts[:SHOWN]]
            question = ConfirmationQuestion(
                title=f"Undo release {config_version}",
                intro=f"Undo the changes of release {config_version} and keep all later changes?",
                answer="Undo",
                back_url=release_url(config_version),
                danger=True,
                reason=f"Undo release {config_version}",
                refusals=[
                    *([Refusal(reserved)] if reserved else list_missing_rights(request, by_table)),
                    *([Refusal(_CHANGED_AGAIN, in_the_way)] if in_the_way else []),
                ],
            )
            return self._ask(request, question, by_table, lambda: revert_release(config_version))

    def _ask(
        self, request: HttpRequest, question: ConfirmationQuestion, by_table: RowDifferences, go_back: Any
    ) -> HttpResponse:
        self._fill(request, question, by_table)
        if not question.store_if_agreed(request, go_back):
            return ask(request, question, self.opts)
        self.message_user(request, describe_new_release(), messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:config_admin_cerelease_changelist"))

    def _fill(self, request: HttpRequest, question: ConfirmationQuestion, by_table: RowDifferences) -> None:
        question.show_rows(by_table)
        findings = check_restored_rows(rows_after(by_table))
        question.refusals = _first([*question.refusals, *refusals_of(findings)], Refusal)
        question.warnings = _first(warnings_of(findings), str)
        if not by_table and not question.refusals:
            question.refusals = [Refusal("There are no differences, so there is nothing to roll back.")]
        in_force = newest()
        question.require_seen(request, "in_force", in_force, f"Release {in_force} was created meanwhile.")


def compare_url(before: int, after: int) -> str:
    return f"{reverse('admin:config_admin_cerelease_compare')}?{urlencode({'before': before, 'after': after})}"


def _find_release(config_version: int) -> CeRelease:
    """Raises Http404."""
    try:
        return release_of(config_version)
    except NoSuchRelease as error:
        raise Http404(str(error)) from error


def _first(entries: Sequence[T], worded: Callable[[str], T]) -> list[T]:
    beyond = len(entries) - SHOWN
    return [*entries[:SHOWN], *([worded(f"… and {beyond} more.")] if beyond > 0 else [])]


def _describe_draft(release: CeRelease) -> dict[str, Any]:
    """The draft that the release published, and who approved it."""
    # Drafts are made above this package.
    drafts: Any = apps.get_model("config_admin", "CeDraft")
    draft = drafts.objects.filter(config_version=release.pk).first()
    if draft is None:
        return {}
    published = draft.reviews.filter(kind="PUBLISHED").first()
    approvals = draft.reviews.filter(kind="APPROVED", edits_hash=published.edits_hash) if published else ()
    approvers = dict.fromkeys(entry.author_name for entry in approvals if entry.author_name not in draft.editors)
    return {"draft": draft, "draft_url": draft_url(draft.pk), "approvers": ", ".join(approvers)}


class ReleaseFinding(NamedTuple):
    """A finding that exists since the release: its impact, its text, and its row."""

    impact: Impact
    message: str
    consequence: str
    url: str


def list_release_findings(request: HttpRequest, config_version: int, by_table: RowDifferences) -> list[ReleaseFinding]:
    """The open findings about the rows of the release in force, or those that a full check dated to the release."""
    snapshot, world = get_editor_context(request)
    changed = [RowKey(table, row.pk) for table, rows in by_table.items() for row in rows if row.after is not None]
    if snapshot.config_version != config_version or len(changed) > MAX_CHECKED:
        return [
            ReleaseFinding(Impact(each.impact), each.message, "", _find_url(request, each.table_name, each.row_pk))
            for each in list_new_findings(config_version, MAX_FINDINGS)
        ]
    marks = {finding.fingerprint(snapshot): finding for finding in check_touched(snapshot, world, changed).findings}
    accepted = set(CeHealthAcknowledgement.objects.filter(pk__in=marks).values_list("pk", flat=True))
    open_findings = [finding for mark, finding in marks.items() if mark not in accepted]
    return [
        ReleaseFinding(each.impact, each.message, each.consequence, _find_url(request, each.table, each.row))
        for each in open_findings[:MAX_FINDINGS]
    ]


def _find_url(request: HttpRequest, table: str, pk: Any) -> str:
    return find_readable_url(request, table, pk) if pk else ""
