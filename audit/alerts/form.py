"""The form of an alert rule, and the alert rules of an installation's file."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils import timezone
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from audit.alerts.job import end_alert_of
from audit.models import CeAlertRule
from audit.reports.measures import MEASURES, NOT_UNDERSTOOD_TURNS
from convengine.engine.text.compare import code
from convengine.server.deployment import conf
from convengine.server.executors.notification import may_write_to
from convengine.server.interfaces.installation_section import InstallationSection

_MOST_ADDRESSES = 50


class AddressesField(forms.CharField):
    """Mail addresses, one in each line."""

    widget = UnfoldAdminTextareaWidget(attrs={"rows": 2})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        """The list. Raises ValidationError naming the first address that is wrong, or not allowed."""
        addresses = list(dict.fromkeys(str(super().clean(value)).replace(",", "\n").split()))
        if len(addresses) > _MOST_ADDRESSES:
            raise ValidationError(f"These are {len(addresses)} addresses; at most {_MOST_ADDRESSES} are possible.")
        for address in addresses:
            try:
                validate_email(address)
            except ValidationError:
                raise ValidationError(
                    f"“{address[:200]}” is not a mail address. Enter one such as ann@example.org."
                ) from None
            if not may_write_to(address):
                raise ValidationError(
                    f"The deployment does not allow mail to {address}. Choose a user instead, or ask an operator to "
                    "add the address or its domain to CE_NOTIFICATION_RECIPIENTS."
                )
        return addresses


class AlertRuleForm(forms.ModelForm):  # type: ignore[type-arg]
    measure = forms.ChoiceField(
        initial=NOT_UNDERSTOOD_TURNS.name, widget=UnfoldAdminSelectWidget, help_text="The number that is watched."
    )
    addresses = AddressesField(
        label="More addresses", required=False, help_text="One in each line. The deployment lists which are allowed."
    )
    webhook = forms.ChoiceField(
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="A connection of CE_NOTIFICATION_WEBHOOKS. It gets a signed message.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["bound"] = f"{self.instance.bound:.3f}".rstrip("0").rstrip(".")
        choices = {
            "measure": [
                (key, f"{measure.label} (%)" if measure.is_share else f"{measure.label}{_UNITS.get(measure.unit, '')}")
                for key, measure in MEASURES.items()
            ],
            # The present webhook, too, which the deployment may have dropped.
            "webhook": [
                ("", "None"),
                *(
                    (key, key)
                    for key in dict.fromkeys([*conf.get("NOTIFICATION_WEBHOOKS"), self.instance.webhook])
                    if key
                ),
            ],
        }
        for name, values in choices.items():
            # A form for readers has no fields.
            if name in self.fields:
                field: Any = self.fields[name]
                field.choices = list(values)
        if "users" in self.fields:
            users: Any = self.fields["users"]
            users.widget.can_add_related = users.widget.can_change_related = users.widget.can_view_related = False
            users.queryset = users.queryset.filter(is_active=True, is_staff=True).order_by(
                users.queryset.model.USERNAME_FIELD
            )

    def clean_intent_code(self) -> str:
        return code(self.cleaned_data["intent_code"])

    def clean(self) -> dict[str, Any]:
        """Raises ValidationError for a limit that the number cannot reach."""
        cleaned: dict[str, Any] = super().clean() or {}
        measure, bound = MEASURES.get(cleaned.get("measure", "")), cleaned.get("bound")
        if measure is None or bound is None:
            return cleaned
        if bound < 0:
            self.add_error("bound", "The limit is negative, but the number never is. Enter 0 or more.")
        elif measure.is_share and bound > 100:
            self.add_error("bound", f"“{measure.label}” is a percentage. Enter a limit from 0 to 100.")
        return cleaned


_UNITS = {"ms": " (ms)"}


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
