"""Simulate phases of rules: the engine's own runner on an artificial session, without anything to call."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Never, cast

from config_admin.health.rules.phases import SOURCES
from convengine.engine.dialogue.classify import classify
from convengine.engine.rules import vocabulary
from convengine.engine.rules.apply import run_phase
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, RuleAction, RulePhase, RuleType
from convengine.engine.turn.ports import Ports
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.turn.trail import Trail
from convengine.engine.turn.turn import Turn, TurnRequest

_RUN = "health"


class _NoTasks:
    """No task is registered: a rule that needs one has an error and does nothing."""

    def names(self) -> tuple[str, ...]:
        return ()

    def methods(self, task: str) -> None:
        return


class _Nobody:
    """The outside world of a simulation: none."""

    tasks = _NoTasks()

    def __getattr__(self, name: str) -> Never:
        raise LookupError(f"A simulated turn has no {name}.")


def turn(snapshot: Snapshot) -> Turn:
    """A turn that only keeps events."""
    ports = cast(Ports, _Nobody())
    return Turn(_RUN, 1, TurnRequest(_RUN), snapshot, ports, Trail(lambda: 0.0))


def harmless(snapshot: Snapshot) -> Snapshot:
    """The snapshot without rules that would run code of the deployment; the same one if there are none.

    A condition in code is never tested. An action in code fails: its rule holds, and may end the list.
    """
    table = snapshot.table(rows.Rule)
    kept = [_harmless(rule) for rule in snapshot.rows(rows.Rule)]
    if all(one is other for one, other in zip(kept, table.rows, strict=True)):
        return snapshot
    tables = {**snapshot.tables, table.name: Table(table.name, kept, table.unreadable)}
    return Snapshot(snapshot.config_version, tables, snapshot.defaults)


def _harmless(rule: rows.Rule) -> rows.Rule:
    action = vocabulary.get_action(rule.action)
    if code(rule.rule_type) not in set(RuleType):
        return replace(rule, enabled=False) if rule.enabled else rule
    return replace(rule, action=RuleAction.SET_TASK, action_value="none") if action and action.custom else rule


def act_of(session: Session, snapshot: Snapshot) -> DialogueAct:
    """The dialogue act of a message by the engine's patterns; phrases that name a field are not known here."""
    return classify(session, turn(snapshot), lambda: False).act


class Step(NamedTuple):
    """A rule that acted: its pass, and the session before and after."""

    rule_id: Any
    number: int
    before: Session
    after: Session


class Played(NamedTuple):
    """The result of a simulated phase."""

    steps: Sequence[Step]
    end: Session
    #: True when intent or state still changed in the last allowed pass.
    capped: bool


def play(session: Session, phase: RulePhase, snapshot: Snapshot) -> Played:
    """Run the phase. `snapshot` is harmless; a rule whose action fails has done nothing."""
    run = turn(snapshot)
    end = run_phase(phase, SOURCES[phase], session, run)
    steps: list[Step] = []
    matched: tuple[Any, int, Session] | None = None
    capped = False
    for event in run.trail.events:
        name = event.stage.split(" (")[0]
        capped = capped or name == "RULE_PASS_CAP_REACHED"
        if name == "RULE_MATCH":
            matched = (event.payload["ruleId"], event.payload["pass"], event.session)
        elif name == "RULE_APPLIED" and matched and matched[0] == event.payload["ruleId"]:
            steps.append(Step(*matched, event.session))
    return Played(steps, end, capped)
