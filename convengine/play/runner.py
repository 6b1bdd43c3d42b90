"""Play a scenario: its world, its turns over the public API, and the failed expectations."""

import logging
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.test import override_settings

from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.trail import AuditEvent
from convengine.json_value import Json
from convengine.play import database, expectations
from convengine.play.configurations import ConfigurationFile, ConfigurationSource
from convengine.play.coverage import Coverage
from convengine.play.integrator import DEFAULT_WORKSPACE, Integrator
from convengine.play.loading import load
from convengine.play.play import NotingTape
from convengine.play.scenario import BEGINNING, Scenario, ScenarioTurn
from convengine.play.schema import ScenarioFileError
from convengine.play.seen_turn import PortCall, SeenTurn
from convengine.play.stubs import ScenarioStubs, build_stubs
from convengine.server import wiring
from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.sessions.models import CeConversation, CeConversationHistory

#: Known capabilities of `requires`.
CAPABILITIES = frozenset({"force_beats_collection"})
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
#: The deployment's code stays in force; everything else is as built in.
_DEPLOYMENT_KEYS = (
    "STEPS",
    "HOOKS",
    "EXTENSIONS",
    "SNAPSHOT",
    "NAMED_CONFIGURATIONS",
    "AUDIT_WRITER",
    "TURN_READER",
    "TURN_REPORTS",
    "INBOX",
    "RELEASE_HISTORY",
    "CONFIGURATION_FILES",
)
#: Loggers that say nothing while scenarios are played.
_QUIET = ("django.request", "convengine.server.observability.turns")
#: What a tested bot does not do: run jobs, send events elsewhere, refuse frequent calls. It needs none of the services
#: that its rows name: stubs answer for them, and what has no stub fails by name.
_ALONE: Mapping[str, Json] = {
    "JOBS_IN_PROCESS": False,
    "BROKER_URL": "",
    "BUS_URL": "",
    "THROTTLE_RATE": "",
    "IS_DEPLOYED": False,
}


@dataclass(frozen=True)
class Failure:
    """One failed expectation or error."""

    #: Counted from 1. None for the file as a whole.
    turn: int | None
    where: str
    expected: Json
    actual: Json


@dataclass
class ScenarioReport:
    """The result of a scenario."""

    id: str
    file: Path
    outcome: str = PASSED
    title: str = ""
    #: Why it was skipped.
    reason: str = ""
    failures: list[Failure] = field(default_factory=list)
    #: What happened in each turn that failed, and why: lines by the number of the turn.
    explanations: dict[int, list[str]] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class RunOptions:
    """How scenarios are played."""

    #: Replay each turn and expect equality.
    replay: bool = False
    #: The configuration, in place of the one that a scenario names.
    configuration: ConfigurationSource | None = None
    #: Who answers what no stub answers, in place of what a scenario says: REAL or STUBS; blank for no change.
    extensions: str = ""
    #: Ask the model of the installation what neither script nor recording answers, and record its answers.
    record: bool = False
    #: Collects what the turns reach; None when nobody asks.
    coverage: Coverage | None = None


AS_WRITTEN = RunOptions()


def run(file: Path, options: RunOptions = AS_WRITTEN) -> ScenarioReport:
    """Play the scenario of a file in a disposable database. An invalid file gives a failed report."""
    started = time.monotonic()
    try:
        scenario = load(file)
    except ScenarioFileError as error:
        return ScenarioReport(file.stem, file, FAILED, failures=[Failure(None, "file", "a scenario", str(error))])
    report = ScenarioReport(scenario.id, file, title=scenario.title)
    if missing := sorted(set(scenario.requires) - CAPABILITIES):
        report.outcome, report.reason = SKIPPED, f"requires {', '.join(missing)}"
        return report
    report.failures += _find_failures(scenario, options, report.explanations)
    report.outcome = FAILED if report.failures else PASSED
    report.seconds = time.monotonic() - started
    return report


