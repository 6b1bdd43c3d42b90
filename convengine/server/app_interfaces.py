"""What the apps use of one another: `config_admin` implements the configuration, `audit` the record of turns.

They never import one another: settings name the objects, and both sides are checked against these types.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.http import HttpRequest, HttpResponse

from convengine.engine.errors import ConvEngineError
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.release_choice import ReleaseChoice
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.server.database.sql import Statement
from convengine.server.deployment import conf


class Configuration(Protocol):
    """The published configuration."""

    @property
    def head_sql(self) -> str:
        """A scalar subquery for any statement; `pin` takes its result."""

    @property
    def latest(self) -> Snapshot:
        """The newest snapshot that this process has pinned, without a query."""

    def current(self) -> Snapshot:
        """The snapshot in force now; one query when it is known."""

    def pin(self, text: str | None, /) -> Snapshot:
        """The snapshot for a head from `head_sql`."""

    def choose(
        self, text: str | None, conversation: Conversation, last_release: int | None, /, *, has_just_begun: bool = False
    ) -> tuple[Snapshot, ReleaseChoice | None]:
        """The snapshot for the next turn of a conversation, and why, unless it is simply the newest one.

        `text` is a head from `head_sql`, `last_release` that of the last committed turn. `has_just_begun`: the last
        turn began the session, on the release of the session before.
        """

    def at(self, config_version: int, /) -> Snapshot:
        """The snapshot of any release."""

    def content_hash(self, config_version: int, /) -> str:
        """The hash of a release's content, as it is stored; blank for a release that does not exist."""


class ConfigurationName(NamedTuple):
    """What a configuration is called: `live`, `release:12` or `draft:7`."""

    kind: str
    #: The release or the draft; null for live.
    number: int | None = None

    @classmethod
    def parse(cls, text: str) -> "ConfigurationName":
        """Raises ValueError for another text."""
        kind, _, number = text.strip().lower().partition(":")
        if kind == "live" and not number:
            return cls("live")
        if kind in ("release", "draft") and number.isascii() and number.isdecimal():
            return cls(kind, int(number))
        raise ValueError(f"“{text}” names no configuration. Enter live, release:12 or draft:7, with your number.")

    def __str__(self) -> str:
        return self.kind if self.number is None else f"{self.kind}:{self.number}"


#: Rows by table and primary key, as a save would store them; null for a deleted one.
UnsavedRows = Mapping[str, Mapping[Any, Mapping[str, Any] | None]]


class NamedConfigurations(Protocol):
    """Reads configurations by name, for everything that tries or judges one (R129)."""

    def read(self, name: ConfigurationName, unsaved: UnsavedRows | None = None, /) -> Snapshot:
        """The snapshot of a configuration, with unsaved rows in place of its own. Raises LookupError."""

    def describe(self, name: ConfigurationName, /) -> str:
        """What it is called on pages, such as `Draft: Christmas hours`. Raises LookupError."""

    def list_choices(self) -> Sequence[tuple[ConfigurationName, str]]:
        """Those that a page offers, with what they are called: live, the open drafts, the newest releases."""


@dataclass(frozen=True)
class UnsavedForm:
    """The form of a configuration row, before it is saved."""

    #: What the row is called: `Rule 7`, or `New rule`.
    title: str
    #: The row as a save would store it; none if the form has errors.
    rows: UnsavedRows
    #: Label and text of each error.
    errors: Sequence[tuple[str, str]] = ()


class WhatIf(Protocol):
    """Compares stored conversations on two configurations (R134)."""

    def show(self, request: HttpRequest, form: UnsavedForm, configuration: ConfigurationName, /) -> HttpResponse:
        """The page that asks for the conversations, for a configuration on which a form lies unsaved."""


class Simulator(Protocol):
    """Plays conversations on any configuration, and stores nothing (R132)."""

    def show(self, request: HttpRequest, form: UnsavedForm, configuration: ConfigurationName, /) -> HttpResponse:
        """The page of a conversation with a configuration on which a form lies unsaved."""


