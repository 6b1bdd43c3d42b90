"""Play a scenario: its world, its turns over the public API, and the failed expectations."""

import logging
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.test import override_settings

from convengine.engine.turn.codec import to_plain
from convengine.scenarios import database, expectations
from convengine.scenarios.integrator import DEFAULT_WORKSPACE, Integrator
from convengine.scenarios.loading import load
from convengine.scenarios.observed_turn import ObservedTurn, TurnObserver, observing
from convengine.scenarios.scenario import Scenario, Turn, scenario_purpose
from convengine.scenarios.schema import ScenarioFileError
from convengine.scenarios.stubs import ScenarioStubs, build_stubs
from convengine.server import wiring
from convengine.server.app_interfaces import turn_reader
from convengine.server.deployment import conf
from convengine.server.sessions.models import CeConversation, CeConversationHistory

Json = Any
#: Known capabilities of `requires` (R25).
CAPABILITIES = frozenset({"force_beats_collection"})
#: The start time of worlds with `at`.
BEGINNING = datetime(2026, 1, 1, 12, tzinfo=UTC)
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
#: The deployment's code stays in force; everything else is as built in.
_DEPLOYMENT_KEYS = ("STEPS", "HOOKS", "EXTENSIONS", "SNAPSHOT", "AUDIT_WRITER", "TURN_READER", "RELEASE_HISTORY")


@dataclass(frozen=True)
class Failure:
    """One failed expectation or error."""

    #: Counted from 1; null for the file as a whole.
    turn: int | None
    where: str
    expected: Json
    actual: Json


@dataclass
class Report:
    """The result of a scenario."""

    id: str
    file: Path
    outcome: str = PASSED
    title: str = ""
    #: Why it was skipped.
    reason: str = ""
    failures: list[Failure] = field(default_factory=list)


def run(file: Path, *, replay: bool = False) -> Report:
    """Play the scenario of a file in a disposable database. `replay` also replays each turn and expects equality."""
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


def play(
    scenario: Scenario, *, replay: bool = False, afterwards: Callable[[Mapping[str, uuid.UUID]], None] | None = None
) -> Iterator[Failure]:
    """All failures of a scenario.

    `afterwards` is called with the conversations by name while the world still exists.
    """
    stubs = build_stubs(scenario)
    with _scenario_settings(scenario), wiring.replace_outside_world(stubs.outside), observing() as observer:
        database.empty_database()
        try:
            ids = database.build_world(scenario)
        except ScenarioFileError as error:
            yield Failure(None, "tables", "rows that can be stored", str(error))
            return
        player = _ScenarioPlayer(ids, stubs, observer)
        for number, turn in enumerate(scenario.turns, start=1):
            yield from player.play(number, turn, replay)
        if afterwards:
            afterwards(ids)


@dataclass
class _ScenarioPlayer:
    """A world that is set up, and its callers."""

    ids: dict[str, uuid.UUID]
    stubs: ScenarioStubs
    observer: TurnObserver
    #: By workspace.
    integrators: dict[str, Integrator] = field(default_factory=dict)
    #: The fixed time of the clock; null while it runs.
    at: datetime | None = None

    def play(self, number: int, turn: Turn, replay: bool) -> Iterator[Failure]:
        """One turn: the edits before it, the request, and the failures."""
        self.at = self.at if turn.at is None else BEGINNING + turn.at
        try:
            database.apply_edits(turn.before)
        except ScenarioFileError as error:
            yield Failure(number, "before", "edits that can be stored", str(error))
            return
        with _clock(self.at):
            key, observed, turn_no = self._observe(turn)
        for call in observed.unscripted:
            yield Failure(number, "unscripted call", "an entry that answers it", call)
        for miss in expectations.find_misses(turn.expect, observed):
            yield Failure(number, miss.where, miss.expected, miss.actual)
        if replay and key and turn_no is not None:
            yield from self._check_replay(number, key, turn_no)

    def _observe(self, turn: Turn) -> tuple[uuid.UUID | None, ObservedTurn, int | None]:
        """The conversation, what the turn left, and its number; null when the request did not become a turn."""
        self.stubs.begin(turn.user)
        self.observer.begin()
        integrator = self._integrator(turn)
        key: uuid.UUID | None = None
        if turn.thread:
            status, body = integrator.send_thread_message(turn.thread, turn)
            key = uuid.UUID(body["session_id"]) if "session_id" in body else None
        else:
            key = self.ids[turn.conversation]
            status, body = integrator.send_message(key, turn)
        turn_no = body.get("turnNo")
        observed = ObservedTurn(
            status,
            body,
            self.observer.input_params(),
            _conversation(key),
            integrator.audit(key, turn_no) if key and turn_no else (),
            integrator.steps(key, turn_no) if key and turn_no else (),
            [_verbose(event) for event in body.get("verbose") or ()],
            [scenario_purpose(purpose) for purpose in self.stubs.model.calls],
            self.stubs.task_calls,
            self.stubs.tools.calls,
            [*self.stubs.unscripted, *self.observer.missing_tasks],
        )
        return key, observed, turn_no

    def _integrator(self, turn: Turn) -> Integrator:
        """The caller with a key of the turn's workspace."""
        workspace = turn.thread.workspace_id if turn.thread else DEFAULT_WORKSPACE
        if workspace not in self.integrators:
            self.integrators[workspace] = Integrator.for_workspace(workspace)
        return self.integrators[workspace]

    @staticmethod
    def _check_replay(number: int, key: uuid.UUID, turn_no: int) -> Iterator[Failure]:
        """Replay the turn from its recording, unless the turn says why it cannot be (law 3)."""
        record = CeConversationHistory.objects.get(conversation_id=key, turn_no=turn_no)
        difference = turn_reader().find_replay_difference(record) if record.replayable else None
        if difference is not None:
            yield Failure(number, f"replay, event {difference.seq}", difference.recorded, difference.replayed)


def _conversation(key: uuid.UUID | None) -> Json:
    return to_plain(CeConversation.objects.filter(pk=key).values().first()) if key else None


def _verbose(event: Json) -> Json:
    return {
        "step_name": event["stepName"],
        "determinant": event["determinant"],
        "level": event["level"],
        "text": event["text"],
    }


@contextmanager
def _clock(at: datetime | None) -> Iterator[None]:
    """Fix the clock at a time, if given."""
    if at is None:
        yield
        return
    with override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_AT": at}):
        yield


@contextmanager
def _scenario_settings(scenario: Scenario) -> Iterator[None]:
    """The settings of the world instead of the deployment's, without error reports for expected errors."""
    own = {
        **{key: conf.get(key) for key in _DEPLOYMENT_KEYS},
        **scenario.settings.deployment,
        "SETTING_DEFAULTS": scenario.settings.live,
        "TRAIL_LISTENERS": ["convengine.scenarios.observed_turn.record_event"],
    }
    log = logging.getLogger("django.request")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with override_settings(CONVENGINE=own, ALLOWED_HOSTS=["testserver"]):
            yield
    finally:
        log.setLevel(level)
