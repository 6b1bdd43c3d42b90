"""Playing a scenario: its world, its turns over the public API, and what they miss (scenario format 1)."""

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

from convengine import conf, wiring
from convengine.codec import plain
from convengine.scenarios import database, expectations, world
from convengine.scenarios.happened import Happened
from convengine.scenarios.loading import load
from convengine.scenarios.purposes import scenario_purpose
from convengine.scenarios.scenario import Scenario, Turn
from convengine.scenarios.speaking import DEFAULT_WORKSPACE, Integrator
from convengine.scenarios.stubs import Stage, stage
from convengine.scenarios.watching import Watch, watching
from convengine.scenarios.wording import ScenarioFileError
from convengine.sessions.models import CeConversation, CeConversationHistory

Json = Any
#: What scenarios may require (R25).
CAPABILITIES = frozenset({"force_beats_collection"})
#: When worlds begin whose turns say `at`.
BEGINNING = datetime(2026, 1, 1, 12, tzinfo=UTC)
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
#: What a deployment adds in code stays in force; everything else is as built in.
_KEPT = ("STEPS", "HOOKS", "EXTENSIONS", "SNAPSHOT", "AUDIT_WRITER", "REPLAY", "TRACE_GRAPHS", "RELEASES")


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


def play(
    scenario: Scenario, *, replay: bool = False, afterwards: Callable[[Mapping[str, uuid.UUID]], None] | None = None
) -> Iterator[Failure]:
    """Everything in which the product differs from what a scenario says.

    `afterwards` is called with the conversations by name while the world still stands.
    """
    stubs = stage(scenario)
    with _worlds_own_settings(scenario), wiring.using(stubs.outside), watching() as watch:
        database.empty()
        try:
            ids = world.build(scenario)
        except ScenarioFileError as error:
            yield Failure(None, "tables", "rows that can be stored", str(error))
            return
        theatre = _Theatre(ids, stubs, watch)
        for number, turn in enumerate(scenario.turns, start=1):
            yield from theatre.play(number, turn, replay)
        if afterwards:
            afterwards(ids)


@dataclass
class _Theatre:
    """A world that is set up, and who speaks in it."""

    ids: dict[str, uuid.UUID]
    stubs: Stage
    watch: Watch
    #: By workspace.
    speakers: dict[str, Integrator] = field(default_factory=dict)
    #: Where the clock stands; null while it runs.
    at: datetime | None = None

    def play(self, number: int, turn: Turn, replay: bool) -> Iterator[Failure]:
        """One turn: the edits before it, the request, and what it misses."""
        self.at = self.at if turn.at is None else BEGINNING + turn.at
        try:
            world.edit(turn.before)
        except ScenarioFileError as error:
            yield Failure(number, "before", "edits that can be stored", str(error))
            return
        with _clock(self.at):
            key, happened, turn_no = self._happened(turn)
        for call in happened.unscripted:
            yield Failure(number, "unscripted call", "an entry that answers it", call)
        for miss in expectations.misses(turn.expect, happened):
            yield Failure(number, miss.where, miss.expected, miss.got)
        if replay and key and turn_no is not None:
            yield from self._replayed(number, key, turn_no)

    def _happened(self, turn: Turn) -> tuple[uuid.UUID | None, Happened, int | None]:
        """The conversation, what the turn left behind, and its number; null when the request did not become a turn."""
        self.stubs.begin(turn.user)
        self.watch.begin()
        speaker = self._speaker(turn)
        key: uuid.UUID | None = None
        if turn.thread:
            status, body = speaker.write(turn.thread, turn)
            key = uuid.UUID(body["session_id"]) if "session_id" in body else None
        else:
            key = self.ids[turn.conversation]
            status, body = speaker.say(key, turn)
        turn_no = body.get("turnNo")
        happened = Happened(
            status,
            body,
            self.watch.input_params(),
            _conversation(key),
            speaker.audit(key, turn_no) if key and turn_no else (),
            speaker.steps(key, turn_no) if key and turn_no else (),
            [_verbose(event) for event in body.get("verbose") or ()],
            [scenario_purpose(purpose) for purpose in self.stubs.model.calls],
            self.stubs.task_calls,
            self.stubs.tools.calls,
            [*self.stubs.unscripted, *self.watch.missing_tasks],
        )
        return key, happened, turn_no

    def _speaker(self, turn: Turn) -> Integrator:
        """Whoever has a key of the turn's workspace."""
        workspace = turn.thread.workspace_id if turn.thread else DEFAULT_WORKSPACE
        if workspace not in self.speakers:
            self.speakers[workspace] = Integrator.of(workspace)
        return self.speakers[workspace]

    @staticmethod
    def _replayed(number: int, key: uuid.UUID, turn_no: int) -> Iterator[Failure]:
        """The turn again from its recording (law 3); a turn that says why it cannot be replayed is left alone."""
        record = CeConversationHistory.objects.get(conversation_id=key, turn_no=turn_no)
        difference = conf.load("REPLAY")(record) if record.replayable else None
        if difference is not None:
            yield Failure(number, f"replay, event {difference.seq}", difference.recorded, difference.replayed)


def _conversation(key: uuid.UUID | None) -> Json:
    return plain(CeConversation.objects.filter(pk=key).values().first()) if key else None


def _verbose(event: Json) -> Json:
    return {
        "step_name": event["stepName"],
        "determinant": event["determinant"],
        "level": event["level"],
        "text": event["text"],
    }


@contextmanager
def _clock(at: datetime | None) -> Iterator[None]:
    """The clock at one moment; as it runs without one."""
    if at is None:
        yield
        return
    with override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_AT": at}):
        yield


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
