"""The alert rules of an installation's file."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth import get_user_model
from django.utils import timezone

from audit.alerts.form import AlertRuleForm
from audit.alerts.job import end_alert_of
from audit.models import CeAlertRule
from convengine.server.interfaces.installation_section import InstallationSection


def _list_people() -> Mapping[str, Any]:
    return {user.get_username(): user.pk for user in get_user_model()._default_manager.all()}


def _note_change(rule: CeAlertRule, author: str) -> None:
    rule.changed_by, rule.changed_at = author, timezone.now()
    if rule.pk:
        end_alert_of(rule)


ALERT_RULES = InstallationSection(
    CeAlertRule,
    (
        *("title", "is_enabled", "measure", "direction", "bound", "hours", "fewest", "intent_code", "channel"),
        *("config_version", "workspace_id", "users", "addresses", "webhook", "repeat_hours"),
    ),
    "title",
    AlertRuleForm,
    CeAlertRule.objects.all,
    links={"users": _list_people},
    before_change=_note_change,
)
