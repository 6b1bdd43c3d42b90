"""The Health page: the findings, their consequences, the accepted ones; and those of a saved row, on the next page."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import find_readable_url, health_url, release_url
from config_admin.health.background import runs
from config_admin.health.check import check_touched
from config_admin.health.diagnosis import Diagnosis, RowKey, Witness
from config_admin.health.stored_findings import CeHealthAcknowledgement, read_ages, store_run
from config_admin.releases.active import snapshots
from config_admin.releases.working_copy import write_outside
from config_admin.validation.codes import HEALTH_CODES
from config_admin.validation.installation import describe_installation
from config_admin.validation.labels import row_name, row_title
from config_admin.validation.stored_columns import control_plane
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import read_phase
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.database.sql import database_time
from convengine.server.phrase_models.models import describe_refused
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.dead_turns import ENDED_CODES

#: How many findings a page shows, and rows of one.
SHOWN, MAX_ROWS = 100, 20
_ENDED_TURNS_SHOWN = timedelta(days=1)
#: How long Health reports that somebody changed a stored classifier.
_TOLD = timedelta(days=7)
#: Parts of codes that are abbreviations, in words.
_CODE_WORDS = {
    "VAR": "variable",
    "PARAM": "parameter",
    "ARGS": "arguments",
    "DB": "database",
    "LLM": "language model",
    "JSONPATH": "JSON path",
    "JSON": "JSON",
    "SQL": "SQL",
    "HTTP": "HTTP",
    "ASCII": "ASCII",
}


#: Types of findings whose codes are no plain words.
_CODE_LABELS = {
    "ACTION_NO_DESCRIPTION": "Action without a description",
    "ACTION_SCOPE_ANY": "Action for every intent",
    "CLASSIFIER_COLLISION": "Phrases of two intents match",
    "CLASSIFIER_OVERLAP": "Phrases of two intents match",
    "CONFIRM_STATE_NO_SCHEMA": "Confirmation without a form",
    "CONFIRM_WITHOUT_ACTION_OR_RULE": "Confirmation without an effect",
    "DERIVED_NO_HINT": "Answer of a model without instructions",
    "DERIVED_NO_PROMPT": "Answer of a model without a prompt",
    "DERIVED_WITHOUT_MODEL": "No model for an answer",
    "DESCRIPTION_BLANK": "Description missing",
    "FORM_WITHOUT_EXIT": "Form without a way out",
    "GENERAL_RULE_UNDOES": "General rule undoes a specific rule",
    "INTENT_DISABLED": "Intent is switched off",
    "INTENT_OFF": "Rule leads to an intent that is switched off",
    "LANGUAGE_UNLISTED": "Translations into a language that is not listed",
    "LOCALE_UNLISTED": "Language and region of a language that is not listed",
    "LLM_NOT_CONFIGURED": "No model for a policy",
    "NO_RESPONSE_FOR_INTENT": "Intent without an answer",
    "PATTERN_EMPTY_TEXT": "Pattern matches the empty text",
    "PHRASES_TAKEN": "Phrase takes phrases of another intent",
    "PHRASE_OF_OTHER_INTENT": "Phrase of another intent",
    "PROMPT_WITHOUT_RESPONSE": "Prompt without an answer",
    "RESPONSE_NEVER_USED": "Answer that is never used",
    "ROW_INACTIVE_INTENT": "Row of an intent that is switched off",
    "ROW_UNUSABLE": "Row cannot be used",
    "RULE_COLLISION": "Rules contradict each other",
    "RULE_LOOP": "Rules run in a circle",
    "RULE_NEVER_FIRES": "Rule that never applies",
    "RULE_OUTSIDE_GRAPH": "Rule against the state graph",
    "SCHEMA_NO_PROMPT": "Form without a prompt for the model",
    "SCHEMA_NO_REQUIRED": "Form without required fields",
    "START_RULE_SKIPPED": "Start rule that phrases pass by",
    "STATE_GRAPH_MISSING_EDGE": "Move missing in the state graph",
    "STATE_WITHOUT_RESPONSE": "State without an answer",
    "ANSWER_WITH_GAPS": "Answer with gaps",
    "TEMPLATE_OLDER_FORM": "Template in an older form",
    "TEMPLATE_SOURCE_LEFT": "Source of another template language",
    "TEMPLATE_VAR_UNKNOWN": "Unknown name in a template",
    "TOOL_NEVER_USED": "Tool that is never used",
    "TOOL_SCOPE_ANY": "Tool for every intent",
    "TRANSLATION_NAMES": "Translation with other names",
    "TRANSLATION_UNUSED": "Translation of a text that is gone",
    "VALUE_UNCHECKED": "Value written after its check",
}


@page(
    "health/",
    of="config_admin.CeRule",
    entry=SidebarEntry("Try & test", "Health", "Problems and hints of the whole configuration."),
)
def health(request: HttpRequest) -> HttpResponse:
    """The findings of the configuration in force, or the progress of the check. A POST accepts one, or undoes that."""
    rules = admin.site.get_model_admin(control_plane()["ce_rule"])
    may_accept = rules.has_change_permission(request)
    if not (may_accept if request.method == "POST" else rules.has_view_or_change_permission(request)):
        raise PermissionDenied
    if request.method == "POST":
        _save_acknowledgement(request)
        return HttpResponseRedirect(health_url())
    snapshot, world = get_editor_context(request)
    run = runs.of(snapshot, world)
    # Read once, because the check goes on while the page is made.
    done = run.health
    store_run(run)
    # The newest turns of a day that did not end by themselves or in time: they show what stops the server.
    since = database_time() - _ENDED_TURNS_SHOWN
    ended = CeConversationHistory.objects.filter(error_code__in=ENDED_CODES, created_at__gte=since)
    may_see_turns = request.user.has_perm("audit.view_ceaudit")
    context = {
        "title": "Health",
        "run": run,
        "done": done,
        "config_version": snapshot.config_version,
        "percent": 100 * run.done // run.parts,
        "has_intents": bool(snapshot.rows(rows.Intent)),
        "changed_rows": describe_refused(database_time() - _TOLD),
        **_describe_findings(request, snapshot, done.findings if done else ()),
        "ended_turns": list(ended.order_by("-history_id")[:MAX_ROWS]) if may_see_turns else (),
        "may_accept": may_accept,
    }
    return TemplateResponse(request, "config_admin/health.html", context)


def _describe_findings(request: HttpRequest, snapshot: Snapshot, findings: Iterable[Diagnosis]) -> dict[str, Any]:
    """The open findings that the request selects, and the accepted ones; at most `SHOWN` of each."""
    accepted = {row.pk: row for row in CeHealthAcknowledgement.objects.order_by("-made_at")[:5000]}
    describe = partial(_build_finding, request, snapshot, read_ages())
    marked = [(finding, finding.fingerprint(snapshot)) for finding in findings]
    still_open = [(finding, mark) for finding, mark in marked if mark not in accepted]
    code, impact = request.GET.get("code", ""), request.GET.get("impact", "")
    chosen = [each for each in still_open if code in ("", each[0].code) and impact in ("", each[0].impact)]
    codes = Counter(sorted(finding.code for finding, _ in still_open))
    impacts = Counter(finding.impact for finding, _ in still_open)
    return {
        "codes": [(each, get_code_label(each), count) for each, count in codes.most_common()],
        "code": code,
        "impacts": [(each, impacts[each]) for each in sorted(impacts, key=lambda each: each.rank)],
        "impact": impact,
        "findings": [describe(finding, mark) for finding, mark in chosen[:SHOWN]],
        "more": max(0, len(chosen) - SHOWN),
        "accepted": [(describe(finding, mark), accepted[mark]) for finding, mark in marked if mark in accepted][:SHOWN],
    }


def _save_acknowledgement(request: HttpRequest) -> None:
    """Accept a finding with a reason, or undo that."""
    mark, reason = request.POST.get("fingerprint", "")[:32], request.POST.get("reason", "").strip()
    if "again" in request.POST:
        write_outside(CeHealthAcknowledgement.objects.filter(pk=mark).delete)
        messages.success(request, "The finding is shown again.")
    elif not reason or not mark:
        messages.error(request, "Not accepted. Enter a reason.")
    else:
        values = {"code": request.POST.get("code", ""), "reason": reason, "made_by": request.user.get_username()}
        write_outside(lambda: CeHealthAcknowledgement.objects.update_or_create(pk=mark, defaults=values))
        messages.success(request, "Accepted. The finding is shown again if one of its rows changes.")


def get_code_label(code: str) -> str:
    """The type of a finding in words: `State without an answer`."""
    if label := _CODE_LABELS.get(code):
        return label
    label = " ".join(_CODE_WORDS.get(word, word.lower()) for word in code.split("_"))
    return label[:1].upper() + label[1:]


def _build_finding(
    request: HttpRequest, snapshot: Snapshot, ages: Mapping[str, int], finding: Diagnosis, mark: str
) -> dict[str, Any]:
    """A finding as the page shows it. `ages`: the release of each finding, by its key; `mark`: its fingerprint."""
    since = ages.get(finding.key)
    shown = [(key, snapshot.tables[key.table].by_pk.get(key.pk)) for key in finding.rows[:MAX_ROWS]]
    return {
        "impact": finding.impact,
        "since": since,
        "since_url": release_url(since) if since and request.user.has_perm("config_admin.view_cerelease") else "",
        "is_new": since == snapshot.config_version and any(age != since for age in ages.values()),
        "code": finding.code,
        "label": get_code_label(finding.code),
        "message": finding.message,
        "consequence": finding.consequence,
        "fingerprint": mark,
        "rows": [(find_readable_url(request, *key), row_title(row) if row else row_name(*key)) for key, row in shown],
        "more_rows": max(0, len(finding.rows) - MAX_ROWS),
        "witness": _describe_witness(finding.witness) if finding.witness else [],
    }


def _describe_witness(witness: Witness) -> list[tuple[str, str]]:
    phase = read_phase(witness.phase) if witness.phase else None
    values = {**witness.context, **witness.input_params, **witness.facts}
    lines = [
        ("Message", f"“{witness.text}”" if witness.text is not None else ""),
        ("Intent", witness.intent or ""),
        ("State", witness.state or ""),
        ("Phase", phase.label if phase else ""),
        ("Dialogue act", witness.dialogue_act or ""),
        ("Data", ", ".join(f"{name} = {dumps(value)}" for name, value in values.items())),
    ]
    return [(name, text) for name, text in lines if text]


#: How many findings are shown at once.
TOLD = 3
#: How many findings are looked up among the accepted ones.
_MARKED = 1000
#: Findings that the page of the release shows, because the missing row usually comes next.
_OF_RELEASE = frozenset({"STATE_WITHOUT_RESPONSE"})
_SHOWN = HEALTH_CODES.keys() - _OF_RELEASE


def tell_health(request: HttpRequest, saved: Any) -> None:
    """Warn about what the saved row does together with others, without findings that the form has shown."""
    if news := news_of([RowKey(saved._meta.db_table, saved.pk)]):
        lines = format_html_join("", "<li>{}</li>", ((line,) for line in news[:TOLD]))
        text = 'Findings, also listed in <a class="ce-link" href="{}">Health</a>:<ul>{}</ul>'
        messages.warning(request, format_html(text, health_url(), lines))


def news_of(saved: Sequence[RowKey]) -> list[str]:
    """The health findings of saved rows in sentences, without accepted ones."""
    snapshot = snapshots.current()
    findings = check_touched(snapshot, describe_installation(), saved).findings
    marks = {finding.fingerprint(snapshot): finding for finding in findings if finding.code in _SHOWN}
    accepted = (
        set(CeHealthAcknowledgement.objects.filter(pk__in=list(marks)[:_MARKED]).values_list("pk", flat=True))
        if marks
        else set()
    )
    return [_describe(finding) for mark, finding in marks.items() if mark not in accepted]


def _describe(finding: Diagnosis) -> str:
    text = finding.witness.text if finding.witness else None
    example = f" For example: “{shorten_line(text, 80)}”." if text and text not in finding.message else ""
    return f"{finding.message} {finding.consequence}{example}".strip()
