"""How far forms come: how many asked for each field, got it, and ended there."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q

from audit.models import CeTurnCount
from audit.record.form_steps import FormStep, Step
from audit.reports.report import Selection, sum_values
from convengine.engine.forms.asking import write_title
from convengine.engine.forms.form import get_form
from convengine.engine.turn.rows import OutputSchema
from convengine.server.admin_site.record_columns import name_intent
from convengine.server.interfaces.configuration import configuration

#: The steps by which a form ends at a field.
ENDS = (FormStep.GAVE_UP, FormStep.LEFT, FormStep.HANDED_OVER)
#: The steps at which the answer asks for a field once more, or whether a value is meant.
ASKED_BACK = (FormStep.OFFERED, FormStep.REFUSED, FormStep.MISSED)
#: The columns of a field, in order.
FIELD_STEPS = (FormStep.ASKED, FormStep.GIVEN, *ASKED_BACK, *ENDS)
_FORM_KINDS = [f"{CeTurnCount.FORM}{step}" for step in FormStep]


@dataclass(frozen=True)
class FieldSteps:
    """A field of a form, and how many turns brought it to each step."""

    path: str
    title: str
    steps: Mapping[FormStep, int]

    @property
    def unanswered(self) -> int:
        """Asked for, and neither given nor ended since then: the conversation may go on."""
        ended = sum(self.steps.get(step, 0) for step in (FormStep.GIVEN, *ENDS))
        return max(self.steps.get(FormStep.ASKED, 0) - ended, 0)

    @property
    def asked_back(self) -> int:
        """How many turns asked once more, or whether a value is meant."""
        return sum(self.steps.get(step, 0) for step in ASKED_BACK)

    @property
    def losses(self) -> int:
        """Forms that ended at this field, or have waited for it since."""
        return self.unanswered + sum(self.steps.get(step, 0) for step in ENDS)


@dataclass(frozen=True)
class Funnel:
    """A form from its start to its end."""

    schema: int
    intent: str
    #: Of the whole form.
    steps: Mapping[FormStep, int]
    fields: Sequence[FieldSteps]

    @property
    def title(self) -> str:
        """What the form is called."""
        return name_intent(self.intent) if self.intent else f"Form {self.schema}, which no longer exists"

    @property
    def completion(self) -> float | None:
        """The percentage of the started forms that were completed; null if none started."""
        started, completed = self.steps.get(FormStep.STARTED, 0), self.steps.get(FormStep.COMPLETED, 0)
        return round(100 * min(completed, started) / started, 1) if started else None

    @property
    def asked_back(self) -> int:
        """How many turns asked back about any field."""
        return sum(known.asked_back for known in self.fields)

    @property
    def worst_field(self) -> FieldSteps | None:
        """The field that loses most forms; null if none loses any."""
        return max((known for known in self.fields if known.losses), key=lambda known: known.losses, default=None)

    @property
    def most_asked_back(self) -> FieldSteps | None:
        """The field about which it asked back most; null for none."""
        return max(
            (known for known in self.fields if known.asked_back), key=lambda known: known.asked_back, default=None
        )


def read_funnels(selection: Selection) -> list[Funnel]:
    """The forms of a selection, most started first. One query. The intent of the selection is that of the form."""
    counts: dict[int, dict[str, dict[FormStep, int]]] = defaultdict(lambda: defaultdict(dict))
    steps = sum_values(replace(selection, intent=""), Q(kind__in=_FORM_KINDS), "kind", "value")
    for (kind, value), turns in steps.items():
        schema, _, path = value.partition(":")
        counts[int(schema)][path][FormStep(kind.removeprefix(CeTurnCount.FORM))] = turns
    funnels = [_build_funnel(schema, by_field) for schema, by_field in counts.items()]
    wanted = [funnel for funnel in funnels if selection.intent in ("", funnel.intent)]
    return sorted(wanted, key=lambda funnel: (-funnel.steps.get(FormStep.STARTED, 0), funnel.schema))


def make_step(funnel: Funnel, kind: FormStep, path: str = "") -> Step:
    """The step as searches name it."""
    return Step(funnel.schema, kind, path)


def _build_funnel(schema: int, by_field: Mapping[str, Mapping[FormStep, int]]) -> Funnel:
    snapshot = configuration().current()
    row = snapshot.row(OutputSchema, schema)
    form = get_form(snapshot, row) if row is not None else None
    titles = {known.path: write_title(known, "") for known in form.fields} if form else {}
    order = [*titles, *sorted(set(by_field) - {"", *titles})]
    fields = [FieldSteps(path, titles.get(path) or path, by_field.get(path, {})) for path in order]
    intent = str(row.intent_code) if row else ""
    used = [steps for steps in fields if steps.steps]
    return Funnel(schema, intent, _sum_whole(by_field), used)


def _sum_whole(by_field: Mapping[str, Mapping[FormStep, int]]) -> dict[FormStep, int]:
    """The steps of the whole form, and those that end it wherever it was."""
    whole: dict[FormStep, int] = dict(by_field.get("", {}))
    for end in ENDS:
        whole[end] = sum(steps.get(end, 0) for steps in by_field.values())
    return whole