@dataclass(frozen=True)
class TurnRecord:
    """How a turn ended, for its row."""

    status: TurnStatus
    session: Session
    #: TURN, or EXTERNAL for a turn handled elsewhere.
    source: str
    #: Null for a turn that cannot be replayed.
    recording: bytes | None
    #: Why it cannot be replayed; null for a turn that can.
    replay_note: str | None = None
    error: ConvEngineError | None = None


class TurnLog(Protocol):
    """Writes the record of turns: events, model calls, deciding rows."""

    def insert_turn_stmts(
        self, turn: Turn, record: TurnRecord, previous: bytes | None, /
    ) -> tuple[list[Statement], bytes]:
        """What stores the record of a turn in its commit, and the hash of its seal; `previous` is the one before it."""

    def insert_dead_turn_stmts(
        self,
        header: Mapping[str, Any],
        events: Sequence[tuple[Stage, Mapping[str, Any]]],
        now: datetime,
        previous: bytes | None,
        release: str,
        /,
    ) -> tuple[list[Statement], bytes]:
        """The same for a turn whose process died: `header` has its columns, `events` end it, `release` is a hash."""

    def flush_events(self, turn: Turn, token: str, after_seq: int, /) -> bool:
        """Store the events of a running turn after `after_seq` for readers. Needs an open transaction.

        False when the lease was lost.
        """

    def delete_running_stmt(self, token: str, /) -> Statement:
        """Delete what `flush_events` stored, in the turn's commit."""

    def add_after_turn(self, turn: Turn, after_seq: int, /) -> None:
        """Store the later events of a turn whose row is stored. Needs an open transaction."""

    def add_outside(
        self, events: Sequence[tuple[str, Stage, Mapping[str, Any]]], now: datetime, config_version: int, /
    ) -> None:
        """Store events (conversation, stage, payload) of no turn. Needs an open transaction."""

    def turns_removed_before(self, before: datetime, /) -> None:
        """Note that older turns and sessions are removed."""

    def turns_leave(self, keys: Sequence[int], /) -> None:
        """Called with the keys of turn records right before they are deleted. Needs an open transaction."""

    def conversations_leave(self, keys: Sequence[uuid.UUID], /) -> None:
        """Called with the keys of conversations right before they are deleted. Needs an open transaction."""


class EmptyValue(NamedTuple):
    """A turn whose answer had gaps: the row with the text, the names without a value, and the release."""

    table: str
    row: Any
    names: tuple[str, ...]
    config_version: int


class RowUsage(NamedTuple):
    """How often a configuration row decided turns."""

    #: Turns since the given time; at most 1000 are counted.
    turns: int
    #: When it last decided one; null for never.
    last: datetime | None


@dataclass(frozen=True)
class RowRating:
    """A configuration row with the ratings of its answers."""

    table: str
    pk: str
    ups: int
    downs: int
    #: The newest comment, or blank.
    comment: str = ""

    @property
    def share(self) -> int:
        """The percentage of negative ratings."""
        return round(100 * self.downs / (self.ups + self.downs))


class SideCounts(NamedTuple):
    """The counts of the conversations on one side of a gradual release."""

    conversations: int = 0
    completed: int = 0
    turns: int = 0
    not_understood: int = 0
    failed: int = 0
    handed_over: int = 0
    positive: int = 0
    negative: int = 0


class Verdict(Enum):
    """Whether a rate differs by more than chance explains."""

    WORSE = "worse"
    MAYBE_WORSE = "maybe worse"
    SAME = "no clear difference"
    MAYBE_BETTER = "maybe better"
    BETTER = "better"
    TOO_FEW = "too few turns to say"


class RateChange(NamedTuple):
    """A rate before and after something, in percent; null without turns."""

    label: str
    before: float | None
    after: float | None
    verdict: Verdict


class IntentShift(NamedTuple):
    """The share of an intent before and since something, in percent of the turns or of the conversations begun."""

    intent: str
    #: What it is a share of: turns or conversations.
    unit: str
    before: float
    after: float


