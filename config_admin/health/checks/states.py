"""States that nothing leads to, states without an answer, answers that are never given (tables 10)."""

from collections.abc import Iterator
from itertools import islice

from config_admin.health.checks.words import scope_name
from config_admin.health.diagnosis import Diagnosis, diagnosis
from config_admin.health.reach import Reach, reach, reaches
from config_admin.health.rules import dry
from config_admin.health.rules.collide import witness
from config_admin.health.rules.phases import SOURCES
from config_admin.health.rules.places import meeting
from config_admin.health.rules.solve import Wanted, moments
from config_admin.health.survey import Survey
from config_admin.health.witness import Witness
from config_admin.validation import relations
from config_admin.validation.findings import Severity
from convengine.domain import rows, settings
from convengine.domain.catalogue.intents import RESET_INTENT_CODES
from convengine.domain.enums import RuleAction, phase_of
from convengine.domain.rows import Row
from convengine.domain.scope import ANY, BUILT_IN_STATES, INTENT_COLLISION, UNKNOWN
from convengine.domain.text import code
from convengine.responses.select import choose_response

#: Rules that are looked at as leading to a state, and moments of each that are played.
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


def unreached(survey: Survey) -> Iterator[Diagnosis]:
    """Every state that rows are for and nothing leads to, with those rows."""
    waiting: dict[tuple[str, str], list[Row]] = {}
    for row_type in _SCOPED:
        for row in survey.snapshot.enabled(row_type):
            scope = relations.scope_key(row)
            if (
                survey.is_near(scope[0])
                and survey.snapshot.is_active(scope[0])
                and not reaches(survey.snapshot, *scope)
            ):
                waiting.setdefault(scope, []).append(row)
    for (intent, state), members in sorted(waiting.items()):
        if survey.is_touched(*members):
            yield diagnosis(
                "UNREACHABLE_STATE",
                Severity.WARNING,
                members[0],
                f"{_rows(len(members))} for {scope_name(intent, state)}, and no rule, classifier or edge leads there.",
                "No conversation comes to this state, so the customer never meets what was written for it.",
                others=members[1:],
                field="state_code",
            )


def _rows(count: int) -> str:
    return "There is a row" if count == 1 else f"There are {count} rows"


def unanswered(survey: Survey) -> Iterator[Diagnosis]:
    """Every state of an intent that no response row answers, where the engine was seen to come to it."""
    snapshot = survey.snapshot
    resetting = settings.read(snapshot, RESET_INTENT_CODES).value
    for intent, states in sorted(reach(snapshot).items()):
        if not survey.is_near(intent) or intent in (*resetting, UNKNOWN):
            continue
        for state in sorted(states - BUILT_IN_STATES):
            if choose_response(snapshot, intent, state).winner is None and not survey.late("states"):
                yield from _unanswered(survey, intent, state)


def _unanswered(survey: Survey, intent: str, state: str) -> Iterator[Diagnosis]:
    for row in _leading(survey, intent, state):
        by_rule = isinstance(row, rows.Rule)
        shown = _come_to(survey, row, intent, state) if isinstance(row, rows.Rule) else None
        if by_rule and shown is None:
            continue
        yield diagnosis(
            "STATE_WITHOUT_RESPONSE",
            Severity.WARNING,
            row,
            f"This leads to {scope_name(intent, state)}, and no response row can answer there.",
            "The turn ends with the error RESPONSE_MAPPING_NOT_FOUND, and the customer gets no answer.",
            witness=shown,
        )
        return


def _come_to(survey: Survey, rule: rows.Rule, intent: str, state: str) -> Witness | None:
    """A moment after which the rules of the phase have left the conversation there."""
    phase = phase_of(rule.phase)
    if phase is None or phase not in SOURCES:
        return None
    known = meeting(survey.stage, phase, rule)
    moves = code(rule.action) == RuleAction.SET_STATE and code(rule.intent_code) == ANY
    where = dict.fromkeys((intent, one) for _, one in known) if moves else known
    for found in islice(moments(survey.stage, phase, where, [Wanted(rule)]), MAX_PLAYED):
        end = dry.play(found.session, phase, survey.harmless).end
        if (end.intent, end.state) == (intent, state):
            return witness(found)
    return None


def _leading(survey: Survey, intent: str, state: str) -> Iterator[Row]:
    """Rules that may lead there, and classifiers that do."""
    by_target = survey.snapshot.index(rows.Rule, _target, relations.rank)
    for rule in islice(by_target.get((RuleAction.SET_STATE, state), ()), MAX_LEADING):
        if survey.active(rule) and relations.scope_fits(code(rule.intent_code), intent):
            yield rule
    for rule in islice(by_target.get((RuleAction.SET_INTENT, intent), ()), MAX_LEADING):
        if survey.active(rule) and relations.scope_fits(code(rule.state_code), state):
            yield rule
    for row in relations.of_intent(survey.snapshot, rows.Classifier, intent):
        if code(row.state_code) == state:
            yield row


def _target(rule: rows.Rule) -> tuple[str, str]:
    """What a rule does, and where it leads if it moves."""
    return code(rule.action), code(rule.action_value)


def unused_responses(survey: Survey) -> Iterator[Diagnosis]:
    """Every response row that a closer one covers in each state that it could answer in."""
    found = reach(survey.snapshot)
    for row in survey.of(rows.Response):
        scope = relations.scope_key(row)
        if not survey.snapshot.is_active(scope[0]) or not reaches(survey.snapshot, *scope):
            continue
        covering = _covering(survey, row, found)
        if covering:
            names = ", ".join(str(one.pk) for one in covering[:5])
            yield diagnosis(
                "RESPONSE_NEVER_USED",
                Severity.WARNING,
                row,
                f"This answer for {scope_name(*scope)} is never given: wherever it could be, a closer or earlier row "
                f"answers ({names}{', …' if len(covering) > 5 else ''}).",
                "The customer never reads this text, whatever is changed in it.",
                others=covering,
            )


def _covering(survey: Survey, row: rows.Response, found: Reach) -> list[rows.Response]:
    """The rows that win in its stead; none when it wins somewhere."""
    intent, state = relations.scope_key(row)
    winners: dict[int, rows.Response] = {}
    for one in [intent] if intent != ANY else sorted(found):
        for where in [state] if state != ANY else sorted(found.get(one, ())):
            # A collision of intents is answered by a question of the engine's own.
            if where == INTENT_COLLISION or where not in found.get(one, ()):
                continue
            winner = choose_response(survey.snapshot, one, where).winner
            if winner is None or winner.response_id == row.response_id:
                return []
            winners[winner.response_id] = winner
    return list(winners.values())
