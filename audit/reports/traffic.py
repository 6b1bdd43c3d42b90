"""The traffic of an intent: how many turns went from state to state, and how many did not go on."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from django.db.models import Q

from audit.models import CeTurnCount
from audit.record.days import choose_days
from audit.record.milestones import Milestone
from audit.reports.report import ReportSelection, sum_values
from convengine.server.database.sql import database_time
from convengine.server.interfaces.turn_reports import IntentTraffic, StateMove, StateVisits


def read_traffic(intent: str, days: int) -> IntentTraffic:
    """The moves that begin or end in an intent, most frequent first, and the visits of its states. Two queries.

    Today is one of the days.
    """
    selection = ReportSelection(*choose_days(days, database_time()))
    moves = sorted(_list_moves(selection, intent), key=lambda move: (-move.turns, move.state_before, move.state))
    return IntentTraffic(moves, read_visits(selection, [intent]).get(intent, []))


def read_visits(selection: ReportSelection, intents: Iterable[str]) -> dict[str, list[StateVisits]]:
    """The visits of the states of some intents, the most entered first. One query."""
    wanted = Q(kind__in=(CeTurnCount.ENTERED, CeTurnCount.EXITED), intent_code__in=list(intents))
    counts = sum_values(selection, wanted, "intent_code", "value", "kind")
    visits: dict[str, list[StateVisits]] = defaultdict(list)
    for intent, state in sorted({(intent, state) for intent, state, _ in counts}):
        entered, exited = (counts.get((intent, state, kind), 0) for kind in (CeTurnCount.ENTERED, CeTurnCount.EXITED))
        filters = {"milestone": Milestone.ENTERED.value, "intent": intent, "state": state}
        visits[intent].append(StateVisits(state, entered, exited, selection.search_url(**filters) if entered else ""))
    return {intent: sorted(of_intent, key=lambda visit: -visit.entered) for intent, of_intent in visits.items()}


def _list_moves(selection: ReportSelection, intent: str) -> Iterator[StateMove]:
    """The moves between states that begin or end in an intent, each with its search. One query."""
    wanted = Q(intent_code=intent) | Q(value__startswith=f"{intent}{CeTurnCount.SEPARATOR}")
    counts = sum_values(selection, Q(kind=CeTurnCount.MOVED) & wanted, "intent_code", "value")
    for (after, value), turns in counts.items():
        before, state_before, state = value.split(CeTurnCount.SEPARATOR)
        filters = {"milestone": Milestone.ENTERED.value, "intent": after, "state": state}
        filters |= {"intent_before": before, "state_before": state_before}
        yield StateMove(before, state_before, after, state, turns, selection.search_url(**filters))
