"""Silence of a rule: until a time, nobody gets a message about its alerts."""

from datetime import datetime

from audit.models import CeAlert, CeAlertRule
from convengine.engine.text.compare import storable
from convengine.server.database.sql import database_time

LONGEST_REASON = 2_000


class SilenceRefused(ValueError):
    """The message says why."""


def find_rule(alert: CeAlert) -> CeAlertRule:
    """The rule to silence. Raises SilenceRefused for an alert that has ended."""
    if alert.status != CeAlert.Status.FIRING or alert.rule is None:
        raise SilenceRefused("The alert has ended, so there is nothing to silence.")
    return alert.rule


def silence_rule(rule: CeAlertRule, until: datetime, reason: str, by: str) -> None:
    """Send nothing about its alerts until then. Raises SilenceRefused."""
    if until <= database_time():
        raise SilenceRefused("Choose a time in the future.")
    rule.silenced_until, rule.silenced_by, rule.silence_reason = until, by, storable(reason)[:LONGEST_REASON]
    # The job that makes messages holds the row: it waits, or has ended before.
    rule.save(update_fields=["silenced_until", "silenced_by", "silence_reason"])


def end_silence(rule: CeAlertRule) -> None:
    rule.silenced_until = None
    rule.save(update_fields=["silenced_until"])
