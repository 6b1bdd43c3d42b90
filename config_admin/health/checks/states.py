"""States that nothing leads to, states without an answer, answers that are never given (tables 10)."""

from collections.abc import Iterator
from itertools import islice

from config_admin.health.checks.collisions import make_witness
from config_admin.health.checks.words import scope_name
from config_admin.health.diagnosis import Diagnosis, Witness, make_diagnosis
from config_admin.health.reachability import ReachableStates, find_reachable_states, is_reachable
from config_admin.health.rules.phases import SOURCES
from config_admin.health.rules.scopes import find_shared_scopes
from config_admin.health.rules.simulator import simulate_phase
from config_admin.health.rules.solve import Wanted, sample_turns
from config_admin.health.survey import Survey
from config_admin.validation import relations
from config_admin.validation.findings import Severity
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.steps.responses.choose_row import choose_response
from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import RuleAction, read_phase
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, BUILT_IN_STATES, INTENT_COLLISION, UNKNOWN, scope_key

#: Maximum rules that lead to a state to examine, and turns to simulate for each.
MAX_LEADING, MAX_PLAYED = 10, 6
_SCOPED: tuple[type[Row], ...] = (
    rows.Rule,
    rows.Response,
    rows.PromptTemplate,
    rows.OutputSchema,
    rows.PendingAction,
    rows.ContainerConfig,
    rows.DirectTool,
)


def find_unreachable_states(survey: Survey) -> Iterator[Diagnosis]:
    """Every state that has rows but that nothing leads to."""
    waiting: dict[tuple[str, str], list[Row]] = {}
    for row_type in _SCOPED:
        for row in survey.snapshot.enabled_rows(row_type):
            scope = scope_key(row)
            if (
                survey.is_near(scope[0])
                and survey.snapshot.is_active(scope[0])
                and not is_reachable(survey.snapshot, *scope)
            ):
                waiting.setdefault(scope, []).append(row)
    for (intent, state), members in sorted(waiting.items()):
        if survey.is_touched(*members):
            yield make_diagnosis(
                "UNREACHABLE_STATE",
                Severity.WARNING,
                members[0],
                (
                    f"{_count_rows(len(members))} for {scope_name(intent, state)}, and no rule, phrase or state graph "
                    "edge leads there."
                ),
                "No conversation reaches this state, so its rows are never used.",
                others=members[1:],
                field="state_code",
            )


def _count_rows(count: int) -> str:
    return "There is a row" if count == 1 else f"There are {count} rows"


def find_unanswered_states(survey: Survey) -> Iterator[Diagnosis]:
    """Every state of an intent without an answer that the engine reached in a simulated turn."""
    snapshot = survey.snapshot
    resetting = live_settings.read(snapshot, RESET_INTENT_CODES).value
    for intent, states in sorted(find_reachable_states(snapshot).items()):
        if not survey.is_near(intent) or intent in (*resetting, UNKNOWN):
            continue
        for state in sorted(states - BUILT_IN_STATES):
            if choose_response(snapshot, intent, state).winner is None and not survey.late("states"):
                yield from _report_unanswered_state(survey, intent, state)


def _report_unanswered_state(survey: Survey, intent: str, state: str) -> Iterator[Diagnosis]:
    for row in _list_leading_rows(survey, intent, state):
        by_rule = isinstance(row, rows.Rule)
        witness = _simulate_arrival(survey, row, intent, state) if isinstance(row, rows.Rule) else None
        if by_rule and witness is None:
            continue
        yield make_diagnosis(
            "STATE_WITHOUT_RESPONSE",
            Severity.WARNING,
            row,
            f"This leads to {scope_name(intent, state)}, which has no answer.",
            "The turn fails with RESPONSE_MAPPING_NOT_FOUND, and the customer gets no answer.",
            witness=witness,
        )
        return


def _simulate_arrival(survey: Survey, rule: rows.Rule, intent: str, state: str) -> Witness | None:
    """A simulated turn after which the rules of the phase have left the conversation there."""
    phase = read_phase(rule.phase)
    if phase is None or phase not in SOURCES:
        return None
    known = find_shared_scopes(survey.simulator, phase, rule)
    moves = code(rule.action) == RuleAction.SET_STATE and code(rule.intent_code) == ANY
    where = dict.fromkeys((intent, known_state) for _, known_state in known) if moves else known
    for sample in islice(sample_turns(survey.simulator, phase, where, [Wanted(rule)]), MAX_PLAYED):
        end = simulate_phase(sample.session, phase, survey.harmless).end
        if (end.intent, end.state) == (intent, state):
            return make_witness(sample)
    return None


def _list_leading_rows(survey: Survey, intent: str, state: str) -> Iterator[Row]:
    """Rules that may lead there, and phrases that do."""
    by_target = survey.snapshot.index(rows.Rule, _get_target, relations.rank)
    for rule in islice(by_target.get((RuleAction.SET_STATE, state), ()), MAX_LEADING):
        if survey.active(rule) and relations.scope_fits(code(rule.intent_code), intent):
            yield rule
    for rule in islice(by_target.get((RuleAction.SET_INTENT, intent), ()), MAX_LEADING):
        if survey.active(rule) and relations.scope_fits(code(rule.state_code), state):
            yield rule
    for row in relations.find_rows_of_intent(survey.snapshot, rows.Classifier, intent):
        if code(row.state_code) == state:
            yield row


def _get_target(rule: rows.Rule) -> tuple[str, str]:
    """The action of a rule, and its target if it moves."""
    return code(rule.action), code(rule.action_value)


def find_unused_responses(survey: Survey) -> Iterator[Diagnosis]:
    """Every answer that a closer one replaces in each state."""
    reachable = find_reachable_states(survey.snapshot)
    for row in survey.of(rows.Response):
        scope = scope_key(row)
        if not survey.snapshot.is_active(scope[0]) or not is_reachable(survey.snapshot, *scope):
            continue
        covering = _find_covering(survey, row, reachable)
        if covering:
            names = ", ".join(str(response.pk) for response in covering[:5])
            yield make_diagnosis(
                "RESPONSE_NEVER_USED",
                Severity.WARNING,
                row,
                (
                    f"This answer for {scope_name(*scope)} is never used. A more specific or earlier answer is always "
                    f"used instead ({names}{', …' if len(covering) > 5 else ''})."
                ),
                "The customer never sees this text, even if it is changed.",
                others=covering,
            )


def _find_covering(survey: Survey, row: rows.Response, reachable: ReachableStates) -> list[rows.Response]:
    """The rows that win instead; none if it wins somewhere."""
    intent, state = scope_key(row)
    winners: dict[int, rows.Response] = {}
    for intent_code in [intent] if intent != ANY else sorted(reachable):
        for where in [state] if state != ANY else sorted(reachable.get(intent_code, ())):
            # A question of the engine answers an intent collision.
            if where == INTENT_COLLISION or where not in reachable.get(intent_code, ()):
                continue
            winner = choose_response(survey.snapshot, intent_code, where).winner
            if winner is None or winner.response_id == row.response_id:
                return []
            winners[winner.response_id] = winner
    return list(winners.values())