class ReleaseEffect(NamedTuple):
    """The turns on a release, beside those on the releases before it."""

    #: Releases before the last one had too few turns, so they are judged with it.
    first: int
    last: int
    turns: int
    turns_before: int
    rates: Sequence[RateChange]
    url: str
    #: The intents that got other turns since then; at least one of them lost some.
    shifts: Sequence[IntentShift] = ()

    @property
    def worse_rates(self) -> Sequence[RateChange]:
        """The rates that are clearly worse."""
        return [rate for rate in self.rates if rate.verdict is Verdict.WORSE]


class WeekRate(NamedTuple):
    """How many turns or conversations of a week had something, beside the week before."""

    label: str
    #: What is counted: turns, conversations or forms.
    unit: str
    number: int
    #: In percent; null without turns.
    share: float | None
    previous_share: float | None
    #: More than chance explains.
    is_worse: bool
    #: So high that somebody should look, whatever it was before.
    is_high: bool
    #: The effect of the release since which it is worse; null if none is clear.
    since: ReleaseEffect | None
    #: The search that lists these turns.
    url: str
    #: False for a rate of what went well.
    is_bad: bool = True


class MessageGroup(NamedTuple):
    """Messages that are alike and that nobody understood."""

    #: One of them; blank if it was erased.
    text: str
    messages: int
    this_week: int
    week_before: int
    #: The number of the group in the inbox.
    number: int


class WeekSummary(NamedTuple):
    """The turns of the last seven days, what releases did, and what waits in the inbox."""

    #: The begin of the seven days, a full hour.
    since: datetime
    turns: int
    previous_turns: int
    rates: Sequence[WeekRate]
    #: Of the releases that had turns in these days, the newest first.
    effects: Sequence[ReleaseEffect]
    inbox_groups: int
    inbox_messages: int
    #: The first groups in the order of the inbox.
    largest_groups: Sequence[MessageGroup]
    #: This order in words.
    inbox_order: str
    report_url: str
    inbox_url: str
    week_url: str
    #: That turns are being counted again, so that numbers are not complete; blank at other times.
    recount: str

    @property
    def has_changed(self) -> bool:
        """True if a rate got worse or is high, or messages have other intents since a release."""
        is_worse = any(rate.is_worse or rate.is_high for rate in self.rates)
        return is_worse or any(effect.shifts for effect in self.effects)

    @property
    def has_misses(self) -> bool:
        """True if anything was not understood, handed over or failed, however seldom."""
        return any(rate.number for rate in self.rates if rate.is_bad)


class StateMove(NamedTuple):
    """How many turns went from one state to another."""

    intent_before: str
    state_before: str
    intent: str
    state: str
    turns: int
    #: The search that lists them.
    url: str


class StateVisits(NamedTuple):
    """How many turns entered a state of an intent, and how many went on from it."""

    state: str
    entered: int
    exited: int
    #: The search that lists the turns that entered; blank for none.
    url: str

    @property
    def losses(self) -> int:
        """Conversations that have not gone on."""
        return max(self.entered - self.exited, 0)


class IntentTraffic(NamedTuple):
    """What turns did on the map of an intent."""

    moves: Sequence[StateMove]
    visits: Sequence[StateVisits]


class Alert(NamedTuple):
    """A rule on the numbers that holds now."""

    #: Such as `Not understood is over 15 % for an hour`.
    text: str
    since: datetime
    url: str


class GradualPeriod(NamedTuple):
    """When only a part of the conversations had a release."""

    began: datetime
    #: Null while it runs.
    ended: datetime | None
    #: The release that the others had.
    parent_version: int


class ReleaseNote(NamedTuple):
    """What pages say about a release."""

    number: int
    #: Who made it, or where it came from.
    author: str
    at: datetime
    reason: str
    #: The page with its changes.
    url: str
    undo_url: str
    gradual: GradualPeriod | None = None


class StoredMessage(NamedTuple):
    """A message of a recorded turn."""

    #: The key of the turn's record.
    turn: int
    text: str


class LifecycleMove(NamedTuple):
    """One change of a session's lifecycle."""

    at: datetime
    start: str
    end: str
    reason: str
    turn_no: int


class DecidingRow(NamedTuple):
    """A configuration row that decided something in a turn."""

    role: str
    table: str
    pk: str


