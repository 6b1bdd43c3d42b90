"""Phases of rules run for nobody: the engine's own runner on a made-up session, with nothing behind it to call."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Never, cast

from config_admin.health.rules.phases import SOURCES
from convengine.dialogue.classify import classify
from convengine.domain import rows
from convengine.domain.enums import DialogueAct, RuleAction, RulePhase, RuleType
from convengine.domain.ports import Ports
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot, Table
from convengine.domain.text import code
from convengine.domain.trail import Trail
from convengine.domain.turn import Turn, TurnRequest
from convengine.rules import vocabulary
from convengine.rules.apply import run_phase

_RUN = "health"


class _NoTasks:
    """No task is registered: a rule that wants one has an error in its trail, and does nothing."""

    def names(self) -> tuple[str, ...]:
        """None."""
        return ()

    def methods(self, task: str) -> None:
        """None."""
        return


class _Nobody:
    """The outside world of a dry run: there is none."""

    tasks = _NoTasks()

    def __getattr__(self, name: str) -> Never:
        raise LookupError(f"A dry run has no {name}.")


def turn(snapshot: Snapshot) -> Turn:
    """A turn that only keeps a trail."""
    ports = cast(Ports, _Nobody())
    return Turn(_RUN, 1, TurnRequest(_RUN), snapshot, ports, Trail(lambda: 0.0))


def harmless(snapshot: Snapshot) -> Snapshot:
    """The snapshot with no rule that would run code of the deployment; the same one where there is none.

    A condition in code is never tested. An action in code is one that fails: its rule holds, and may end the list.
    """
    table = snapshot.table(rows.Rule)
    kept = [_harmless(rule) for rule in snapshot.rows(rows.Rule)]
    if all(one is other for one, other in zip(kept, table.rows, strict=True)):
        return snapshot
    tables = {**snapshot.tables, table.name: Table(table.name, kept, table.unreadable)}
    return Snapshot(snapshot.config_version, tables, snapshot.defaults)


def _harmless(rule: rows.Rule) -> rows.Rule:
    action = vocabulary.action(rule.action)
    if code(rule.rule_type) not in set(RuleType):
        return replace(rule, enabled=False) if rule.enabled else rule
    return replace(rule, action=RuleAction.SET_TASK, action_value="none") if action and action.custom else rule


def act_of(session: Session, snapshot: Snapshot) -> DialogueAct:
    """What the engine's patterns take the message for; a phrase that names a field of the form is not known here."""
    return classify(session, turn(snapshot), lambda: False).act


class Step(NamedTuple):
    """A rule that acted: in which pass, and the session before and after."""

    rule_id: Any
    number: int
    before: Session
    after: Session


class Played(NamedTuple):
    """What a run of a phase did."""

    steps: Sequence[Step]
    end: Session
    #: True when the passes were not enough: intent or state still changed in the last one.
    capped: bool


def play(session: Session, phase: RulePhase, snapshot: Snapshot) -> Played:
    """Run the phase. `snapshot` is harmless; a rule whose action fails has acted on nothing."""
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
