"""The sections of a draft's page: what else a reviewer looks at, beside the changes."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from config_admin.drafts.edits import MergedEdits
from config_admin.drafts.models import CeDraft
from config_admin.drafts.named_configurations import read_configuration
from config_admin.drafts.open_draft import read_draft
from config_admin.editing.links import row_url
from config_admin.health.background import runs
from config_admin.health.diagnosis import Diagnosis
from config_admin.releases.active import snapshots
from config_admin.test_cases.gate import GateState, describe_problems, judge_gate
from config_admin.test_cases.models import CeTestCase, CeTestRun
from config_admin.validation.installation import describe_installation
from config_admin.validation.labels import row_name
from config_admin.validation.stored_columns import control_plane
from convengine.server.interfaces.configuration import ConfigurationName

#: How many findings are shown, and how long a page waits for the check, in seconds.
SHOWN, _WAITED = 20, 3.0
#: How many test runs are shown.
SHOWN_RUNS = 3


class PageSection(NamedTuple):
    """A part of the page: the template gets what `build` returns as `section`; None hides it."""

    template: str
    build: Callable[[HttpRequest, CeDraft, MergedEdits], Any]


def build_health(request: HttpRequest, draft: CeDraft, merged: MergedEdits) -> dict[str, Any] | None:
    """The findings that the draft adds, and those that it mends, at most `SHOWN` of each.

    Only `is_running` if the checks are not ready: False when one failed. Returns None if there is nothing to check, or
    the user may not see rules.
    """
    if not merged.wanted or not request.user.has_perm("config_admin.view_cerule"):
        return None
    world = describe_installation()
    after_draft = read_configuration(ConfigurationName("draft", draft.pk))
    checks = [runs.of(snapshot, world) for snapshot in (snapshots.current(), after_draft)]
    for run in checks:
        run.ended.wait(_WAITED)
    live, after = (run.health for run in checks)
    if live is None or after is None:
        return {"is_running": not any(run.failed for run in checks)}
    known, wanted = ({finding.key for finding in health.findings} for health in (live, after))
    added = [_describe(request, finding) for finding in after.findings if finding.key not in known]
    mended = [_describe(request, finding) for finding in live.findings if finding.key not in wanted]
    counts = {"before": len(live.findings), "after": len(after.findings)}
    hidden = len(added[SHOWN:]) + len(mended[SHOWN:])
    return {"added": added[:SHOWN], "mended": mended[:SHOWN], "hidden": hidden, **counts}


def _describe(request: HttpRequest, finding: Diagnosis) -> dict[str, Any]:
    """A finding as the page shows it; without a link if the user may not see the row."""
    has_row = finding.row is not None
    may = has_row and admin.site.get_model_admin(control_plane()[finding.table]).has_view_or_change_permission(request)
    return {
        "impact": finding.impact,
        "message": finding.message,
        "consequence": finding.consequence,
        "name": row_name(finding.table, finding.row) if has_row else "",
        "url": row_url(finding.table, finding.row) if may else "",
    }


def build_tests(request: HttpRequest, draft: CeDraft, merged: MergedEdits) -> dict[str, Any] | None:
    """The last `SHOWN_RUNS` runs of tests on the draft, and how the gate stands on its present state.

    Returns None if the user may not see tests.
    """
    if not request.user.has_perm("config_admin.view_cetestcase"):
        return None
    snapshot_hash = read_draft(draft)[0].content_hash
    gate = judge_gate(snapshot_hash)
    name = str(ConfigurationName("draft", draft.pk))
    newest_runs = CeTestRun.objects.filter(configuration=name).order_by("-run_id")[:SHOWN_RUNS]
    return {
        "name": name,
        "total": CeTestCase.objects.count(),
        "gate": gate,
        "problems": list(describe_problems(gate)),
        "runs": [(run, run.content_hash == snapshot_hash) for run in newest_runs],
        "may_run": request.user.has_perm("config_admin.run_test_case"),
    }


def link_gate_tests(request: HttpRequest, draft: CeDraft, gate: GateState) -> list[tuple[str, str]]:
    """Where this user reads why tests of the gate fail on a draft, and runs them again, as (address, text)."""
    user: Any = request.user
    name = str(ConfigurationName("draft", draft.pk))
    links = []
    run = gate.failed and CeTestRun.objects.filter(configuration=name, failed__gt=0).order_by("-run_id").first()
    if run and user.has_perm("config_admin.view_cetestrun"):
        links.append((reverse("admin:config_admin_cetestrun_change", args=[run.pk]), "See the failing tests"))
    if user.has_perm("config_admin.run_test_case"):
        query = urlencode({"configuration": name, "tag": gate.tags}, doseq=True)
        links.append((f"{reverse('admin:config_admin_cetestcase_run')}?{query}", "Run the tests"))
    return links


#: In the order of the page. Packages that know more append their own.
SECTIONS: list[PageSection] = [
    PageSection("config_admin/draft_health.html", build_health),
    PageSection("config_admin/draft_tests.html", build_tests),
]


def build_sections(request: HttpRequest, draft: CeDraft, merged: MergedEdits) -> list[tuple[str, Any]]:
    """The templates of the sections that have something to show, each with its content."""
    built = [(section.template, section.build(request, draft, merged)) for section in SECTIONS]
    return [(template, content) for template, content in built if content is not None]
