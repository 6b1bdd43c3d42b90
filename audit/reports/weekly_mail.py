"""Mail the weekly page to the people whom the deployment names; off by default."""

from collections.abc import Iterator
from smtplib import SMTPException

import structlog
from django.core.mail import EmailMessage
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime

from audit.reports.week import summarise_week
from audit.reports.weekly import render_weekly_page
from convengine.engine.turn.job import Counts, Job, Weekly
from convengine.engine.turn.labels import format_percent
from convengine.server.app_interfaces import WeekSummary
from convengine.server.deployment import conf

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


def send_weekly_page() -> Iterator[Counts]:
    """Send the page of the last seven days, one mail for each person.

    Raises the last error if nobody got it, so that the job is tried again. Otherwise nobody gets it twice.
    """
    recipients = conf.get("WEEKLY_PAGE_RECIPIENTS")
    if not recipients:
        return
    now = timezone.now()
    title = f"The week to {date_format(localtime(now), 'j F Y')}"
    text, page = _write_text(summarise_week(now)), render_weekly_page(now, is_file=True)
    sent, last_error = 0, None
    for recipient in recipients:
        # One for each, so that nobody reads the addresses of the others.
        mail = EmailMessage(title, text, conf.get("NOTIFICATION_FROM") or None, [recipient])
        mail.attach("week.html", page, "text/html")
        try:
            mail.send()
        except (SMTPException, OSError) as error:
            last_error = error
            log.warning("weekly page not sent", recipient=recipient, error=str(error))
            yield {"failed": 1}
        else:
            sent += 1
            yield {"sent": 1}
    if last_error and not sent:
        raise last_error


def _write_text(summary: WeekSummary) -> str:
    """The figures as plain text. Messages of users are in the attached page only."""
    lines = [f"Turns: {summary.turns}, {summary.previous_turns} in the week before."]
    for rate in summary.rates:
        before = "" if rate.previous_share is None else f", {format_percent(rate.previous_share)} in the week before"
        worse = " It got worse." if rate.is_worse else ""
        lines.append(f"{rate.label.capitalize()}: {format_percent(rate.share)}{before}.{worse}")
    lines.append("The attached page has the whole week on one sheet.")
    return "\n".join(lines)


JOB = Job(
    "send_weekly_page",
    "Send the weekly page",
    "Sends the page of the last seven days to the addresses that the deployment names. Without any, it does nothing.",
    Weekly(0, 6),
    send_weekly_page,
)
