"""Pages of runs: start one, follow it, and read why a test fails."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.editing.links import find_readable_url
from config_admin.test_cases.documents import TestRefused, split_tags
from config_admin.test_cases.models import CeTestCase, CeTestResult, CeTestRun
from config_admin.test_cases.runs import SelectedTests, count_tags, list_folders, read_results, start_run, test_runs
from config_admin.validation.labels import row_name
from convengine.engine.errors import ReplayBusy
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.play.expectations import EXPECTATIONS
from convengine.play.schema import shorten_json
from convengine.server.admin_site.configuration_choice import get_current_name, list_choices, read_name_for
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.read_only import ReadOnlyAdmin
from convengine.server.admin_site.record_columns import badge_column, find_row_name
from convengine.server.interfaces.release_history import release_history
from convengine.server.jobs.background_runs import RunStatus

RUN = "config_admin.run_test_case"
RUN_LOOKS = {
    "PENDING": "info",
    "RUNNING": "info",
    "DONE": "success",
    "CANCELLED": "default",
    "FAILED": "danger",
    "LOST": "danger",
}
#: What changed, most suspicious first, in words.
_HOW = {
    "deleted": "was deleted",
    "changed": "was changed",
    "decides now": "decides now, and did not",
    "no longer decides": "does not decide any more",
}
#: What failed besides expectations, in words.
_PLACES = {"unscripted call": "Call without a stub", "test": "Test"}


def run_url(run_id: int) -> str:
    return reverse("admin:config_admin_cetestrun_change", args=[run_id])


def start(request: HttpRequest, configuration: str, selection: SelectedTests, back: str) -> HttpResponse:
    """Start a run and open its page; a refusal is told on the page `back`."""
    try:
        run = start_run(read_name_for(request, configuration), selection, request.user.get_username())
    except (ReplayBusy, ValueError) as refused:
        messages.error(request, str(refused))
        return HttpResponseRedirect(back)
    return HttpResponseRedirect(run_url(run.pk))


@page("run/", of="config_admin.CeTestCase")
def choose_view(request: HttpRequest) -> HttpResponse:
    """Choose a configuration and tests, and start a run."""
    require_right(request, RUN)
    problem = ""
    if request.method == "POST":
        try:
            tags = [*request.POST.getlist("tag"), *split_tags(request.POST.get("tags", ""))]
            selection = SelectedTests(list(dict.fromkeys(tags)), request.POST.get("folder", ""))
            name = read_name_for(request, request.POST.get("configuration", "live"))
            if not selection.query().exists():
                raise TestRefused("No test has these tags in this folder.")
            return HttpResponseRedirect(run_url(start_run(name, selection, request.user.get_username()).pk))
        except (ReplayBusy, ValueError) as refused:
            problem = str(refused)
    context = {
        "title": "Run tests",
        "problem": problem,
        "choices": list_choices(request),
        "chosen": request.POST.get("configuration") or request.GET.get("configuration") or get_current_name(request),
        "tags": count_tags(),
        "chosen_tags": request.POST.getlist("tag") or request.GET.getlist("tag"),
        "folders": list_folders(),
        "total": CeTestCase.objects.count(),
    }
    return TemplateResponse(request, "config_admin/test_choose.html", context)


@admin.register(CeTestRun)
class TestRunAdmin(ReadOnlyAdmin):
    """Runs, newest first."""

    __test__ = False
    change_form_template = None
    list_display = (
        "run_label",
        "configuration_label",
        "describe_selection",
        "status_label",
        "counts",
        "started_by",
        "created_at",
    )
    list_filter = ("status",)
    ordering = ("-run_id",)
    show_full_result_count = False

    @admin.display(description="run", ordering="run_id")
    def run_label(self, run: CeTestRun) -> str:
        return f"Run\N{NO-BREAK SPACE}{run.pk}"

    @admin.display(description="configuration")
    def configuration_label(self, run: CeTestRun) -> str:
        return run.configuration_title

    @admin.display(description="tests")
    def describe_selection(self, run: CeTestRun) -> str:
        return SelectedTests.read(run.selection).describe()

    @badge_column(RUN_LOOKS, "status", "status")
    def status_label(self, run: CeTestRun) -> tuple[str, str]:
        if run.status == RunStatus.DONE and run.failed:
            return "FAILED", "Tests failed"
        return run.status, str(run.get_status_display())

    @admin.display(description="passed")
    def counts(self, run: CeTestRun) -> str:
        return f"{run.passed} of {run.total}"

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Runs of dead processes are lost."""
        if self.has_view_permission(request):
            test_runs.mark_lost()
        return super().changelist_view(request, extra_context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The run: progress, failures first."""
        if request.method == "POST":
            raise PermissionDenied
        require_right(request, "config_admin.view_cetestrun")
        test_runs.mark_lost()
        run = CeTestRun.objects.filter(pk=parse_whole_number(str(object_id)) or 0).first()
        if run is None:
            gone: HttpResponse = self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
            return gone
        shows_all = request.GET.get("show") == "all" or not run.failed
        last = parse_whole_number(request.GET.get("after", "")) or 0
        results, next_after = read_results(run, last, with_passed=shows_all)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Test run {run.pk}",
            "opts": self.opts,
            "original": run,
            "run": run,
            "selection": SelectedTests.read(run.selection).describe(),
            "percent": 100 * run.done // run.total if run.total else 100,
            "seconds": round(run.milliseconds / 1000, 1),
            "results": [
                (result, _describe_failure(result.failures[0]) if result.failures else None) for result in results
            ],
            "next": next_after,
            "shows_all": shows_all,
            "may_run": request.user.has_perm(RUN),
        }
        return TemplateResponse(request, "config_admin/test_run.html", context)

    @page("<int:run_id>/cancel/", methods=["POST"])
    def cancel_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        require_right(request, RUN)
        if test_runs.cancel(run_id):
            messages.success(request, "The run is cancelled. The results so far stay.")
        else:
            messages.info(request, "The run has ended already.")
        return HttpResponseRedirect(run_url(run_id))

    @page("<int:run_id>/again/", methods=["POST"])
    def again_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        """Run the same tests on the same configuration as it is now; `failed` chooses those that failed."""
        require_right(request, RUN)
        run = CeTestRun.objects.filter(pk=run_id).first()
        if run is None:
            raise Http404
        selection = SelectedTests.read(run.selection)
        if "failed" in request.POST:
            failed = run.results.filter(passed=False).values_list("test_case_id", flat=True)
            selection = SelectedTests(cases=sorted(failed)[:5000])
        return start(request, run.configuration, selection, run_url(run_id))

    @page("<int:run_id>/results/<int:result_id>/", name="result")
    def result_view(self, request: HttpRequest, run_id: int, result_id: int) -> HttpResponse:
        """What one test gave: expected and got beside each other, why, and what changed since it passed."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        result = CeTestResult.objects.select_related("run", "test_case").filter(pk=result_id, run_id=run_id).first()
        if result is None:
            raise Http404("This result does not exist. The results of older runs and of erased tests are removed.")
        run, since = result.run, result.since_passed
        context = {
            "title": result.test_case.title,
            "original": run,
            "result": result,
            "run": run,
            "turns": [
                {
                    **turn,
                    "number": number,
                    "answer": _show(turn.get("answer")),
                    "failures": [_describe_failure(each) for each in result.failures if each["turn"] == number],
                }
                for number, turn in enumerate(result.turns, start=1)
            ],
            "general": [_describe_failure(each) for each in result.failures if each["turn"] is None],
            "since": since,
            "changes": [_describe_change(request, each) for each in since["rows"]] if since else [],
            "releases": _list_releases(since, run),
            "is_edited": result.document_hash != result.test_case.document_hash,
            "decided": [
                (row_name(table, pk), find_readable_url(request, table, pk), find_row_name(table, pk))
                for table, pk, _ in result.deciding_rows
            ],
        }
        return TemplateResponse(request, "config_admin/test_result.html", context)


def _describe_failure(failure: dict[str, Any]) -> dict[str, Any]:
    """An expectation that did not hold, for a page."""
    where = failure["where"]
    key = where.removeprefix("expect.")
    name = key.split(".")[0].split("[")[0]
    operator = key.removeprefix(name).lstrip(".")
    text = _show(failure["expected"])
    if name == "response" and operator in ("contains", "matches"):
        text = f"{operator} {text}"
    label = EXPECTATIONS[name].label if name in EXPECTATIONS else _PLACES.get(where, key)
    path = (
        operator[2:-2].removeprefix("$.") if name in ("context", "input_params") and operator.startswith("['") else ""
    )
    return {
        "turn": failure["turn"],
        "label": f"{label} {path}".strip(),
        "where": where,
        "expected": text,
        "got": _show(failure["got"]),
    }


def _show(value: Any) -> str:
    return value if isinstance(value, str) else "nothing" if value is None else shorten_json(value)


def _describe_change(request: HttpRequest, change: dict[str, str]) -> dict[str, str]:
    table, pk = change["table"], change["pk"]
    return {
        "name": row_name(table, pk),
        "about": find_row_name(table, pk),
        "url": "" if change["how"] == "deleted" else find_readable_url(request, table, pk),
        "how": _HOW[change["how"]],
        "look": {"deleted": "removed", "changed": "changed"}.get(change["how"], "warned"),
    }


def _list_releases(since: dict[str, Any] | None, run: CeTestRun) -> list[Any]:
    """The releases between the last pass and this run, newest first."""
    first, last = since["config_version"] if since else None, run.config_version
    return list(release_history().between(first, last)[0]) if first and last and first < last else []