class TurnEvent(Protocol):
    """An event of a turn."""

    stage: str
    payload_json: dict[str, Any]
    step: str | None


class ReplayDifference(Protocol):
    """The first event in which a replay differs from the record."""

    @property
    def seq(self) -> int: ...

    @property
    def recorded(self) -> tuple[str, Any] | None: ...

    @property
    def replayed(self) -> tuple[str, Any] | None: ...


class ConfigurationFiles(Protocol):
    """Reads and loads whole configurations, for tests of a bot."""

    @property
    def tables(self) -> frozenset[str]:
        """The tables that hold the configuration, its releases and its history."""

    def read_rows(self, config_version: int | None = None, /) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of a release by table; null is the configuration in force."""

    def import_file(self, path: Path, /) -> None:
        """Import a file into the current database. Raises ValueError with the rows that are refused."""


class StoredTests(Protocol):
    """The tests that were made of conversations."""

    def list_titles(self, conversations: Collection[uuid.UUID], /) -> Sequence[str]:
        """The titles of the tests that were made of these conversations."""

    def erase_tests(self, conversation_id: uuid.UUID, by: str, /) -> Sequence[int]:
        """Erase the tests of a conversation; returns their numbers. Needs an open transaction."""


class ExplainedMessage(NamedTuple):
    """How the message of a turn was read, and why it leads to its intent."""

    #: The message with its words marked, as HTML; blank for a message of which no event says it.
    marked: str
    reasons: Sequence[str]
    #: How well the phrases of each intent fit, if they were compared.
    comparisons: Sequence[str]


class TurnReader(Protocol):
    """Reads recorded turns. A `record` is a `CeConversationHistory`."""

    def find_replay_difference(self, record: Any, /) -> ReplayDifference | None:
        """Null when the replayed turn leaves the same events. Raises ValueError for a turn that cannot be replayed."""

    def rebuild_turn(self, record: Any, /) -> Turn:
        """The replayed turn with its events. Raises ValueError for a turn that cannot be replayed."""

    def read_turn_trace(self, conversation_id: uuid.UUID, turn_no: int, /) -> dict[str, Any] | None:
        """The turn as steps with their stages; null when nothing of it is stored."""

    def explain_turn(self, conversation_id: uuid.UUID, turn_no: int, /) -> list[str]:
        """What happened in a turn and why, one line each: the narration, then each decision with winners and losers."""

    def list_unstored_events(self, turn: Turn, /) -> Sequence[TurnEvent]:
        """The events of a turn that is only tried, as readers would get them if it were stored."""

    def explain_unstored_turn(self, turn: Turn, /) -> list[str]:
        """The same as `explain_turn` for a turn that is only tried, without exceptions."""

    def explain_unstored_message(self, turn: Turn, /) -> ExplainedMessage:
        """How the message of a turn that is only tried was read, and why it leads to its intent."""

    def build_graphs(self, conversation_id: uuid.UUID, turn_nos: Sequence[int], /) -> dict[int, dict[str, Any]]:
        """The traces of turns as graphs of nodes and edges, by turn number."""

    def list_moves(self, conversation_id: uuid.UUID, first: int, last: int, /) -> list[LifecycleMove]:
        """The changes of a session's lifecycle in some turns."""

    def list_deciding_rows(self, turn_ids: Iterable[uuid.UUID], /) -> Mapping[uuid.UUID, list[DecidingRow]]:
        """The rows that decided each turn, in order."""

    def count_row_usage(self, rows: Sequence[tuple[str, str]], since: datetime, /) -> dict[tuple[str, str], RowUsage]:
        """How often rows (table, key) decided turns since then."""

    def list_empty_values(self, limit: int, /) -> list[EmptyValue]:
        """The gaps in the answers of the newest turns with some; at most `limit` turns are read."""

    def list_messages_not_understood(self, limit: int, /) -> list[str]:
        """The newest messages that no intent got, each once."""

    def list_group_messages(self, group: int, /) -> list[StoredMessage]:
        """The wordings of a group of the inbox, the most frequent first; empty for a group that does not exist."""

    def count_message_texts(self, most: int, /) -> Mapping[str, int]:
        """The texts of the newest messages of the inbox's period, each with how often it came; `most` are read."""

    def note_taught(self, group: int, by: str, what: str, /, *, is_live: bool) -> None:
        """Note at a group of the inbox what somebody taught; if it is live, the group is done."""

    def summarise_week(self) -> WeekSummary:
        """The last seven days beside the seven before."""

    def read_traffic(self, intent: str, days: int, /) -> IntentTraffic:
        """The turns of the last days that moved between states of an intent, into it or out of it."""

    def list_alerts(self) -> Sequence[Alert]:
        """The alerts that are open and not silenced, the newest first."""

    def count_alerts(self) -> int:
        """How many alerts fire now, also silenced ones."""

    def read_last_seq(self, conversation_id: str, turn_no: int | None, /) -> int:
        """The number of the last event of a turn; 0 without events."""

    def has_model_call(self, turn_id: str, conversation_id: str, purposes: Sequence[str], /) -> bool:
        """True when a model was called for one of these purposes in a turn, or after it."""

    def sum_cost(self, conversation_id: str, /) -> float:
        """The cost of the logged model calls of a conversation."""

    def count_release_sides(
        self, first_turn: int, since: datetime, parent_version: int, until: datetime | None, /
    ) -> tuple[SideCounts, SideCounts]:
        """The turns on newer releases than the parent, and the others, while a release was gradual."""

    def rate_row(self, table: str, pk: str, /) -> RowRating | None:
        """The feedback on a row's answers; null without any."""