def _find_failures(scenario: Scenario, options: RunOptions, explanations: dict[int, list[str]]) -> Iterator[Failure]:
    """All failures of a scenario. `explanations` gets the explanation of each turn that fails."""
    try:
        with open_world(scenario, options) as player:
            for number, turn in enumerate(scenario.turns, start=1):
                try:
                    seen = player.play(turn)
                except ScenarioFileError as error:
                    yield Failure(number, "before", "edits that can be stored", str(error))
                    continue
                failures = [
                    *(Failure(number, *miss) for miss in expectations.find_misses(turn.expect, seen)),
                    *(_check_replay(number, seen) if options.replay else ()),
                ]
                if failures:
                    explanations[number] = [*seen.explanation]
                yield from failures
    except WorldRefused as refused:
        yield Failure(None, refused.where, refused.expected, str(refused))


class WorldRefused(ValueError):
    """The rows of a world, its configuration or its recording cannot be used."""

    def __init__(self, where: str, expected: str, problem: str) -> None:
        super().__init__(problem)
        self.where, self.expected = where, expected


@contextmanager
def open_world(scenario: Scenario, options: RunOptions = AS_WRITTEN) -> "Iterator[ScenarioPlayer]":
    source = options.configuration or (ConfigurationFile(scenario.configuration) if scenario.configuration else None)
    if options.extensions:
        scenario = replace(scenario, extensions=options.extensions)
    try:
        stubs = build_stubs(scenario, live=wiring.model() if options.record and scenario.recording else None)
    except ScenarioFileError as error:
        raise WorldRefused("recording", "recorded answers of a model", str(error)) from error
    with _scenario_settings(scenario, is_bot=source is not None), wiring.replace_outside_world(stubs.outside):
        try:
            database.prepare_database(scenario, source)
        except ScenarioFileError as error:
            raise WorldRefused("configuration", "a configuration that can be imported", str(error)) from error
        try:
            ids = database.build_world(scenario)
        except ScenarioFileError as error:
            raise WorldRefused("tables", "rows that can be stored", str(error)) from error
        if options.coverage:
            options.coverage.add_configuration(configuration().current())
        yield ScenarioPlayer(ids, stubs, options.coverage, scenario.id)
        # What the model of the installation answered, if it was asked.
        if stubs.model.recording:
            try:
                stubs.model.recording.save()
            except OSError as error:
                raise WorldRefused("recording", "a file that can be written", str(error)) from error


@dataclass
class ScenarioPlayer:
    """A world that is set up, and its callers."""

    ids: dict[str, uuid.UUID]
    stubs: ScenarioStubs
    coverage: Coverage | None = None
    #: The name under which coverage counts the turns.
    name: str = ""
    #: By workspace, and whether they may approve.
    integrators: dict[tuple[str, bool], Integrator] = field(default_factory=dict)
    #: The fixed time of the clock; None while it runs.
    at: datetime | None = None

    def play(self, turn: ScenarioTurn) -> SeenTurn:
        """One turn: the edits before it, and the request. Raises ScenarioFileError for edits that cannot be stored."""
        self.at = self.at if turn.at is None else BEGINNING + turn.at
        database.apply_edits(turn.before)
        with _fix_clock(self.at):
            seen = self._send(turn)
        if self.coverage and seen.trail:
            self.coverage.add_turn(self.name, seen.deciding_rows, seen.positions)
        return seen

    def _send(self, turn: ScenarioTurn) -> SeenTurn:
        """Send the request of a turn, and note its events and calls.

        A request that is refused before a turn begins has no events.
        """
        self.stubs.begin(turn)
        workspace = turn.thread.workspace_id if turn.thread else DEFAULT_WORKSPACE
        caller = workspace, turn.may_approve
        if caller not in self.integrators:
            self.integrators[caller] = Integrator.for_workspace(workspace, may_approve=turn.may_approve)
        integrator = self.integrators[caller]
        key: uuid.UUID | None = None
        with _record_calls(self.stubs) as (trail, calls):
            if turn.thread:
                status, body = integrator.send_thread_message(turn.thread, turn)
                key = uuid.UUID(body["session_id"]) if "session_id" in body else None
            else:
                key = self.ids.setdefault(turn.conversation, uuid.uuid4())
                status, body = integrator.send_message(key, turn)
        conversation_id, turn_no = key, body.get("turnNo")
        if conversation_id is None or turn_no is None:
            refusal = f"HTTP status {status}: the request did not become a turn."
            return SeenTurn(turn.user, status, body, _read_conversation(key), read_explanation=lambda: [refusal])
        names = {"step_name": "stepName", "determinant": "determinant", "level": "level", "text": "text"}
        progress = [{name: event[sent] for name, sent in names.items()} for event in body.get("verbose") or ()]
        return SeenTurn(
            turn.user,
            status,
            body,
            _read_conversation(key),
            progress,
            calls,
            trail,
            lambda: integrator.audit(conversation_id, turn_no),
            lambda: turn_reader().explain_turn(conversation_id, turn_no),
            lambda: _list_deciding_rows(conversation_id, turn_no),
        )


