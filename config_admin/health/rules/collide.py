"""Two rules that act in one pass and set the same thing, shown by a simulated turn."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from config_admin.health.rules import dry
from config_admin.health.rules.claims import NOTHING, Place
from config_admin.health.rules.effects import effects, find_contested, read_value
from config_admin.health.rules.scopes import shared_scopes
from config_admin.health.rules.simulator import TurnSimulator
from config_admin.health.rules.solve import SampleTurn, Wanted, sample_turns
from config_admin.health.witness import Witness
from convengine.engine.rules.actions.contract import COMPUTED
from convengine.engine.text.json_equality import equal_json
from convengine.engine.turn import rows
from convengine.engine.turn.enums import read_phase
from convengine.engine.turn.scope import rank_specificity
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot

#: Maximum turns to simulate per pair, and maximum rules to avoid after a first round.
MAX_PLAYED, MAX_ROUNDS = 12, 3


class Collision(NamedTuple):
    """Two rules in the order of acting, what both set, and a turn in which they do."""

    first: rows.Rule
    second: rows.Rule
    place: Place
    witness: Witness


class Colliding:
    """Searches for collisions in one configuration."""

    def __init__(self, simulator: TurnSimulator, harmless: Snapshot) -> None:
        self._simulator = simulator
        self._harmless = harmless

    def collision(self, one: rows.Rule, other: rows.Rule) -> Collision | None:
        """The collision of two rules with its witness; null when the search finds none."""
        phase = read_phase(one.phase)
        first, second = sorted((one, other), key=order)
        things = find_contested(first, second)
        if phase is None or phase != read_phase(other.phase) or first.stop_processing or not things:
            return None
        where = shared_scopes(self._simulator, phase, first, second)
        written = {each.place: each.value for each in effects(first) if each.value is not COMPUTED}
        wanted = [Wanted(first), Wanted(second, written=written)]
        for _ in range(MAX_ROUNDS if where else 0):
            in_the_way: rows.Rule | None = None
            for found in islice(sample_turns(self._simulator, phase, where, wanted), MAX_PLAYED):
                played = dry.play(found.session, phase, self._harmless)
                place = _find_overwritten(played.steps, first, second, things)
                if place is not None:
                    return Collision(first, second, place, witness(found))
                in_the_way = in_the_way or self._stopping_rule(played.steps, (first, second))
            if in_the_way is None:
                return None
            wanted.append(Wanted(in_the_way, holds=False))
        return None

    def _stopping_rule(self, steps: Sequence[dry.Step], pair: tuple[rows.Rule, rows.Rule]) -> rows.Rule | None:
        """The rule that ended the first pass before both could act."""
        last = [step.rule_id for step in steps if step.number == 1][-1:]
        rule = self._simulator.snapshot.row(rows.Rule, last[0]) if last else None
        return rule if rule is not None and rule.stop_processing and rule not in pair else None


def order(rule: rows.Rule) -> tuple[int, int, int]:
    """The order of a rule in a pass: by bucket, then priority, then key (pipeline-2 7.2)."""
    return -rank_specificity(rule), rule.priority, rule.rule_id


def _find_overwritten(
    steps: Sequence[dry.Step], first: rows.Rule, second: rows.Rule, things: Sequence[Place]
) -> Place | None:
    """What the first rule set and the second one changed in the first pass."""
    acted = {step.rule_id: step for step in steps if step.number == 1}
    if first.rule_id not in acted or second.rule_id not in acted:
        return None
    one, other = acted[first.rule_id].after, acted[second.rule_id].after
    return next((place for place in things if _differs(one, other, place)), None)


def _differs(one: Session, other: Session, place: Place) -> bool:
    before, after = read_value(one, place), read_value(other, place)
    return before is not after and (NOTHING in (before, after) or not equal_json(before, after))


def witness(found: SampleTurn) -> Witness:
    """A turn for display: without what every run of the phase has."""
    turn, session = found
    told = {key: value for key, value in turn.params.items() if key != "dialogue_act"}
    shown = {"schemaComplete": session.schema_complete} if turn.schema is not None else {}
    return Witness(
        intent=turn.intent,
        state=turn.state,
        text=turn.text,
        phase=turn.phase.value,
        dialogue_act=str(session.input_params["dialogue_act"]),
        context=turn.context,
        input_params=told,
        facts={**shown, **turn.facts},
        joined=turn.joined,
    )
