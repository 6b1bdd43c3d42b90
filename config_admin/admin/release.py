"""Admin of releases: what each changed, and the ways back (R5, R57)."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.admin import reasons
from config_admin.admin.confirming import SHOWN, Question, Refusal, ask, changed_rows, refusals_of, warnings_of
from config_admin.admin.links import release_url
from config_admin.admin.recording import recorded, told
from config_admin.models import CeRelease
from config_admin.releases import head
from config_admin.releases.diff import differences
from config_admin.releases.models import Origin
from config_admin.releases.put_back import RestoreRefused, RowsBelongTogether
from config_admin.releases.queries import NoSuchRelease, release_of
from config_admin.releases.revert import RevertConflict, revert_release
from config_admin.releases.roll_back import roll_back
from config_admin.validation.restoring import would_restore
from convengine.read_only import ReadOnlyAdmin
from convengine.record_columns import beginning, labelled

Differences = dict[str, list[Any]]
ORIGIN_LOOKS = dict.fromkeys(Origin.values, "default") | {
    Origin.ROLLBACK.value: "warning",
    Origin.REVERT.value: "warning",
    Origin.OUT_OF_BAND.value: "danger",
}


def newest() -> int:
    """The version in force."""
    text = head.read()
    return head.Head.parse(text).config_version if text else 0


@admin.register(CeRelease)
class ReleaseAdmin(ReadOnlyAdmin):
    """Every version of the configuration, the newest first."""

    change_form_template = "config_admin/release.html"
    list_display = ("version", "origin_label", "author", "why", "created_at")
    list_filter = (("origin", ChoicesDropdownFilter),)
    ordering = ("-config_version",)
    fields = ("config_version", "origin", "author", "reason", "created_at")
    why = beginning("reason", "reason", 90)

    def get_urls(self) -> list[Any]:
        """Beside the usual pages, the two ways back."""
        own = [
            path(
                f"<int:config_version>/{word}/", self.admin_site.admin_view(view), name=f"config_admin_cerelease_{name}"
            )
            for word, name, view in (
                ("roll-back", "roll_back", self.roll_back_view),
                ("take-back", "take_back", self.take_back_view),
            )
        ]
        return [*own, *super().get_urls()]

    @admin.display(description="release")
    def version(self, release: CeRelease) -> str:
        """Its number."""
        return f"Release {release.config_version}"

    @labelled(ORIGIN_LOOKS, "origin")
    def origin_label(self, release: CeRelease) -> tuple[str, str]:
        """By which way the change came."""
        return release.origin, str(release.get_origin_display())

    def has_roll_back_permission(self, request: HttpRequest) -> bool:
        """Configuration administrators go back (R18)."""
        return bool(request.user.has_perm("config_admin.roll_back_release"))

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """The release with what it changed."""
        release = self.get_object(request, object_id)
        found = differences(release.parent_id or 0, release.pk) if release else {}
        shown, more = _shown(found)
        context = {
            "tables": shown,
            "more": more,
            "is_newest": release is not None and release.pk == newest(),
            "may_go_back": self.has_roll_back_permission(request),
        }
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    # --- ways back ----------------------------------------------------------------------------------------------

    def roll_back_view(self, request: HttpRequest, config_version: int) -> HttpResponse:
        """Ask whether to make everything what it was in a release, or do it."""
        reasons.need(request, consent=())
        with recorded(request, Origin.ROLLBACK):
            self._check(request, config_version)
            question = Question(
                title=f"Roll back to release {config_version}",
                intro=f"Make every row what it was in release {config_version}? Conversations use it from their next "
                "message on. Nothing is lost: this makes a new release, and every release between stays.",
                answer=f"Roll back to release {config_version}",
                back_url=release_url(config_version),
                danger=True,
                reason=f"Back to release {config_version}",
            )
            found = differences(newest(), config_version)
            return self._asked(request, question, found, lambda: roll_back(config_version))

    def take_back_view(self, request: HttpRequest, config_version: int) -> HttpResponse:
        """Ask whether to undo what one release changed and nothing else, or do it."""
        reasons.need(request, consent=())
        with recorded(request, Origin.REVERT):
            release = self._check(request, config_version)
            question = Question(
                title=f"Take back release {config_version}",
                intro=f"Undo what release {config_version} changed, and keep everything that came after it?",
                answer="Take back",
                back_url=release_url(config_version),
                danger=True,
                reason=f"Without the change of release {config_version}",
            )
            found = differences(config_version, release.parent_id or 0)
            return self._asked(request, question, found, lambda: revert_release(config_version))

    def _check(self, request: HttpRequest, config_version: int) -> CeRelease:
        if not self.has_roll_back_permission(request):
            raise PermissionDenied
        try:
            return release_of(config_version)
        except NoSuchRelease as error:
            raise Http404(str(error)) from error

    def _asked(self, request: HttpRequest, question: Question, found: Differences, go_back: Any) -> HttpResponse:
        tables, question.more = _shown(found)
        question.rows = [row for rows in tables.values() for row in rows]
        findings = would_restore({table: {row.pk: row.after for row in rows} for table, rows in found.items()})
        question.refusals, question.warnings = refusals_of(findings), warnings_of(findings)
        if not found:
            question.refusals = [Refusal("Nothing is different, so there is nothing to go back to.")]
        if request.method != "POST" or question.refusals or not reasons.given(request):
            return ask(request, question, self.opts)
        try:
            go_back()
        except RestoreRefused as error:
            question.refusals = refusals_of(error.findings)
            return ask(request, question, self.opts)
        except (RevertConflict, RowsBelongTogether) as error:
            question.refusals = [Refusal(str(error))]
            return ask(request, question, self.opts)
        self.message_user(request, told(), messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:config_admin_cerelease_changelist"))


def _shown(found: Differences) -> tuple[dict[str, list[Any]], int]:
    """What differs, as far as one page can tell it, and how many rows there are beyond."""
    shown: dict[str, list[Any]] = {}
    left = SHOWN
    for table, rows in found.items():
        if left > 0:
            shown[table] = changed_rows(table, rows[:left])
            left -= len(shown[table])
    return shown, sum(map(len, found.values())) - (SHOWN - left)