#: The events of the turn that runs in this thread.
_trail: ContextVar[list[AuditEvent] | None] = ContextVar("trail", default=None)


def record_event(event: AuditEvent) -> None:
    """Take note of an event, even if the audit filters it: one of the TRAIL_LISTENERS of a world."""
    if (trail := _trail.get()) is not None:
        trail.append(event)


@contextmanager
def _record_calls(stubs: ScenarioStubs) -> Iterator[tuple[list[AuditEvent], list[PortCall]]]:
    """Collect the events and the calls of the turns that this thread takes while the block runs."""
    trail, calls = list[AuditEvent](), list[PortCall]()
    token = _trail.set(trail)
    try:
        with wiring.replace_outside_world(replace(stubs.outside, around_tape=lambda tape: NotingTape(tape, calls))):
            yield trail, calls
    finally:
        _trail.reset(token)


def _check_replay(number: int, seen: SeenTurn) -> Iterator[Failure]:
    """The failure of replaying the turn from its recording. A turn that cannot be replayed has none."""
    if not seen.trail:
        return
    record = CeConversationHistory.objects.get(turn_id=seen.body["turnId"])
    difference = turn_reader().find_replay_difference(record) if record.replayable else None
    if difference is not None:
        yield Failure(number, f"replay, event {difference.seq}", difference.recorded, difference.replayed)


def _list_deciding_rows(key: uuid.UUID, turn_no: int) -> list[tuple[str, str]]:
    """The rows that decided something in a turn, as (table, key)."""
    turn_ids = CeConversationHistory.objects.filter(conversation_id=key, turn_no=turn_no).values_list(
        "turn_id", flat=True
    )
    return [(row.table, row.pk) for rows in turn_reader().list_deciding_rows(turn_ids).values() for row in rows]


def _read_conversation(key: uuid.UUID | None) -> Json:
    return to_plain(CeConversation.objects.filter(pk=key).values().first()) if key else None


@contextmanager
def _fix_clock(at: datetime | None) -> Iterator[None]:
    if at is None:
        yield
        return
    with override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_AT": at}):
        yield


@contextmanager
def _scenario_settings(scenario: Scenario, *, is_bot: bool) -> Iterator[None]:
    """The settings of the world instead of the deployment's, without error reports for expected errors.

    `is_bot`: a configuration is tested, so the deployment's settings stay in force, except those that reach outside.
    """
    deployment = {**settings.CONVENGINE, **_ALONE} if is_bot else {key: conf.get(key) for key in _DEPLOYMENT_KEYS}
    defaults = {**conf.get("SETTING_DEFAULTS"), **scenario.settings.live} if is_bot else scenario.settings.live
    own = {
        **deployment,
        **scenario.settings.deployment,
        "SETTING_DEFAULTS": defaults,
        "TRAIL_LISTENERS": ["convengine.play.runner.record_event"],
    }
    # Expected errors are no news, and neither is every turn.
    levels = {name: logging.getLogger(name).level for name in _QUIET}
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with override_settings(CONVENGINE=own, ALLOWED_HOSTS=["testserver"]):
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
