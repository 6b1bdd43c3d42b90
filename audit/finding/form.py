"""The fields of the search, for the page and the API alike: read, or refused by name."""

import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.timezone import get_current_timezone_name, localtime

from audit.finding.search import CONVERSATIONS, TURNS, Search
from audit.finding.words import NotWords, Wanted
from audit.models import CeMcpUserFeedback
from convengine.domain.deciders import DECIDERS
from convengine.domain.enums import TurnStatus
from convengine.domain.stages import Stage
from convengine.domain.text import code, storable

_EVERYWHERE = (Stage.STEP_ENTER, Stage.STEP_EXIT)
_ANY = ("", "Any")
_LONGEST = 200
#: Fields for which names are suggested.
SUGGESTED = ("intent", "state", "error")
TIMES = ("since", "until")


def _time(label: str) -> forms.DateTimeField:
    return forms.DateTimeField(
        label=label,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}),
        error_messages={"invalid": "This is no time: give it as 2026-01-31T12:00."},
    )


class FindForm(forms.Form):
    """What may be asked of turns. Empty fields ask nothing."""

    q = forms.CharField(
        label="Words",
        max_length=_LONGEST,
        help_text='Said by the user or the assistant. All of them; "in this order"; begin*.',
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    participant = forms.CharField(
        label="Participant", max_length=_LONGEST, help_text="Exactly as the channel calls them."
    )
    id = forms.CharField(label="Conversation or turn id", max_length=_LONGEST)
    intent = forms.CharField(label="Intent", max_length=_LONGEST, help_text="After the turn.")
    state = forms.CharField(label="State", max_length=_LONGEST, help_text="After the turn.")
    status = forms.ChoiceField(label="Ended", choices=[_ANY, *TurnStatus.choices()])
    error = forms.CharField(label="Error code", max_length=_LONGEST)
    stage = forms.ChoiceField(
        label="Reached stage",
        choices=[_ANY, *((one.value, one.value) for one in sorted(Stage) if one not in _EVERYWHERE)],
    )
    feedback = forms.ChoiceField(label="Feedback", choices=[_ANY, *CeMcpUserFeedback.Type.choices])
    table = forms.ChoiceField(label="Decided by a", choices=[_ANY, *DECIDERS.items()])
    row = forms.CharField(label="with the number or code", max_length=_LONGEST)
    release = forms.IntegerField(label="Release", min_value=0, max_value=2**63 - 1)
    ms = forms.IntegerField(label="Took at least (ms)", min_value=0, max_value=2**31 - 1)
    cost = forms.DecimalField(label="Models cost at least", min_value=Decimal(0), max_digits=18, decimal_places=9)
    channel = forms.CharField(label="Channel", max_length=_LONGEST)
    since = _time("From")
    until = _time("To")
    show = forms.ChoiceField(
        label="Show", choices=[(TURNS, "Turns"), (CONVERSATIONS, "Conversations, each at its newest turn that fits")]
    )

    data: dict[str, str]

    def __init__(self, given: Mapping[str, Any], **options: Any) -> None:
        super().__init__({name: given.get(name, "") for name in self.base_fields}, **options)
        for name, field in self.fields.items():
            field.required = False
            field.widget.attrs.setdefault("autocomplete", "off")
            if name in SUGGESTED:
                field.widget.attrs["list"] = f"{name}_names"
        for name in self.errors:
            self.fields[name].widget.attrs |= {"aria-invalid": "true", "aria-describedby": f"id_{name}_error"}
        for name in TIMES:
            self.fields[name].help_text = f"As clocks show it in {get_current_timezone_name()}."
            self._show_time(name)

    def _show_time(self, name: str) -> None:
        """As the field of a browser takes it, whatever notation the address has; what is no time, as it was given."""
        if found := self.cleaned_data.get(name):
            self.data[name] = localtime(found).strftime("%Y-%m-%dT%H:%M:%S")
        elif self.has_error(name):
            self.fields[name].widget.input_type = "text"

    @property
    def asked(self) -> Mapping[str, str]:
        """What was given, field by field; blank ones left out, and what is so anyway."""
        given = {name: str(self.data.get(name, "")).strip() for name in self.fields}
        return {name: text for name, text in given.items() if text and (name, text) != ("show", TURNS)}

    def clean_q(self) -> Wanted | None:
        """The words that are looked for."""
        text = storable(self.cleaned_data["q"])
        try:
            return Wanted.read(text) if text.strip() else None
        except NotWords as error:
            raise ValidationError(str(error)) from None

    def clean_id(self) -> uuid.UUID | None:
        """An id."""
        text = self.cleaned_data["id"].strip()
        try:
            return uuid.UUID(text) if text else None
        except ValueError:
            raise ValidationError(f"{text!r} is no id: take a whole one from a page or an answer.") from None

    def clean_intent(self) -> str:
        """As codes are stored."""
        return code(storable(self.cleaned_data["intent"]))

    def clean_state(self) -> str:
        """Likewise."""
        return code(storable(self.cleaned_data["state"]))

    def clean_error(self) -> str:
        """Likewise."""
        return code(storable(self.cleaned_data["error"]))

    def clean(self) -> dict[str, Any]:
        """A row is a table and a key; a range has its beginning first."""
        found = self.cleaned_data
        if found.get("table") and not found.get("row"):
            self.add_error("row", "Say which: the number or the code of the row.")
        if found.get("row") and not found.get("table"):
            self.add_error("table", "Say of which table the row is.")
        since, until = found.get("since"), found.get("until")
        if since and until and since > until:
            self.add_error("until", "This is before the time from which on turns are looked for.")
        return found

    def search(self, workspace: str = "") -> Search:
        """What is asked, once the form is valid."""
        found = self.cleaned_data
        return Search(
            id=found["id"],
            workspace=workspace,
            channel=storable(found["channel"]),
            participant=storable(found["participant"]),
            text=found["q"],
            intent=found["intent"],
            state=found["state"],
            status=found["status"],
            stage=found["stage"],
            table=found["table"],
            row=storable(found["row"]),
            error=found["error"],
            feedback=found["feedback"],
            release=found["release"],
            cost=found["cost"],
            duration=found["ms"],
            since=found["since"],
            until=found["until"],
            kind=found["show"] or TURNS,
        )


#: The fields by what they are about.
GROUPS: Sequence[tuple[str, Sequence[str]]] = (
    ("What was said, by whom, and where it led", ("q", "participant", "intent", "state", "status")),
    ("How it ended", ("error", "stage", "feedback")),
    ("What decided", ("table", "row", "release")),
    ("When and where", ("since", "until", "channel", "id")),
    ("How long and how dear", ("ms", "cost")),
)
