"""How far forms come: how many asked for each field, got it, and ended there; and the turns through each state."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Q

from audit.models import CeTurnCount
from audit.record.form_steps import FormStep, Step
from audit.reports.report import Selection, sum_values
from convengine.engine.forms.asking import sort_fields, write_title
from convengine.engine.forms.form import get_form
from convengine.engine.turn.rows import OutputSchema
from convengine.server.admin_site.record_columns import name_intent
from convengine.server.interfaces.configuration import configuration

#: The steps by which a form ends at a field.
ENDS = (FormStep.GAVE_UP, FormStep.LEFT, FormStep.HANDED_OVER)
#: The columns of a field, in order.
FIELD_STEPS = (FormStep.ASKED, FormStep.GIVEN, FormStep.REFUSED, FormStep.MISSED, *ENDS)
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
    def losses(self) -> int:
        """Forms that ended at this field, or have waited for it since."""
        return self.unanswered + sum(self.steps.get(step, 0) for step in ENDS)


@dataclass(frozen=True)
class StateMoves:
    """A state of an intent: the turns that entered it, and those that went on from it."""

    intent: str
    state: str
    entered: int
    exited: int

    @property
    def losses(self) -> int:
        """Conversations that have not gone on from it."""
        return max(self.entered - self.exited, 0)


@dataclass(frozen=True)
class Funnel:
    """A form from its start to its end."""

    schema: int
    intent: str
    #: Of the whole form.
    steps: Mapping[FormStep, int]
    fields: Sequence[FieldSteps]
    states: Sequence[StateMoves] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What the form is called."""
        return name_intent(self.intent) if self.intent else f"Form {self.schema}, which no longer exists"

    @property
    def completion(self) -> float | None:
        """The percentage of the started forms that were completed; null if none started."""
        started, completed = self.steps.get(FormStep.STARTED, 0), self.steps.get(FormStep.COMPLETED, 0)
        return round(100 * min(completed, started) / started, 1) if started else None


def read_funnels(selection: Selection) -> list[Funnel]:
    """The forms of a selection, most started first. Two queries. The intent of the selection is that of the form."""
    whole = Selection(
        selection.since, selection.until, selection.workspace, selection.channel, release=selection.release
    )
    counts: dict[int, dict[str, dict[FormStep, int]]] = defaultdict(lambda: defaultdict(dict))
    steps = sum_values(whole, Q(kind__in=_FORM_KINDS), "kind", "value")
    for (kind, value), turns in steps.items():
        schema, _, path = value.partition(":")
        counts[int(schema)][path][FormStep(kind.removeprefix(CeTurnCount.FORM))] = turns
    moves = _read_moves(whole)
    funnels = [_build_funnel(schema, by_field, moves) for schema, by_field in counts.items()]
    wanted = [funnel for funnel in funnels if selection.intent in ("", funnel.intent)]
    return sorted(wanted, key=lambda funnel: (-funnel.steps.get(FormStep.STARTED, 0), funnel.schema))


def make_step(funnel: Funnel, kind: FormStep, path: str = "") -> Step:
    """The step as searches name it."""
    return Step(funnel.schema, kind, path)


def _build_funnel(
    schema: int, by_field: Mapping[str, Mapping[FormStep, int]], moves: Mapping[str, Sequence[StateMoves]]
) -> Funnel:
    snapshot = configuration().current()
    row = snapshot.row(OutputSchema, schema)
    form = get_form(snapshot, row) if row is not None else None
    titles = {known.path: write_title(known, "") for known in sort_fields(form, form.fields)} if form else {}
    order = [*titles, *sorted(set(by_field) - {"", *titles})]
    fields = [FieldSteps(path, titles.get(path) or path, by_field.get(path, {})) for path in order]
    intent = str(row.intent_code) if row else ""
    used = [steps for steps in fields if steps.steps]
    return Funnel(schema, intent, _sum_whole(by_field), used, moves.get(intent, ()))


def _sum_whole(by_field: Mapping[str, Mapping[FormStep, int]]) -> dict[FormStep, int]:
    """The steps of the whole form, and those that end it wherever it was."""
    whole: dict[FormStep, int] = dict(by_field.get("", {}))
    for end in ENDS:
        whole[end] = sum(steps.get(end, 0) for steps in by_field.values())
    return whole


def _read_moves(selection: Selection) -> dict[str, list[StateMoves]]:
    """The states by intent, most entered first."""
    kinds = (CeTurnCount.ENTERED, CeTurnCount.EXITED)
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for (kind, intent, state), turns in sum_values(
        selection, Q(kind__in=kinds), "kind", "intent_code", "value"
    ).items():
        counts[intent, state][kind] = turns
    moves: dict[str, list[StateMoves]] = defaultdict(list)
    for (intent, state), by_kind in sorted(counts.items(), key=lambda item: -item[1].get(CeTurnCount.ENTERED, 0)):
        if entered := by_kind.get(CeTurnCount.ENTERED, 0):
            moves[intent].append(StateMoves(intent, state, entered, by_kind.get(CeTurnCount.EXITED, 0)))
    return moves
