"""The filters of the search form, for the page and the API: parsed, or refused by name."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.utils.dateparse import parse_datetime
from django.utils.timezone import get_current_timezone_name, localtime

from audit.models import CeMcpUserFeedback
from audit.record.form_steps import FormProgress, FormStep
from audit.record.milestones import Milestone
from audit.record.outcomes import FormOutcome, Outcome, WantedOutcome
from audit.search.query import CONVERSATIONS, TURNS, SearchQuery, TextQuery
from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.stages import STAGES
from convengine.engine.text.compare import code, storable
from convengine.engine.text.times import OUT_OF_RANGE, is_in_calendar
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.rows import DECIDERS

_EVERYWHERE = (STEP_ENTER, STEP_EXIT)
_ANY = ("", "Any")
_LONGEST = 200
#: Filters with suggestions.
SUGGESTED = ("intent", "state", "error", "workspace")
TIMES = ("since", "until")
#: Filters that the search calls otherwise.
_QUERY_NAMES = {"q": "text", "ms": "duration", "show": "kind"}


class SearchedTextField(forms.CharField):
    """A text that every database stores."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=_LONGEST, **options)

    def to_python(self, value: Any) -> Any:
        """The text without characters that no stored text has."""
        return storable(super().to_python(value) or "")


class SearchedCodeField(SearchedTextField):
    """A code of the configuration, as codes are stored."""

    def clean(self, value: Any) -> str:
        """The code in its stored form; it may be given in any case and with blanks around it."""
        return code(super().clean(value))


class ParsedField(SearchedTextField):
    """A text with a notation of its own. Returns None if it is blank."""

    def __init__(self, parse: Callable[[str], Any], error: str = "", **options: Any) -> None:
        super().__init__(**options)
        self._parse, self._error = parse, error

    def clean(self, value: Any) -> Any:
        """The parsed text, None for a blank one.

        Raises ValidationError with the message of the field, else with that of the parser.
        """
        text = super().clean(value)
        try:
            return self._parse(text) if text.strip() else None
        except ValueError as error:
            raise ValidationError(self._error or str(error)) from None


class _TimeInput(forms.DateTimeInput):
    """A browser's field for a time. It stays empty for any other text, which browsers refuse."""

    def format_value(self, value: Any) -> str | None:
        text = super().format_value(value)
        try:
            return text if text and parse_datetime(text) else None
        except ValueError:
            return None


class TimeField(forms.DateTimeField):
    def to_python(self, value: Any) -> Any:
        """The time, None for a blank text. Raises ValidationError for a time that cannot be computed with."""
        try:
            moment = super().to_python(value)
        except OverflowError:
            moment = None
        if moment is None and value not in self.empty_values:
            raise ValidationError(f"This time {OUT_OF_RANGE}")
        if moment and not is_in_calendar(moment):
            raise ValidationError(f"This time {OUT_OF_RANGE}")
        return moment


def _list_stages() -> list[tuple[str, str]]:
    """The stages by label, each with its name, by which the API and the manual call it."""
    stages = (stage for stage in STAGES.values() if stage not in _EVERYWHERE)
    return sorted(((str(stage), f"{stage.label} ({stage})") for stage in stages), key=lambda choice: choice[1])


def _time_field(label: str) -> TimeField:
    """A filter by a time, as a field for times of browsers."""
    return TimeField(
        label=label,
        widget=_TimeInput(attrs={"type": "datetime-local", "step": "1"}),
        error_messages={"invalid": "This is not a valid time. Enter one such as 2026-01-31T12:00."},
    )


