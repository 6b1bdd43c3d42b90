"""Playing a scenario: its world, its turns over the public API, and what they miss (scenario format 1)."""

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.test import override_settings

from convengine import conf, wiring
from convengine.codec import plain
from convengine.scenarios import database, expectations, world
from convengine.scenarios.happened import Happened
from convengine.scenarios.loading import load
from convengine.scenarios.purposes import scenario_purpose
from convengine.scenarios.scenario import Scenario, Turn
from convengine.scenarios.speaking import Integrator
from convengine.scenarios.stubs import Stage, stage
from convengine.scenarios.watching import Watch, watching
from convengine.scenarios.wording import ScenarioFileError
from convengine.sessions.models import CeConversation, CeConversationHistory

Json = Any
#: What scenarios may require (R25).
CAPABILITIES = frozenset({"force_beats_collection"})
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
#: What a deployment adds in code stays in force; everything else is as built in.
_KEPT = ("STEPS", "HOOKS", "EXTENSIONS", "SNAPSHOT", "AUDIT_WRITER", "REPLAY", "TRACE_GRAPHS")


@dataclass(frozen=True)
class Failure:
    """One thing that is not as the file says."""

    #: Counted from 1; null for the file as a whole.
    turn: int | None
    where: str
    expected: Json
    got: Json


@dataclass
class Report:
    """How a scenario went."""

    id: str
    file: Path
    outcome: str = PASSED
    title: str = ""
    #: Why it was skipped.
    reason: str = ""
    failures: list[Failure] = field(default_factory=list)


def run(file: Path, *, replay: bool = False) -> Report:
    """Play the scenario of a file in a disposable database. `replay` runs each turn again and wants it equal."""
    try:
        scenario = load(file)
    except ScenarioFileError as error:
        return Report(file.stem, file, FAILED, failures=[Failure(None, "file", "a scenario", str(error))])
    report = Report(scenario.id, file, title=scenario.title)
    if missing := sorted(set(scenario.requires) - CAPABILITIES):
        report.outcome, report.reason = SKIPPED, f"requires {', '.join(missing)}"
        return report
    report.failures += play(scenario, replay=replay)
    report.outcome = FAILED if report.failures else PASSED
    return report


def play(scenario: Scenario, *, replay: bool = False) -> Iterator[Failure]:
    """Everything in which the product differs from what a scenario says."""
    stubs = stage(scenario)
    with _worlds_own_settings(scenario), wiring.using(stubs.outside), watching() as watch:
        database.empty()
        try:
            ids = world.build(scenario)
        except ScenarioFileError as error:
            yield Failure(None, "tables", "rows that can be stored", str(error))
            return
        theatre = _Theatre(Integrator(), ids, stubs, watch)
        for number, turn in enumerate(scenario.turns, start=1):
            yield from theatre.play(number, turn, replay)


@dataclass
class _Theatre:
    """A world that is set up, and who speaks in it."""

    integrator: Integrator
    ids: dict[str, uuid.UUID]
    stubs: Stage
    watch: Watch

    def play(self, number: int, turn: Turn, replay: bool) -> Iterator[Failure]:
        """One turn: the edits before it, the request, and what it misses."""
        try:
            world.edit(turn.before)
        except ScenarioFileError as error:
            yield Failure(number, "before", "edits that can be stored", str(error))
            return
        key = self.ids[turn.conversation]
        happened, turn_no = self._happened(key, turn)
        for call in happened.unscripted:
            yield Failure(number, "unscripted call", "an entry that answers it", call)
        for miss in expectations.misses(turn.expect, happened):
            yield Failure(number, miss.where, miss.expected, miss.got)
        if replay and turn_no is not None:
            yield from self._replayed(number, key, turn_no)

    def _happened(self, key: uuid.UUID, turn: Turn) -> tuple[Happened, int | None]:
        """What the turn left behind, and its number; null when the request did not become a turn."""
        self.stubs.begin(turn.user)
        self.watch.begin()
        status, body = self.integrator.say(key, turn)
        turn_no = body.get("turnNo")
        happened = Happened(
            status,
            body,
            self.watch.input_params(),
            _conversation(key),
            self.integrator.audit(key, turn_no) if turn_no else (),
            self.integrator.steps(key, turn_no) if turn_no else (),
            [_verbose(event) for event in body.get("verbose") or ()],
            [scenario_purpose(purpose) for purpose in self.stubs.model.calls],
            self.stubs.task_calls,
            self.stubs.tools.calls,
            [*self.stubs.unscripted, *self.watch.missing_tasks],
        )
        return happened, turn_no

    @staticmethod
    def _replayed(number: int, key: uuid.UUID, turn_no: int) -> Iterator[Failure]:
        """The turn again from its recording (law 3); a turn that says why it cannot be replayed is left alone."""
        record = CeConversationHistory.objects.get(conversation_id=key, turn_no=turn_no)
        difference = conf.load("REPLAY")(record) if record.replayable else None
        if difference is not None:
            yield Failure(number, f"replay, event {difference.seq}", difference.recorded, difference.replayed)


def _conversation(key: uuid.UUID) -> Json:
    return plain(CeConversation.objects.filter(pk=key).values().first())


def _verbose(event: Json) -> Json:
    return {
        "step_name": event["stepName"],
        "determinant": event["determinant"],
        "level": event["level"],
        "text": event["text"],
    }


@contextmanager
def _worlds_own_settings(scenario: Scenario) -> Iterator[None]:
    """The settings of the world instead of the deployment's, and nobody told of the errors that a file asks for."""
    own = {
        **{key: conf.get(key) for key in _KEPT},
        **scenario.settings.deployment,
        "SETTING_DEFAULTS": scenario.settings.live,
        "TRAIL_LISTENERS": ["convengine.scenarios.watching.saw"],
    }
    log = logging.getLogger("django.request")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with override_settings(CONVENGINE=own, ALLOWED_HOSTS=["testserver"]):
            yield
    finally:
        log.setLevel(level)
