"""The confirmation page: what would change, what prevents it, warnings, and the reason."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.contrib import admin, messages
from django.http import HttpRequest
from django.template.response import TemplateResponse

from config_admin.editing import reasons
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import row_url
from config_admin.editing.request_change_set import describe_new_release, record_request
from config_admin.editing.row_diff import ChangedRow, count_by_table, first_rows
from config_admin.releases.diff import RowDifferences, compare_wanted
from config_admin.releases.head import newest
from config_admin.releases.restore_rows import (
    RestoreRefused,
    RowsBelongTogether,
    Wanted,
    compile_rows,
    find_new_problems,
)
from config_admin.releases.undo import RevertConflict
from config_admin.validation.draft import Finding
from config_admin.validation.labels import column_label, row_name, row_title
from config_admin.validation.stored_columns import control_plane
from convengine.engine.turn.rows import Intent, Row
from convengine.server.admin_site.rights import describe_groups_with

#: How many rows such a page shows in detail.
SHOWN = 100
#: How many refusals and warnings a page shows about rows that it would store.
MOST_REASONS = 30
_ACTIONS = {"added": "add", "changed": "change", "removed": "delete"}


class Refusal(NamedTuple):
    """Why it is impossible, and the rows that prevent it, as (address, name)."""

    message: str
    rows: Sequence[tuple[str, str]] = ()


@dataclass
class ConfirmationQuestion:
    """The content of the page."""

    title: str
    intro: str
    #: The label of the button.
    answer: str
    back_url: str
    danger: bool = False
    refusals: Sequence[Refusal] = ()
    warnings: Sequence[str] = ()
    #: Rows with their changes.
    rows: Sequence[ChangedRow] = ()
    #: Rows as (address, name), if the change is the same for all.
    row_links: Sequence[tuple[str, str]] = ()
    #: How many more rows there are, and where.
    more: int = 0
    more_url: str = ""
    #: News since the page was made.
    news: str = ""
    #: Hidden inputs of the form.
    inputs: Sequence[tuple[str, Any]] = field(default_factory=list)
    #: The suggested reason.
    reason: str = ""
    #: False if there is nothing to give a reason for.
    asks_reason: bool = True
    #: The number of rows by table, as (table, number with its words).
    counts: Sequence[tuple[str, str]] = ()
    #: By table in words, rows that get another key: they are stored as other rows, but are the same for people.
    renamed: Mapping[str, str] = field(default_factory=dict)
    #: Why nothing is stored if no row would change.
    unchanged: str = ""
    #: What else to know, with rows as (address, name).
    notes: Sequence[Refusal] = ()
    #: What else to choose: a template with the inputs of `form`.
    choice: str = ""
    form: Any = None
    #: What the user may do although it is refused to others, and the reason that they gave.
    override: Sequence[Refusal] = ()
    override_reason: str = ""

    def show_rows(self, by_table: RowDifferences) -> None:
        """Add the rows that would change: counted by table, the first ones in detail."""
        self.counts = [(title, self.renamed.get(title, text)) for title, text in count_by_table(by_table)]
        self.rows = first_rows(by_table, SHOWN)
        self.more = sum(map(len, by_table.values())) - len(self.rows)

    def require_seen(self, request: HttpRequest, name: str, state: Any, news: str) -> None:
        """Nobody agrees to what they did not see: if the state was another one when the page was made, say so."""
        self.inputs = [*self.inputs, (name, state)]
        if request.POST.get(name, str(state)) != str(state):
            self.news = f"{news} Review the changes again."

    def is_agreed(self, request: HttpRequest) -> bool:
        """True if the user has seen all of this, may do it, and gave a reason."""
        is_sent = request.method == "POST" and not self.refusals and not self.news
        return is_sent and bool(reasons.read_reason(request))

    def store_if_agreed(self, request: HttpRequest, store: Callable[[], object]) -> bool:
        """Make the change if the user agrees to it. False if the page is to be shown, with what refuses the change."""
        if not self.is_agreed(request):
            return False
        with self.collect_refusals():
            store()
        return not self.refusals

    @contextmanager
    def collect_refusals(self, *refused: type[Exception]) -> Iterator[None]:
        """Around the change itself: what refuses it becomes a part of the page."""
        expected: tuple[type[Exception], ...] = (RowsBelongTogether, RevertConflict, *refused)
        try:
            yield
        except RestoreRefused as error:
            self.refusals = refusals_of(error.findings)
        except expected as error:
            self.refusals = [Refusal(str(error))]


def ask(request: HttpRequest, question: ConfirmationQuestion, opts: Any) -> TemplateResponse:
    context = {
        **admin.site.each_context(request),
        "title": question.title,
        "question": question,
        "reason": question.reason,
        "form": question.form,
        "reason_missing": reasons.describe_missing_reason(request),
        "opts": opts,
    }
    return TemplateResponse(request, "config_admin/confirm.html", context)


def confirm_rows(
    request: HttpRequest, question: ConfirmationQuestion, wanted: Wanted, store: Callable[[], object], opts: Any
) -> TemplateResponse | None:
    """Show rows that would change; once that is confirmed with a reason, store them as one release.

    Returns None when they are stored.
    """
    reasons.require_reason(request, consent=())
    with record_request(request):
        by_table, editor = compare_wanted(wanted), get_editor_context(request)
        question.show_rows(by_table)
        question.rows = [row._replace(url="") if row.how == "added" else row for row in question.rows]
        findings = find_new_problems(editor.snapshot, editor.world, wanted)
        if question.refusals:
            # The page names the rows that use the intent already.
            findings = [finding for finding in findings if (finding.table, finding.code) != (Intent.table, "IN_USE")]
        refusals = [*question.refusals, *list_missing_rights(request, by_table), *refusals_of(findings)]
        question.refusals = refusals[:MOST_REASONS] if by_table else [Refusal(question.unchanged)]
        question.warnings = [*question.warnings, *warnings_of(findings)][:MOST_REASONS]
        in_force = newest()
        question.require_seen(request, "in_force", in_force, f"Release {in_force} was created meanwhile.")
        if not question.store_if_agreed(request, store):
            return ask(request, question, opts)
        messages.success(request, describe_new_release())
    return None


def list_refusals(model_admin: Any, request: HttpRequest, rows: Iterable[Row]) -> list[Refusal]:
    texts = (model_admin.find_refusal(request, row) for row in rows)
    return [Refusal(text) for text in dict.fromkeys(texts) if text]


def list_missing_rights(request: HttpRequest, by_table: RowDifferences) -> list[Refusal]:
    """Why this user may not make these changes: rights that are missing, and rows that are reserved."""
    return [Refusal(text) for text in dict.fromkeys(text for _, _, text in find_forbidden_rows(request, by_table))]


def find_forbidden_rows(request: HttpRequest, by_table: RowDifferences) -> Iterator[tuple[str, Any, str]]:
    """The rows that this user may not change in this way, as (table, key, why)."""
    # The pages of the rows decide. Commands and jobs have not loaded them.
    admin.autodiscover()
    for table, rows in by_table.items():
        model_admin: Any = admin.site.get_model_admin(control_plane()[table])
        opts, missing = model_admin.opts, {}
        for how in dict.fromkeys(row.how for row in rows):
            if not getattr(model_admin, f"has_{(action := _ACTIONS[how])}_permission")(request):
                who = describe_groups_with(f"{opts.app_label}.{action}_{opts.model_name}")
                missing[how] = f"You may not {action} {opts.verbose_name_plural}: only {who}. Ask one."
        yield from ((table, row.pk, missing[row.how]) for row in rows if row.how in missing)
        contents = {(row.pk, at): content for row in rows for at, content in enumerate(row[1:]) if content is not None}
        for row in compile_rows(table, contents).rows:
            if text := model_admin.find_refusal(request, row):
                yield table, row.pk, text


def refusals_of(findings: Iterable[Finding]) -> list[Refusal]:
    """The errors, without duplicates, with row, field and code."""
    errors = (finding for finding in findings if finding.is_error)
    return [Refusal(f"{_describe_finding(finding)} ({finding.code})") for finding in dict.fromkeys(errors)]


def warnings_of(findings: Iterable[Finding]) -> list[str]:
    """The warnings, without duplicates, with row and field."""
    return list(dict.fromkeys(_describe_finding(finding) for finding in findings if not finding.is_error))


def _describe_finding(finding: Finding) -> str:
    where = f", {column_label(finding.table, finding.field)}" if finding.field else ""
    return f"{row_name(finding.table, finding.row)}{where}: {finding.message}"


def link_rows(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Rows as (address, name)."""
    return [(row_url(row.table, row.pk), row_title(row)) for row in rows]