class FindForm(forms.Form):
    """The filters of a search; empty ones do not count."""

    q = ParsedField(
        TextQuery.read,
        label="Words",
        help_text=(
            "Words in the message or the answer. All must occur. Use quotes for a phrase and * for word beginnings."
        ),
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    participant = SearchedTextField(label="Participant", help_text="Part of a name, ID or phone number.")
    id = ParsedField(
        UUID, "This is not an ID. Copy a complete ID from a page or an answer.", label="Conversation or turn ID"
    )
    intent = SearchedCodeField(label="Intent", help_text="After the turn.")
    state = SearchedCodeField(label="State", help_text="After the turn.")
    intent_before = SearchedCodeField(label="Intent before", help_text="Before the turn.")
    state_before = SearchedCodeField(label="State before", help_text="Before the turn.")
    status = forms.ChoiceField(label="Outcome", choices=[_ANY, *TurnStatus.choices()])
    error = SearchedCodeField(label="Error code")
    stage = forms.ChoiceField(label="Reached stage", choices=[_ANY, *_list_stages()])
    milestone = forms.ChoiceField(label="What happened", choices=[_ANY, *Milestone.choices()])
    outcome = ParsedField(
        WantedOutcome.parse,
        f"Enter {', '.join(Outcome)}, or a form with {', '.join(FormOutcome)}, such as 2/LEFT or 2/LEFT:phone.",
        label="What became of it",
        help_text="Of the conversation, such as RESOLVED, or of a form, such as 2/LEFT, that began in the turn.",
    )
    step = ParsedField(
        FormProgress.parse,
        f"Enter a number, a step and a field, such as 2/ASKED:phone. The steps are {', '.join(FormStep)}.",
        label="Step of a form",
        help_text="Number of the form, step and field, such as 2/ASKED:phone, from the report of forms.",
    )
    group = forms.IntegerField(label="Group of the inbox", min_value=1, max_value=2**63 - 1)
    feedback = forms.ChoiceField(label="Feedback", choices=[_ANY, *CeMcpUserFeedback.Type.choices])
    table = forms.ChoiceField(label="Kind of row", choices=[_ANY, *DECIDERS.items()])
    row = SearchedTextField(label="Number or code of the row")
    release = forms.IntegerField(label="Release", min_value=0, max_value=2**63 - 1)
    model = SearchedTextField(label="Called model", help_text="Connection and model, such as main/small.")
    ms = forms.IntegerField(label="Duration at least (ms)", min_value=0, max_value=2**31 - 1)
    cost = forms.DecimalField(label="Model cost at least", min_value=Decimal(0), max_digits=18, decimal_places=9)
    channel = SearchedTextField(label="Channel")
    since = _time_field("From")
    until = _time_field("To")
    show = forms.ChoiceField(
        label="Show", choices=[(TURNS, "Turns"), (CONVERSATIONS, "Conversations (newest matching turn)")]
    )

    data: dict[str, str]

    def __init__(self, given: Mapping[str, Any], **options: Any) -> None:
        """`given` are the parameters of an address; those without a field are left out, and no field is required."""
        super().__init__({name: given.get(name, "") for name in self.base_fields}, **options)
        for name, field in self.fields.items():
            field.required = False
            field.widget.attrs.setdefault("autocomplete", "off")
            if name in SUGGESTED:
                field.widget.attrs["list"] = f"{name}_names"
        for name in TIMES:
            # Before the first look at errors: it keeps the help texts as they are.
            self.fields[name].help_text = f"Time zone: {get_current_timezone_name()}."
        for name in self.errors:
            self.fields[name].widget.attrs |= {"aria-invalid": "true", "aria-describedby": f"id_{name}_error"}

    @property
    def filled_filters(self) -> Mapping[str, str]:
        """The filled filters, without blank and default ones."""
        given = {name: str(self.data.get(name, "")).strip() for name in self.fields}
        return {name: text for name, text in given.items() if text and (name, text) != ("show", TURNS)}

    def clean(self) -> dict[str, Any]:
        """A row needs a table and a key; a range must be in order."""
        cleaned = self.cleaned_data
        for name in TIMES:
            # As a browser's field needs it, whatever notation the address has.
            if moment := self.cleaned_data.get(name):
                self.data[name] = localtime(moment).strftime("%Y-%m-%dT%H:%M:%S")
        if cleaned.get("table") and not cleaned.get("row"):
            self.add_error("row", "Enter the number or code of the row.")
        if cleaned.get("row") and not cleaned.get("table"):
            self.add_error("table", "Choose the type of the row.")
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("until", "The end must be after the start.")
        return cleaned

    def search(self, workspace: str = "") -> SearchQuery:
        """The search of a valid form. `workspace` takes the place of the field: callers of the API search their own."""
        values = {_QUERY_NAMES.get(name, name): value for name, value in self.cleaned_data.items()}
        values |= {"workspace": workspace or values.get("workspace", ""), "kind": values["kind"] or TURNS}
        return SearchQuery(**values)


class FindPageForm(FindForm):
    """The filters of the page, whose readers see all workspaces, if the deployment has several."""

    workspace = SearchedTextField(label="Workspace")

    def __init__(self, given: Mapping[str, Any], workspaces: Sequence[str], **options: Any) -> None:
        self.workspaces = workspaces if len(workspaces) > 1 else ()
        super().__init__(given, **options)
        if not self.workspaces and not given.get("workspace"):
            del self.fields["workspace"]

    @property
    def groups(self) -> list[tuple[str, list[str]]]:
        return [(title, [name for name in names if name in self.fields]) for title, names in GROUPS]


#: The filters in groups.
GROUPS: Sequence[tuple[str, Sequence[str]]] = (
    ("Time, words, participant and intent", ("since", "until", "q", "participant", "intent")),
    ("State", ("state", "intent_before", "state_before")),
    ("Outcome", ("status", "error", "stage", "milestone", "outcome", "step", "group", "feedback")),
    ("Used rows", ("table", "row", "release")),
    ("Channel and conversation", ("workspace", "channel", "id")),
    ("Duration, cost and models", ("ms", "cost", "model")),
)