class AccessLog(Protocol):
    """Logs who reads people's words and data."""

    def log_row_access(self, request: Any, row: Any, /) -> None:
        """A user reads a stored row in the admin; null: a list."""


class LiveStreams(Protocol):
    """Lets users watch running turns."""

    def start(self) -> None:
        """Prepare this process to send events of its turns."""

    def watches(self, conversation_id: str, /) -> bool:
        """Whether somebody watches a conversation in this process."""

    def join(self, turn: Turn, is_marked: bool, /) -> None:
        """Let a turn be watched. A marked one was watched when it began, maybe in another process."""

    def wake(self, conversation_id: str, /) -> None:
        """Make the readers of a conversation read the database."""

    async def serve_streams(self, scope: Mapping[str, Any], receive: Any, send: Any, /) -> None:
        """The ASGI application that serves event streams."""


class RowChange(Protocol):
    """A row that differs between two releases; null on a side without it."""

    @property
    def before(self) -> Mapping[str, Any] | None: ...

    @property
    def after(self) -> Mapping[str, Any] | None: ...

    @property
    def fields(self) -> Mapping[str, tuple[Any, Any]]:
        """Before and after of each changed column."""


class RowThenAndNow(Protocol):
    """A row in a release beside the present one, for a page."""

    @property
    def name(self) -> str: ...


class RowOrigin(NamedTuple):
    """Who made the version of a row that a release has, and what became of it."""

    author: str
    at: datetime | None
    reason: str
    release: int
    #: The page of that release.
    url: str
    is_deleted: bool
    #: The differences to the present version, for a page; none if it is the same.
    changes: Sequence[object]


class ConfigurationFinding(NamedTuple):
    """Something in the stored configuration that was changed or removed."""

    code: str
    table: str
    row: str
    message: str


class ConfigurationReport(NamedTuple):
    """What of the stored configuration was verified, and the findings."""

    releases: int
    blobs: int
    history_rows: int
    findings: Sequence[ConfigurationFinding]


class ProvenRow(NamedTuple):
    """A row as a release has it, from a document of evidence."""

    table: str
    pk: str
    #: Label and text of each column.
    columns: Sequence[tuple[str, str]]
    #: The release that made this version, and its reason; null when the document does not have it.
    origin: int | None
    reason: str


class ProvenRelease(NamedTuple):
    """A release from a document of evidence."""

    config_version: int
    author: str
    #: In ISO 8601.
    at: str
    reason: str
    content_hash: str
    seal: str
    #: With the rows of the document only.
    snapshot: Snapshot
    rows: Sequence[ProvenRow]


