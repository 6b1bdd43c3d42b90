"""Two rules that act in one pass and write one thing: shown by a moment in which the engine lets both of them act."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from config_admin.health.rules import dry
from config_admin.health.rules.claims import NOTHING, Place
from config_admin.health.rules.effects import COMPUTED, contested, effects, stands
from config_admin.health.rules.places import meeting
from config_admin.health.rules.scene import Stage
from config_admin.health.rules.solve import Found, Wanted, moments
from config_admin.health.witness import Witness
from convengine.domain import rows
from convengine.domain.alike import same
from convengine.domain.enums import phase_of
from convengine.domain.scope import specificity
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot

#: Moments of one pair that are played, and rules that are kept out of the way after a first round.
MAX_PLAYED, MAX_ROUNDS = 12, 3


class Collision(NamedTuple):
    """Two rules in the order in which they act, the thing that both write, and a moment in which they do."""

    first: rows.Rule
    second: rows.Rule
    place: Place
    witness: Witness


class Colliding:
    """Looks for collisions in one configuration."""

    def __init__(self, stage: Stage, harmless: Snapshot) -> None:
        self._stage = stage
        self._harmless = harmless

    def collision(self, one: rows.Rule, other: rows.Rule) -> Collision | None:
        """The collision of two rules, with its witness; null when the search finds none."""
        phase = phase_of(one.phase)
        first, second = sorted((one, other), key=order)
        things = contested(first, second)
        if phase is None or phase != phase_of(other.phase) or first.stop_processing or not things:
            return None
        where = meeting(self._stage, phase, first, second)
        written = {each.place: each.value for each in effects(first) if each.value is not COMPUTED}
        wanted = [Wanted(first), Wanted(second, written=written)]
        for _ in range(MAX_ROUNDS if where else 0):
            in_the_way: rows.Rule | None = None
            for found in islice(moments(self._stage, phase, where, wanted), MAX_PLAYED):
                played = dry.play(found.session, phase, self._harmless)
                place = _overwritten(played.steps, first, second, things)
                if place is not None:
                    return Collision(first, second, place, witness(found))
                in_the_way = in_the_way or self._ended_by(played.steps, (first, second))
            if in_the_way is None:
                return None
            wanted.append(Wanted(in_the_way, holds=False))
        return None

    def _ended_by(self, steps: Sequence[dry.Step], pair: tuple[rows.Rule, rows.Rule]) -> rows.Rule | None:
        """The rule that ended the first pass before both could act."""
        last = [step.rule_id for step in steps if step.number == 1][-1:]
        rule = self._stage.snapshot.row(rows.Rule, last[0]) if last else None
        return rule if rule is not None and rule.stop_processing and rule not in pair else None


def order(rule: rows.Rule) -> tuple[int, int, int]:
    """Where a rule stands among those of a pass: by bucket, then priority, then key (pipeline-2 7.2)."""
    return -specificity(rule), rule.priority, rule.rule_id


def _overwritten(
    steps: Sequence[dry.Step], first: rows.Rule, second: rows.Rule, things: Sequence[Place]
) -> Place | None:
    """The thing that the first rule wrote, and the second one wrote otherwise, in the first pass."""
    acted = {step.rule_id: step for step in steps if step.number == 1}
    if first.rule_id not in acted or second.rule_id not in acted:
        return None
    one, other = acted[first.rule_id].after, acted[second.rule_id].after
    return next((place for place in things if _differs(one, other, place)), None)


def _differs(one: Session, other: Session, place: Place) -> bool:
    before, after = stands(one, place), stands(other, place)
    return before is not after and (NOTHING in (before, after) or not same(before, after))


def witness(found: Found) -> Witness:
    """A moment as it is shown: without what every run of the phase has."""
    scene, session = found
    told = {key: value for key, value in scene.params.items() if key != "dialogue_act"}
    shown = {"schemaComplete": session.schema_complete} if scene.schema is not None else {}
    return Witness(
        intent=scene.intent,
        state=scene.state,
        text=scene.text,
        phase=scene.phase.value,
        dialogue_act=str(session.input_params["dialogue_act"]),
        context=scene.context,
        input_params=told,
        facts={**shown, **scene.facts},
        joined=scene.joined,
    )
