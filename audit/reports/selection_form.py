"""The form of the reports: which turns they are about."""

from datetime import date, datetime, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.timezone import localdate

from audit.record.days import choose_days
from audit.reports.report import Selection, choose_dates
from convengine.engine.text.compare import code
from convengine.engine.text.times import FIRST_YEAR, OUT_OF_RANGE

DAYS = ((1, "Today"), (7, "7 days"), (30, "30 days"), (90, "90 days"))
_LONGEST = 200
_LONGEST_PERIOD = timedelta(days=3660)
_DATE = forms.DateInput(attrs={"type": "date"})


class ReportForm(forms.Form):
    """What the report is about; empty fields match everything."""

    days = forms.TypedChoiceField(label="Period", choices=DAYS, coerce=int, required=False)
    first = forms.DateField(
        label="From", required=False, widget=_DATE, help_text="The first day, in place of the period."
    )
    last = forms.DateField(label="To", required=False, widget=_DATE, help_text="The last day; by default today.")
    intent = forms.CharField(label="Intent", max_length=_LONGEST, required=False, help_text="After the turn.")
    channel = forms.CharField(label="Channel", max_length=_LONGEST, required=False)
    release = forms.IntegerField(label="Release", min_value=0, max_value=2**63 - 1, required=False)

    def clean_first(self) -> date | None:
        """The first day. Raises ValidationError for one that cannot be computed with in every time zone."""
        first: date | None = self.cleaned_data["first"]
        if first and first.year < FIRST_YEAR:
            raise ValidationError(f"This day {OUT_OF_RANGE}")
        return first

    def clean(self) -> dict[str, Any]:
        """A range must be in order, have begun, and not be longer than ten years."""
        first, last = self.cleaned_data.get("first"), self.cleaned_data.get("last")
        if first and first > localdate():
            self.add_error("first", "The first day must not be after today.")
        if last and not self.data.get("first"):
            self.add_error("first", "Enter the first day, too.")
        if first and last and last < first:
            self.add_error("last", "The last day must not be before the first one.")
        if first and (last or localdate()) - first > _LONGEST_PERIOD:
            self.add_error("first", "Choose at most ten years.")
        return self.cleaned_data

    def select(self, now: datetime, workspace: str = "") -> Selection:
        """The selection. A field that is not valid limits nothing; without a valid period, the last seven days.

        `workspace` takes the place of the field.
        """
        cleaned = self.cleaned_data
        since, until = choose_days(cleaned.get("days") or 7, now)
        if first := cleaned.get("first"):
            since, until = choose_dates(first, cleaned.get("last") or localdate(), now)
        return Selection(
            since,
            until,
            workspace or cleaned.get("workspace") or "",
            channel=cleaned.get("channel") or "",
            intent=code(cleaned.get("intent")),
            release=cleaned.get("release"),
        )


class ReportPageForm(ReportForm):
    """The form of the pages, whose readers see all workspaces; callers of the API see their own."""

    workspace = forms.CharField(label="Workspace", max_length=_LONGEST, required=False)

    def __init__(self, given: dict[str, Any], workspaces: list[str]) -> None:
        super().__init__(given)
        self.workspaces = workspaces
        self.fields["workspace"].widget.attrs |= {"list": "workspace_names", "autocomplete": "off"}
        if len(workspaces) < 2 and not given.get("workspace"):
            del self.fields["workspace"]

    @property
    def has_more_filters(self) -> bool:
        """True if any filter besides the period is given; the page shows them then."""
        return any(self.data.get(name) for name in self.fields if name != "days")