class ProvenReleases(NamedTuple):
    """A document of evidence about releases, and what is wrong with it."""

    releases: Mapping[int, ProvenRelease]
    findings: Sequence[ConfigurationFinding]


class ReleaseHistory(Protocol):
    """Reads what releases contain and what they changed."""

    def diff(self, before: int, after: int, /) -> Mapping[str, Sequence[RowChange]]:
        """The rows in which two releases differ, by table; 0 is the empty configuration."""

    def right_to_read(self, table: str, /) -> str:
        """The right to read a row of a table. Raises KeyError for a table that is not configuration."""

    def then_and_now(self, table: str, pk: str, config_version: int, /) -> RowThenAndNow | None:
        """A row in a release beside the newest one; null when neither has it."""

    def find_row_origins(
        self, rows: Collection[tuple[str, str]], config_version: int, /
    ) -> Mapping[tuple[str, str], RowOrigin]:
        """The origin of rows (table, key) as a release has them; rows without a history are left out."""

    def older_codes(self, intent: str, /) -> Sequence[str]:
        """The codes that an intent had before it was renamed, the latest first."""

    def list_release_notes(self, numbers: Collection[int], /) -> Sequence[ReleaseNote]:
        """What pages say about some releases, in their order; those that do not exist are left out."""

    def list_releases_of_period(self, since: datetime, until: datetime, limit: int, /) -> Sequence[ReleaseNote]:
        """The newest releases that people made in a period, in their order; without their gradual periods."""

    def between(self, since: int, until: int, behind: int | None = None, /) -> tuple[Sequence[object], int | None]:
        """The releases after `since` up to `until`, newest first; and where the next page begins."""

    def collect_evidence(
        self, rows: Mapping[int, Collection[tuple[str, str]]], tables: Mapping[int, Collection[str]], /
    ) -> dict[str, Any]:
        """A JSON document that proves rows (table, key) and whole tables of releases, and who made the rows."""

    def open_evidence(self, document: Any, /) -> ProvenReleases:
        """What such a document says, checked by its hashes alone: the database is not read."""

    def verify(self, versions: Collection[int] | None = None, /) -> ConfigurationReport:
        """Verify blobs, the chain of releases, and the row history; with `versions` only these releases."""

    def read_chain_end(self) -> tuple[int, str]:
        """The number and the seal of the newest release."""

    def read_seal(self, config_version: int, /) -> str:
        """The seal of a release; blank when it does not exist."""


def configuration() -> Configuration:
    """The configuration of this deployment."""
    interface: Configuration = conf.load("SNAPSHOT")
    return interface


def named_configurations() -> NamedConfigurations:
    """The configurations of this deployment by name."""
    interface: NamedConfigurations = conf.load("NAMED_CONFIGURATIONS")
    return interface


def what_if() -> WhatIf:
    """The what-if of this deployment."""
    interface: WhatIf = conf.load("WHAT_IF")
    return interface


def simulator() -> Simulator:
    """The simulator of this deployment."""
    interface: Simulator = conf.load("SIMULATOR")
    return interface


def release_history() -> ReleaseHistory:
    """The history of the configuration."""
    interface: ReleaseHistory = conf.load("RELEASE_HISTORY")
    return interface


def configuration_files() -> ConfigurationFiles:
    """The reader and writer of whole configurations."""
    interface: ConfigurationFiles = conf.load("CONFIGURATION_FILES")
    return interface


def stored_tests() -> StoredTests:
    """The tests of this deployment."""
    interface: StoredTests = conf.load("STORED_TESTS")
    return interface


def turn_log() -> TurnLog:
    """The turn log of this deployment."""
    interface: TurnLog = conf.load("AUDIT_WRITER")
    return interface


def turn_reader() -> TurnReader:
    """The reader of recorded turns."""
    interface: TurnReader = conf.load("TURN_READER")
    return interface


def access_log() -> AccessLog:
    """The access log of this deployment."""
    interface: AccessLog = conf.load("ACCESS_LOG")
    return interface


def live_streams() -> LiveStreams:
    """The event streams of running turns."""
    interface: LiveStreams = conf.load("LIVE_STREAMS")
    return interface
