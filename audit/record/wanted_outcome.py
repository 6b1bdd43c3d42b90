"""Turns by what became of the conversation, or of the form, that began in them: as a text, and as a condition."""

from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef

from audit.models import CeOutcome
from audit.record.outcomes import FormOutcome, Outcome

#: The form of a text that means any form.
ANY_FORM = "FORM"


class WantedOutcome(NamedTuple):
    """An outcome that is searched for."""

    outcome: str
    #: None for the conversation; blank for any form.
    form: str | None = None
    #: None for any field.
    field: str | None = None

    @classmethod
    def parse(cls, text: str) -> "WantedOutcome":
        """`RESOLVED`, `FORM/LEFT`, `2/LEFT` or `2/LEFT:phone`. Raises ValueError for another text."""
        form, slash, rest = text.strip().partition("/")
        if not slash:
            return cls(Outcome(form.upper()).value)
        outcome, colon, field = rest.partition(":")
        schema = "" if form == ANY_FORM else str(int(form))
        return cls(FormOutcome(outcome.upper()).value, schema, field if colon else None)

    def __str__(self) -> str:
        form = "" if self.form is None else f"{self.form or ANY_FORM}/"
        return f"{form}{self.outcome}{'' if self.field is None else f':{self.field}'}"

    @property
    def where(self) -> Any:
        """The condition on turns: the conversation or a form began in them, and became this."""
        rows = CeOutcome.objects.filter(
            conversation_id=OuterRef("conversation_id"), turn_no=OuterRef("turn_no"), outcome=self.outcome
        )
        if self.form is None:
            rows = rows.filter(schema_id=CeOutcome.CONVERSATION)
        elif self.form:
            rows = rows.filter(schema_id=int(self.form))
        else:
            rows = rows.exclude(schema_id=CeOutcome.CONVERSATION)
        return Exists(rows if self.field is None else rows.filter(field=self.field))
