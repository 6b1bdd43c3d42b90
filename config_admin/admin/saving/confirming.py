"""The page that asks before something happens: what would change, what forbids it, what to consider, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse

from config_admin.admin.comparison.comparing import ChangedRow
from config_admin.admin.comparison.differences import label_of
from config_admin.admin.links import row_name, row_url
from config_admin.admin.saving import reasons
from config_admin.validation.findings import Finding
from convengine.domain.rows import Row

#: How many rows such a page spells out.
SHOWN = 100


class Refusal(NamedTuple):
    """Why it cannot be done, and the rows that stand in the way, as (address, name)."""

    message: str
    rows: Sequence[tuple[str, str]] = ()


@dataclass
class Question:
    """What the page asks."""

    title: str
    intro: str
    #: What the button says.
    answer: str
    back_url: str
    danger: bool = False
    refusals: Sequence[Refusal] = ()
    warnings: Sequence[str] = ()
    #: Rows with what changes in each.
    rows: Sequence[ChangedRow] = ()
    #: Rows by (address, name), where what changes is the same for all.
    named: Sequence[tuple[str, str]] = ()
    #: How many rows there are beyond those that are spelt out, and where they are.
    more: int = 0
    more_url: str = ""
    #: What the asker should know of what happened since the page was made.
    news: str = ""
    #: Inputs that the answer carries along.
    inputs: Sequence[tuple[str, Any]] = field(default_factory=list)
    #: The reason that is offered.
    reason: str = ""


def ask(request: HttpRequest, question: Question, opts: Any) -> TemplateResponse:
    """The page."""
    context = {
        **admin.site.each_context(request),
        "title": question.title,
        "question": question,
        "reason": question.reason,
        "reason_missing": reasons.told(request),
        "opts": opts,
    }
    return TemplateResponse(request, "config_admin/confirm.html", context)


def refused(model_admin: Any, request: HttpRequest, rows: Iterable[Row]) -> list[Refusal]:
    """What this user may not do to the rows."""
    messages = (model_admin.forbidden(request, row) for row in rows)
    return [Refusal(message) for message in dict.fromkeys(messages) if message]


def refusals_of(findings: Iterable[Finding]) -> list[Refusal]:
    """The errors among findings, each once, naming row, field and code."""
    errors = (finding for finding in findings if finding.is_error)
    return [Refusal(f"{_text(finding)} ({finding.code})") for finding in dict.fromkeys(errors)]


def warnings_of(findings: Iterable[Finding]) -> list[str]:
    """The warnings among findings, each once, naming row and field."""
    return list(dict.fromkeys(_text(finding) for finding in findings if not finding.is_error))


def _text(finding: Finding) -> str:
    where = f", {label_of(finding.table, finding.field)}" if finding.field else ""
    return f"{row_name(finding.table, finding.row)}{where}: {finding.message}"


def named(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Rows as (address, name)."""
    return [(row_url(row.table, row.pk), row_name(row.table, row.pk)) for row in rows]
