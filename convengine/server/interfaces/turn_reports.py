"""What was counted of turns, as pages of the configuration show it: `audit` implements it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import Enum
from functools import partial
from typing import Any, NamedTuple, Protocol

from convengine.server.deployment import conf


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
    #: When it last decided one. None if it never did.
    last: datetime | None


class RowRating(NamedTuple):
    """A configuration row with the ratings of its answers."""

    table: str
    pk: str
    ups: int
    downs: int


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


class RateVerdict(Enum):
    """Whether a rate differs by more than chance explains."""

    WORSE = "worse"
    MAYBE_WORSE = "maybe worse"
    SAME = "no clear difference"
    MAYBE_BETTER = "maybe better"
    BETTER = "better"
    TOO_FEW = "too few turns to say"
    #: Worse since a release, as the same messages show; or nobody can run them again.
    NOT_CAUSED = "worse, but not because of it"
    CAUSE_UNKNOWN = "worse, cause unknown"


class RateChange(NamedTuple):
    """A rate before and after something, in percent; None without turns."""

    #: The name of its measure in the API of reports.
    name: str
    label: str
    before: float | None
    after: float | None
    verdict: RateVerdict
    #: What the same messages do before and after it, in a sentence; blank for a rate that is not worse.
    cause: str = ""


class IntentShift(NamedTuple):
    """The share of an intent before and since something, in percent of the turns."""

    intent: str
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
        """The rates that are clearly worse because of it."""
        return [rate for rate in self.rates if rate.verdict is RateVerdict.WORSE]


class WeekRate(NamedTuple):
    """How many turns or conversations of a week had something, beside the week before."""

    #: The name of its measure in the API of reports.
    name: str
    label: str
    #: What is counted: turns, conversations or forms.
    unit: str
    number: int
    #: In percent; None without turns.
    share: float | None
    previous_share: float | None
    #: More than chance explains.
    is_worse: bool
    #: So high that somebody should look, whatever it was before.
    is_high: bool
    #: The effect of the release that made it worse; None if none is known to.
    since: ReleaseEffect | None
    #: The search that lists these turns.
    url: str
    #: False for a rate of what went well.
    is_bad: bool = True
    #: Why a release is named, or none, in a sentence; blank if it is neither worse nor high.
    cause: str = ""
    #: What the share is of, such as `120 conversations begun`.
    base: str = ""

    @property
    def counted(self) -> str:
        """Its number in words: `1 turn`, `1,200 conversations`."""
        return f"{self.number:,} {self.unit.removesuffix('s') if self.number == 1 else self.unit}"


class WeekOutcome(NamedTuple):
    """How many conversations of a week had an outcome, beside the week before."""

    label: str
    help: str
    number: int
    #: In percent; None without conversations.
    share: float | None
    previous_share: float | None
    #: The search that lists them; blank for none.
    url: str


class LosingForm(NamedTuple):
    """A form that loses most of the users who begin it."""

    title: str
    started: int
    #: Not completed.
    losses: int
    #: The field at which most of them are lost, and how many.
    field: str
    field_losses: int
    url: str

    @property
    def text(self) -> str:
        """In a sentence."""
        return (
            f"{self.losses:,} of the {self.started:,} users who began it did not finish it, "
            f"most at “{self.field}” ({self.field_losses:,})."
        )


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

    #: The midnight that begins the first of the seven days, and the end of this hour.
    since: datetime
    until: datetime
    turns: int
    previous_turns: int
    #: What became of the conversations that began in these days; it adds up to them.
    outcomes: Sequence[WeekOutcome]
    rates: Sequence[WeekRate]
    #: The form that loses most of its users; None if none loses more than half.
    losing_form: LosingForm | None
    #: Of the releases that had turns in these days, the newest first.
    effects: Sequence[ReleaseEffect]
    inbox_groups: int
    inbox_messages: int
    #: The first groups in the order of the inbox.
    largest_groups: Sequence[MessageGroup]
    #: This order in words.
    inbox_order: str
    #: Messages of open groups after which users were asked what they meant.
    asked_messages: int
    report_url: str
    inbox_url: str
    asked_url: str
    week_url: str

    @property
    def has_changed(self) -> bool:
        """True if a rate got worse or is high, or messages have other intents since a release."""
        is_worse = any(rate.is_worse or rate.is_high for rate in self.rates)
        return is_worse or any(effect.shifts for effect in self.effects)

    @property
    def has_misses(self) -> bool:
        """True if anything was not understood, handed over or failed, however seldom."""
        return self.losing_form is not None or any(rate.number for rate in self.rates if rate.is_bad)

    @property
    def conversations(self) -> int:
        """How many began in these days."""
        return sum(outcome.number for outcome in self.outcomes)


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


class TurnReports(Protocol):
    """What was counted of turns."""

    def count_row_usage(self, rows: Sequence[tuple[str, str]], since: datetime, /) -> dict[tuple[str, str], RowUsage]:
        """How often rows (table, key) decided turns since then."""

    def list_empty_values(self, limit: int, /) -> list[EmptyValue]:
        """The gaps in the answers of the newest turns with some; at most `limit` turns are read."""

    def count_stored_turns(self) -> None:
        """Count every stored turn now. Only where none is being stored: a count later may leave that one out."""

    def summarise_week(self) -> WeekSummary:
        """The last seven days beside the seven before."""

    def read_traffic(self, intent: str, days: int, /) -> IntentTraffic:
        """The turns of the last days that moved between states of an intent, into it or out of it."""

    def list_alerts(self) -> Sequence[Alert]:
        """The alerts that are open and not silenced, the newest first."""

    def count_alerts(self) -> int:
        """How many alerts fire now, also silenced ones."""

    def count_release_sides(
        self, first_turn: int, since: datetime, parent_version: int, until: datetime | None, /
    ) -> tuple[SideCounts, SideCounts]:
        """The turns on newer releases than the parent, and the others, while a release was gradual."""

    def rate_row(self, table: str, pk: str, /) -> RowRating | None:
        """The feedback on a row's answers; None without any."""


turn_reports: Callable[[], TurnReports] = partial(conf.load, "TURN_REPORTS")
