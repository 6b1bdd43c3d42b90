"""How far forms come: how many asked for each field, got it, and ended there."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q

from audit.models import CeTurnCount
from audit.record.form_steps import FormProgress, FormStep
from audit.record.outcomes import FORM_LOSSES, FormOutcome, WantedOutcome
from audit.reports.report import FORM_OUTCOMES, ReportSelection, sum_values
from convengine.engine.forms.asking import write_title
from convengine.engine.forms.form import get_form
from convengine.engine.turn.rows import OutputSchema
from convengine.server.admin_site.record_columns import name_intent
from convengine.server.interfaces.configuration import configuration

#: The steps at which the answer asks for a field once more, or whether a value is meant.
ASKED_BACK = (FormStep.OFFERED, FormStep.REFUSED, FormStep.MISSED)
#: What the end of a form is called that has all its fields.
AFTER_THE_FIELDS = "After the last field"
#: The columns of a field, in order.
FIELD_STEPS = (FormStep.ASKED, FormStep.GIVEN, *ASKED_BACK)
_KINDS: Mapping[str, FormStep | FormOutcome] = {
    **{f"{CeTurnCount.FORM}{step}": step for step in FormStep},
    **{kind: outcome for outcome, kind in FORM_OUTCOMES.items()},
}


@dataclass(frozen=True)
class Counts:
    """How many of a form, or of a field: by step of its turns, and by what became of it.

    A step and an outcome of one name are counted apart, although they are equal as texts.
    """

    steps: dict[FormStep, int] = field(default_factory=dict)
    outcomes: dict[FormOutcome, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.steps or self.outcomes)

    def get(self, kind: FormStep | FormOutcome) -> int:
        """The count of a step or of an outcome; 0 for none."""
        return self.outcomes.get(kind, 0) if isinstance(kind, FormOutcome) else self.steps.get(kind, 0)

    def add(self, kind: FormStep | FormOutcome, turns: int) -> None:
        if isinstance(kind, FormOutcome):
            self.outcomes[kind] = turns
        else:
            self.steps[kind] = turns


@dataclass(frozen=True)
class FieldSteps:
    """A field of a form: how many turns brought it to each step, and how many forms ended at it."""

    path: str
    title: str
    counts: Counts

    @property
    def asked_back(self) -> int:
        """How many turns asked once more, or whether a value is meant."""
        return sum(self.counts.get(step) for step in ASKED_BACK)

    @property
    def losses(self) -> int:
        """Forms that ended at this field, or wait for it."""
        return sum(self.counts.get(outcome) for outcome in FORM_LOSSES)


@dataclass(frozen=True)
class Funnel:
    """A form from its start to its end."""

    schema: int
    intent: str
    #: Of the whole form. The outcomes are of the forms that began, wherever they ended.
    counts: Counts
    fields: Sequence[FieldSteps]

    @property
    def title(self) -> str:
        return name_intent(self.intent) if self.intent else f"Form {self.schema}, which no longer exists"

    @property
    def started(self) -> int:
        """How many began: as many as have an outcome."""
        return sum(self.counts.get(outcome) for outcome in FormOutcome)

    @property
    def losses(self) -> int:
        """How many of them were not completed."""
        return self.started - self.counts.get(FormOutcome.COMPLETED)

    @property
    def completion(self) -> float | None:
        """The percentage of the started forms that were completed. Returns None if none started."""
        return round(100 * (self.started - self.losses) / self.started, 1) if self.started else None

    @property
    def asked_back(self) -> int:
        """How many turns asked back about any field."""
        return sum(known.asked_back for known in self.fields)

    @property
    def worst_field(self) -> FieldSteps | None:
        """The field that loses most forms. Returns None if none loses any."""
        return max((known for known in self.fields if known.losses), key=lambda known: known.losses, default=None)

    @property
    def most_asked_back(self) -> FieldSteps | None:
        """The field about which it asked back most. Returns None if it never asked back."""
        return max(
            (known for known in self.fields if known.asked_back), key=lambda known: known.asked_back, default=None
        )


def read_funnels(selection: ReportSelection) -> list[Funnel]:
    """The forms of a selection, most started first. One query. The intent of the selection is that of the form."""
    sums = sum_values(replace(selection, intent=""), Q(kind__in=list(_KINDS)), "kind", "value")
    return [funnel for funnel in build_funnels(sums) if selection.intent in ("", funnel.intent)]


def build_funnels(sums: Mapping[tuple[Any, ...], int]) -> list[Funnel]:
    """The forms of counts by kind and value, most started first. Other kinds are left out."""
    counts: dict[int, dict[str, Counts]] = defaultdict(lambda: defaultdict(Counts))
    for (kind, value), turns in sums.items():
        if kind in _KINDS:
            schema, _, path = value.partition(":")
            counts[int(schema)][path].add(_KINDS[kind], turns)
    funnels = [_build_funnel(schema, by_field) for schema, by_field in counts.items()]
    return sorted(funnels, key=lambda funnel: (-funnel.started, funnel.schema))


def build_filter(funnel: Funnel, kind: FormStep | FormOutcome, path: str | None = None) -> dict[str, str]:
    """The filter of the search that lists the turns of a count; of an outcome those in which its forms began.

    Without a path it is of the whole form.
    """
    if isinstance(kind, FormOutcome):
        return {"outcome": str(WantedOutcome(kind.value, str(funnel.schema), path))}
    return {"step": str(FormProgress(funnel.schema, kind, path or ""))}


def _build_funnel(schema: int, by_field: Mapping[str, Counts]) -> Funnel:
    """The funnel of a form: its fields in order, then other counted ones; the titles are those of the present form."""
    snapshot = configuration().current()
    row = snapshot.row(OutputSchema, schema)
    form = get_form(snapshot, row) if row is not None else None
    titles = {known.path: write_title(known, "") for known in form.fields} if form else {}
    order = [*titles, *sorted(set(by_field) - {"", *titles})]
    fields = [FieldSteps(path, titles.get(path) or path, by_field.get(path, Counts())) for path in order]
    whole = by_field.get("", Counts())
    # Behind the last field, a form waits for a yes or for its task, or ended there.
    losses = {kind: turns for kind, turns in whole.outcomes.items() if kind in FORM_LOSSES}
    fields.append(FieldSteps("", AFTER_THE_FIELDS, Counts(outcomes=losses)))
    # What became of the form, whatever field it ended at.
    outcomes = {outcome: sum(counts.get(outcome) for counts in by_field.values()) for outcome in FormOutcome}
    intent = str(row.intent_code) if row else ""
    return Funnel(schema, intent, Counts(whole.steps, outcomes), [known for known in fields if known.counts])
