"""The traffic of an intent: how many turns went from state to state, and how many did not go on."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from django.db.models import Q

from audit.models import CeTurnCount
from audit.record.milestones import Milestone
from audit.reports.report import Selection, choose_days, sum_values
from audit.reports.report_request import build_url
from convengine.server.database.sql import database_time
from convengine.server.interfaces.turn_reports import IntentTraffic, StateMove, StateVisits


def read_traffic(intent: str, days: int) -> IntentTraffic:
    """The moves that begin or end in an intent, most frequent first, and the visits of its states. Two queries.

    Today is one of the days.
    """
    selection = Selection(*choose_days(days, database_time()))
    moves = sorted(_list_moves(selection, intent), key=lambda move: (-move.turns, move.state_before, move.state))
    return IntentTraffic(moves, read_visits(selection, intent).get(intent, []))


def read_visits(selection: Selection, intent: str = "") -> dict[str, list[StateVisits]]:
    """The visits of the states of each intent, or of one, the most entered first. One query."""
    kinds = Q(kind__in=(CeTurnCount.ENTERED, CeTurnCount.EXITED)) & (Q(intent_code=intent) if intent else Q())
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for (kind, of_intent, state), turns in sum_values(selection, kinds, "kind", "intent_code", "value").items():
        counts[of_intent, state][kind] = turns
    visits: dict[str, list[StateVisits]] = defaultdict(list)
    for (of_intent, state), by_kind in sorted(counts.items(), key=lambda item: -item[1].get(CeTurnCount.ENTERED, 0)):
        visits[of_intent].append(_build_visits(selection, of_intent, state, by_kind))
    return visits


def _list_moves(selection: Selection, intent: str) -> Iterator[StateMove]:
    wanted = Q(intent_code=intent) | Q(value__startswith=f"{intent}{CeTurnCount.SEPARATOR}")
    counts = sum_values(selection, Q(kind=CeTurnCount.MOVED) & wanted, "intent_code", "value")
    for (after, value), turns in counts.items():
        before, state_before, state = value.split(CeTurnCount.SEPARATOR)
        filters = {"milestone": Milestone.ENTERED.value, "intent": after, "state": state}
        filters |= {"intent_before": before, "state_before": state_before}
        yield StateMove(before, state_before, after, state, turns, build_url(selection, None, filters))


def _build_visits(selection: Selection, intent: str, state: str, counts: Mapping[str, int]) -> StateVisits:
    entered, exited = (counts.get(kind, 0) for kind in (CeTurnCount.ENTERED, CeTurnCount.EXITED))
    filters = {"milestone": Milestone.ENTERED.value, "intent": intent, "state": state}
    return StateVisits(state, entered, exited, build_url(selection, None, filters) if entered else "")
