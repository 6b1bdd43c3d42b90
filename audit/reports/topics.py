"""The pages of the reports as data: each with its measures, charts and tables. One page draws them all."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from django.db.models import BooleanField
from django.db.models.expressions import RawSQL
from django.utils.text import capfirst

from audit.access_log.write import log_access
from audit.models import CeAccessLog, CeMcpUserFeedback, CeTurnCount
from audit.reports.measures import (
    CONVERSATIONS,
    COST,
    FAILED,
    FAILED_CALLS,
    FORMS_COMPLETED,
    FORMS_STARTED,
    MEAN_TIME,
    MEDIAN_TIME,
    MODEL_CALLS,
    MODEL_FAILURES,
    NEGATIVE,
    NOT_UNDERSTOOD_TURNS,
    OFFERED,
    OUTCOMES,
    P95_TIME,
    POSITIVE,
    RATED,
    SLOW,
    TASK_FAILED,
    TURNS,
    Measure,
    MeasureUnit,
)
from audit.reports.report import Dimension, ReportSelection
from audit.reports.report_request import ReportRequest
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.labels import state_label, step_label
from convengine.engine.turn.rows import DECIDERS, ROW_TYPE_OF
from convengine.engine.turn.scope import ANY
from convengine.server.admin_site.record_columns import find_row_name, get_options, name_intent, row_url
from convengine.server.interfaces.configuration import configuration

_MOST_COMMENTS = 20
#: In the spelling of the partial index, which databases do not recognise with parameters.
_HAS_COMMENT = RawSQL("NOT (comment = '' AND correction = '')", [], output_field=BooleanField())


def build_comments(wanted: ReportRequest) -> dict[str, Any]:
    """The newest comments of the report. Reading them is logged."""
    log_access(wanted.request, CeAccessLog.Kind.SEARCH, search="report of feedback")
    return {"comments": read_comments(wanted.selection)}


def read_comments(selection: ReportSelection) -> list[CeMcpUserFeedback]:
    """The newest comments and corrections, at most 20, without replaced ones. One query by an index."""
    filters: dict[str, Any] = {
        "conversation__workspace_id": selection.workspace,
        "conversation__channel": selection.channel,
        "intent_code": selection.intent,
    }
    given = CeMcpUserFeedback.objects.filter(
        replaced_at=None,
        created_at__gte=selection.since,
        created_at__lt=selection.until,
        **{name: value for name, value in filters.items() if value},
    )
    if selection.release is not None:
        given = given.filter(config_version=selection.release)
    return list(given.filter(_HAS_COMMENT).order_by("-created_at")[:_MOST_COMMENTS])


def _name_all(*measures: Measure) -> frozenset[str]:
    return frozenset(measure.name for measure in measures)


_AS_TURN = (CeTurnCount.TURN, TurnStatus.OK.value)
INTENT = Dimension("intent", "Intent", "Intents", "intent_code")
RELEASE = Dimension("release", "Release", "Releases", "config_version")
CHANNEL = Dimension("channel", "Channel", "Channels", "channel")
STATE = Dimension(
    "state", "State", "States after the turn", kinds={CeTurnCount.STATE: _AS_TURN}, measures=_name_all(TURNS)
)
ERROR = Dimension("error", "Error", "Errors", kinds={CeTurnCount.ERROR: _AS_TURN}, measures=_name_all(TURNS))
UNKNOWN_STATE = Dimension(
    "unknown_state",
    "State",
    "States after the turn",
    kinds={
        CeTurnCount.STATE: _AS_TURN,
        CeTurnCount.NOT_UNDERSTOOD: (CeTurnCount.STAGE, str(NOT_UNDERSTOOD)),
    },
    measures=_name_all(TURNS, NOT_UNDERSTOOD_TURNS),
)
STEP = Dimension(
    "step",
    "Step",
    "Steps",
    kinds={CeTurnCount.STEP: (CeTurnCount.TIME, "")},
    measures=_name_all(TURNS, MEDIAN_TIME, P95_TIME, MEAN_TIME, SLOW),
)
MODEL = Dimension(
    "model",
    "Model",
    "Models",
    kinds={
        CeTurnCount.MODEL: (CeTurnCount.MODEL_CALLS, ""),
        CeTurnCount.MODEL_ERROR: (CeTurnCount.MODEL_ERROR, ""),
        CeTurnCount.MODEL_TIME: (CeTurnCount.TIME, ""),
        CeTurnCount.MODEL_TURN: _AS_TURN,
        CeTurnCount.MODEL_TURN_FAILED: (CeTurnCount.MODEL_FAILED, ""),
    },
    measures=_name_all(TURNS, MODEL_CALLS, FAILED_CALLS, COST, MODEL_FAILURES, MEDIAN_TIME, P95_TIME, SLOW),
)
ANSWER = Dimension(
    "answer",
    "Answer",
    "Answers",
    kinds={
        CeTurnCount.ANSWER_UP: (CeTurnCount.FEEDBACK, CeMcpUserFeedback.Type.THUMBS_UP.value),
        CeTurnCount.ANSWER_DOWN: (CeTurnCount.FEEDBACK, CeMcpUserFeedback.Type.THUMBS_DOWN.value),
    },
    measures=_name_all(POSITIVE, NEGATIVE),
)
#: By name, as API and command call them.
DIMENSIONS: Mapping[str, Dimension] = {
    dimension.name: dimension
    for dimension in (INTENT, RELEASE, CHANNEL, STATE, ERROR, UNKNOWN_STATE, STEP, MODEL, ANSWER)
}


class DimensionWording(NamedTuple):
    """How pages name the groups of a dimension."""

    #: The name of a group.
    name: Callable[[str], str] = str
    #: The filters of the search that lists its turns; None if none does.
    search: Callable[[str], Mapping[str, str]] | None = None
    #: Its own page; blank without one.
    url: Callable[[str], str] | None = None
    #: The names of all groups that there may be, also of those without turns; None if the others are not listed.
    list_names: Callable[[], Set[str]] | None = None


def _filter_by(name: str) -> Callable[[str], Mapping[str, str]]:
    return lambda value: {name: value}


def _name_row(table: str, pk: str) -> str:
    """The name of a row with its intent, because rows of flows are called alike; of one that is gone, its key."""
    row = configuration().latest.find_row(table, pk)
    if row is None:
        options = get_options(table)
        return f"{capfirst(options.verbose_name) if options else table} {pk} (not live any more)"
    intent = getattr(row, "intent_code", None)
    names = [find_row_name(table, pk) or pk, name_intent(intent) if intent and intent != ANY else ""]
    return " · ".join(dict.fromkeys(filter(None, names)))


def _link_row(table: str, pk: str) -> str:
    return row_url(table, pk) if find_row_name(table, pk) else ""


def _split_answer(use: Callable[[str, str], Any]) -> Callable[[str], Any]:
    """A function for an answer, whose value is `table:key`, from one for a table and a key."""
    return lambda value: use(*value.split(":", 1))


def _search_row(table: str, pk: str) -> Mapping[str, str]:
    return {"table": table, "row": pk}


def _list_live_rows(table: str) -> Set[str]:
    return {str(row.pk) for row in configuration().current().enabled_rows(ROW_TYPE_OF[table])}


def _describe_rows(table: str) -> tuple[Dimension, DimensionWording]:
    """The rows of a table, by the turns in which they decided something."""
    options = get_options(table)
    noun, label = capfirst(options.verbose_name), capfirst(options.verbose_name_plural)
    dimension = Dimension(table, noun, label, kinds={table: _AS_TURN}, measures=_name_all(TURNS))
    return dimension, DimensionWording(
        partial(_name_row, table),
        partial(_search_row, table),
        partial(_link_row, table),
        partial(_list_live_rows, table),
    )


_ROWS = dict(map(_describe_rows, DECIDERS))
WORDINGS: Mapping[Dimension, DimensionWording] = {
    INTENT: DimensionWording(name_intent, _filter_by("intent")),
    RELEASE: DimensionWording(search=_filter_by("release")),
    CHANNEL: DimensionWording(search=_filter_by("channel")),
    STATE: DimensionWording(state_label, _filter_by("state")),
    ERROR: DimensionWording(search=_filter_by("error")),
    UNKNOWN_STATE: DimensionWording(state_label, _filter_by("state")),
    STEP: DimensionWording(step_label),
    MODEL: DimensionWording(search=_filter_by("model")),
    ANSWER: DimensionWording(_split_answer(_name_row), _split_answer(_search_row), _split_answer(_link_row)),
    **_ROWS,
}


class BarsOverTime(NamedTuple):
    """Bars of a measure by hour or day, with a part of them marked."""

    name: str
    title: str
    whole: Measure
    part: Measure | None = None

    @property
    def is_part_bad(self) -> bool:
        """A median is a part of the bar, but nothing to worry about."""
        return self.part is not None and self.part.unit != MeasureUnit.MILLISECONDS


@dataclass(frozen=True)
class GroupTable:
    """A table of the groups of a dimension; those with the most of the first measure come first."""

    dimension: Dimension
    measures: Sequence[Measure]
    most: int = 20
    #: True for the days on which a group was first and last counted, too.
    has_days: bool = False


@dataclass(frozen=True, eq=False)
class ReportTopic:
    #: In addresses and names of files.
    name: str
    label: str
    about: str
    measures: Sequence[Measure]
    charts: Sequence[BarsOverTime]
    tables: Sequence[GroupTable]
    #: The template of what this page alone has, and its context.
    extra: str = ""
    build_extra: Callable[[ReportRequest], dict[str, Any]] | None = None
    #: The columns of the table by day; by default all measures. The file has all.
    columns: Sequence[Measure] = ()
    #: What became of the conversations, before all other numbers.
    outcomes: Sequence[Measure] = ()
    #: Numbers that the page folds.
    folded: Sequence[Measure] = ()

    @property
    def title(self) -> str:
        return "Reports" if self.name == "reports" else f"Reports: {self.label.lower()}"

    @property
    def path(self) -> str:
        """Below the first page."""
        return f"{self.name.replace('_', '-')}/"


#: Models and ratings have pages of their own.
_COMMON = (
    *(TURNS, CONVERSATIONS, *OUTCOMES, NOT_UNDERSTOOD_TURNS),
    *(FORMS_COMPLETED, TASK_FAILED, FAILED),
)
_MORE = (FORMS_STARTED, OFFERED, MEAN_TIME, MODEL_CALLS, COST, MODEL_FAILURES, POSITIVE, NEGATIVE)
_OF_ALL = (*_COMMON, *_MORE)
_TIMES = (TURNS, MEDIAN_TIME, P95_TIME, MEAN_TIME, SLOW)
_RATINGS = (NEGATIVE, POSITIVE)
_UNKNOWN = (NOT_UNDERSTOOD_TURNS, TURNS)
OVERVIEW = ReportTopic(
    "reports",
    "Overview",
    "",
    _OF_ALL,
    [BarsOverTime("turns", "Turns", TURNS, NOT_UNDERSTOOD_TURNS)],
    [
        GroupTable(INTENT, _COMMON),
        GroupTable(RELEASE, _COMMON),
        GroupTable(STATE, [TURNS]),
        GroupTable(ERROR, [TURNS], has_days=True),
    ],
    columns=_COMMON,
    outcomes=OUTCOMES,
    folded=_MORE,
)
UNKNOWN = ReportTopic(
    "not_understood",
    "Not understood",
    "Messages that nothing recognised, and where they came.",
    _UNKNOWN,
    [BarsOverTime("not_understood", "Turns not understood", NOT_UNDERSTOOD_TURNS)],
    [
        GroupTable(UNKNOWN_STATE, [NOT_UNDERSTOOD_TURNS]),
        GroupTable(INTENT, _UNKNOWN),
        GroupTable(CHANNEL, _UNKNOWN),
        GroupTable(RELEASE, _UNKNOWN),
    ],
    "audit/report_inbox.html",
)
TIMES = ReportTopic(
    "times",
    "Times",
    "How long turns took, and in which steps. Durations are counted in ranges, so that a median is off by an eighth at"
    " most. A step that took less than a millisecond counts as 0 ms, as in a turn that did not come to it.",
    _TIMES,
    [BarsOverTime("times", "Time of a turn in milliseconds", P95_TIME, MEDIAN_TIME)],
    [
        GroupTable(STEP, (P95_TIME, MEDIAN_TIME, MEAN_TIME, SLOW), 10),
        GroupTable(INTENT, _TIMES),
        GroupTable(RELEASE, _TIMES),
    ],
)
MODELS = ReportTopic(
    "models",
    "Models",
    "Calls of models within turns, what they cost, and which failed. A model is named with its connection. "
    "The cost is that of models with a price; the others count as 0.",
    (MODEL_CALLS, FAILED_CALLS, COST, MODEL_FAILURES),
    [BarsOverTime("calls", "Model calls", MODEL_CALLS, FAILED_CALLS), BarsOverTime("cost", "Model cost", COST)],
    [
        GroupTable(MODEL, (MODEL_CALLS, FAILED_CALLS, COST, MEDIAN_TIME, P95_TIME, TURNS, MODEL_FAILURES)),
        GroupTable(INTENT, (MODEL_CALLS, FAILED_CALLS, COST, MODEL_FAILURES)),
        GroupTable(RELEASE, (MODEL_CALLS, FAILED_CALLS, COST, MODEL_FAILURES)),
    ],
)
FEEDBACK = ReportTopic(
    "ratings",
    "Feedback",
    "Turns that users or colleagues rated. A turn with both thumbs counts for both.",
    (TURNS, POSITIVE, NEGATIVE),
    [BarsOverTime("ratings", "Rated turns", RATED, NEGATIVE)],
    [GroupTable(ANSWER, _RATINGS), GroupTable(INTENT, _RATINGS), GroupTable(RELEASE, _RATINGS)],
    "audit/report_comments.html",
    build_comments,
)
ROWS = ReportTopic(
    "rows",
    "Rows",
    "Rows of the live configuration that decided something in these turns, and those that did not. A row that is new in"
    " this period had less time than others.",
    (TURNS,),
    [],
    [GroupTable(dimension, [TURNS], 200) for dimension in _ROWS],
)
TOPICS = (OVERVIEW, UNKNOWN, TIMES, MODELS, FEEDBACK, ROWS)
