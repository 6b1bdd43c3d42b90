"""States that nothing leads to or out of, states without an answer, answers that are never given."""

from collections.abc import Iterator, Mapping
from itertools import islice

from config_admin.health.diagnosis import Diagnosis, Witness, make_diagnosis
from config_admin.health.player import PlayedRules
from config_admin.health.reachability import ReachableStates, find_reachable_states, is_reachable
from config_admin.health.rules.effects import scope_name
from config_admin.health.rules.scopes import find_shared_scopes
from config_admin.health.survey import Survey
from config_admin.health.witnesses import WitnessTurn, find_turn, find_turn_of_phrase, needs_model
from config_admin.validation import relations
from config_admin.validation.draft import Severity
from convengine.engine.errors import ResponseMappingNotFound
from convengine.engine.rules.choice import choose_response
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.text.compare import blank, code
from convengine.engine.text.several_texts import split_texts
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import RuleAction, read_phase
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, BUILT_IN_STATES, INTENT_COLLISION, UNKNOWN, scope_key

#: Maximum rules that lead to a state to examine.
MAX_LEADING = 10
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
            counted = "There is a row" if len(members) == 1 else f"There are {len(members)} rows"
            yield make_diagnosis(
                "UNREACHABLE_STATE",
                Severity.WARNING,
                members[0],
                f"{counted} for {scope_name(intent, state)}, and no rule, phrase or state graph edge leads there.",
                "No conversation reaches this state, so its rows are never used.",
                others=members[1:],
                field="state_code",
            )


def find_unanswered_states(survey: Survey) -> Iterator[Diagnosis]:
    """Every state of an intent without an answer in which a turn ended."""
    snapshot = survey.snapshot
    resetting = live_settings.read(snapshot, RESET_INTENT_CODES).value
    for intent, states in sorted(find_reachable_states(snapshot).items()):
        if not survey.is_near(intent) or intent in (*resetting, UNKNOWN):
            continue
        for state in sorted(states - BUILT_IN_STATES):
            if choose_response(snapshot, intent, state).winner is None and not survey.must_skip("states"):
                yield from _report_unanswered_state(survey, intent, state)


def _report_unanswered_state(survey: Survey, intent: str, state: str) -> Iterator[Diagnosis]:
    """The first row with a turn that ends there; else, as a hint, one that leads there in a turn that is not played."""
    unproven: Row | None = None
    for row in _list_leading_rows(survey, intent, state):
        shown = _find_arrival(survey, row, intent, state)
        if shown is not None:
            yield _report_arrival(row, intent, state, shown.witness)
            return
        if needs_model(row) and survey.player.world.model_configured:
            unproven = unproven or row
    if unproven is not None:
        yield _report_arrival(unproven, intent, state, None)


def _report_arrival(row: Row, intent: str, state: str, witness: Witness | None) -> Diagnosis:
    """The finding for a row that leads to a state without an answer. Without a witness it is marked as unproven."""
    unproven = "" if witness else " No turn was found that ends there."
    return make_diagnosis(
        "STATE_WITHOUT_RESPONSE",
        Severity.WARNING,
        row,
        f"This leads to {scope_name(intent, state)}, which has no answer.{unproven}",
        "The turn fails with RESPONSE_MAPPING_NOT_FOUND, and the customer gets no answer.",
        witness=witness,
        is_unproven=witness is None,
    )


def _find_arrival(survey: Survey, row: Row, intent: str, state: str) -> WitnessTurn | None:
    """A turn that the row leads to the state, and that fails there for want of an answer.

    Returns None if none is found, and for rows that are neither phrases nor rules.
    """

    def fails_there(played: PlayedRules) -> bool:
        is_there = (played.end.intent, played.end.state) == (intent, state)
        return is_there and played.error == ResponseMappingNotFound.code

    if isinstance(row, rows.Classifier):
        return find_turn_of_phrase(survey.player, row, fails_there)
    phase = read_phase(row.phase) if isinstance(row, rows.Rule) else None
    if not isinstance(row, rows.Rule) or phase is None:
        return None
    known = find_shared_scopes(survey.snapshot, phase, row)
    moves = code(row.action) == RuleAction.SET_STATE and code(row.intent_code) == ANY
    where = [*dict.fromkeys((intent, known_state) for _, known_state in known)] if moves else known
    return find_turn(survey.player, phase, where, (row,), fails_there)


def _list_leading_rows(survey: Survey, intent: str, state: str) -> Iterator[Row]:
    """Rules that may lead there and phrases that do; at most `MAX_LEADING` rules for each kind of move."""
    by_target = survey.snapshot.index(rows.Rule, _get_target, relations.rank)
    for rule in islice(by_target.get((RuleAction.SET_STATE, state), ()), MAX_LEADING):
        if survey.is_active(rule) and relations.scope_fits(code(rule.intent_code), intent):
            yield rule
    for rule in islice(by_target.get((RuleAction.SET_INTENT, intent), ()), MAX_LEADING):
        if survey.is_active(rule) and relations.scope_fits(code(rule.state_code), state):
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
                f"This answer for {scope_name(*scope)} is never used. A more specific or earlier answer is always used "
                f"instead ({names}{', …' if len(covering) > 5 else ''}).",
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


#: Tables whose rows can end a form's turn: something happens when the form is complete.
_LEADING_ON: tuple[type[Row], ...] = (rows.PendingAction, rows.DirectTool, rows.Planner)


def find_forms_without_exit(survey: Survey) -> Iterator[Diagnosis]:
    """A form that nothing leads out of: no rule, no action, no tool, and no answer that differs when it is complete."""
    for schema in survey.of(rows.OutputSchema):
        intent, state = scope_key(schema)
        required = schema.json_schema.get("required") if isinstance(schema.json_schema, Mapping) else None
        if not required or not survey.snapshot.is_active(intent) or _has_exit(survey, intent, state):
            continue
        yield make_diagnosis(
            "FORM_WITHOUT_EXIT",
            Severity.WARNING,
            schema,
            f"Nothing leads out of this form in {scope_name(intent, state)}: no rule moves on, and no action or tool "
            "runs. Add a rule for the complete form, and one for a customer who gives up.",
            "When all fields are known, the customer gets the same answer again and again.",
        )


def _has_exit(survey: Survey, intent: str, state: str) -> bool:
    """True when a row or a rule leads on from a state, or its answer is not a fixed text."""
    for row_type in _LEADING_ON:
        if any(relations.find_rows_sharing_scope(survey.snapshot, row_type, intent, state)):
            return True
    rules = relations.find_rows_sharing_scope(survey.snapshot, rows.Rule, intent, state)
    if any((code(rule.action), code(rule.action_value)) != (RuleAction.SET_STATE, state) for rule in rules):
        return True
    answers = relations.find_rows_sharing_scope(survey.snapshot, rows.Response, intent, state)
    texts = (text for answer in answers for text in split_texts(answer.exact_text or ""))
    return any(blank(text) or "{%" in text for text in texts)
