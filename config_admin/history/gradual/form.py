"""The form that asks who gets a release."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from config_admin.releases.audience import AudienceInvalid, AudienceSpec, Guard
from config_admin.releases.models import CeGradualRelease, GuardMetric


class NameList(forms.CharField):
    widget = forms.Textarea(attrs={"rows": 3})

    def to_python(self, value: Any) -> Any:
        """The names, without blank and repeated ones."""
        return list(dict.fromkeys(name.strip() for name in str(value or "").splitlines() if name.strip()))


class AudienceForm(forms.Form):
    """Who gets a release, and the guard."""

    share = forms.IntegerField(
        label="Share of the participants in percent",
        min_value=0,
        max_value=99,
        required=False,
        help_text="A person stays on one side. 0: only those who are named below.",
    )
    participants = NameList(
        required=False, help_text="Participants who get it in any case, such as your staff; one on each line."
    )
    channels = NameList(required=False, help_text="Channels on which everybody gets it; one on each line.")
    guard_metric = forms.ChoiceField(
        label="Guard",
        required=False,
        choices=[("", "No guard"), *GuardMetric.choices],
        widget=forms.Select(attrs={"class": "ce-select"}),
        help_text="The rate that stops the release by itself.",
    )
    guard_bound = forms.IntegerField(
        label="Worse by more than (percentage points)", min_value=0, max_value=100, required=False, initial=5
    )
    guard_turns = forms.IntegerField(
        label="After this many turns of each side", min_value=1, max_value=1_000_000, required=False, initial=100
    )

    audience: AudienceSpec

    @classmethod
    def of(cls, row: CeGradualRelease) -> "AudienceForm":
        values = {name: getattr(row, name) for name in cls.base_fields}
        return cls(initial={**values, "participants": "\n".join(row.participants), "channels": "\n".join(row.channels)})

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        guard = Guard(
            values.get("guard_metric") or "", _or(values.get("guard_bound"), 5), _or(values.get("guard_turns"), 100)
        )
        self.audience = AudienceSpec(
            values.get("share") or 0, values.get("participants") or [], values.get("channels") or [], guard
        )
        try:
            self.audience.validate()
        except AudienceInvalid as invalid:
            raise ValidationError(str(invalid)) from invalid
        return values


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
