"""States that nothing leads to, states without an answer, answers that are never given (tables 10)."""

from collections.abc import Iterator

from config_admin.health.checks.words import scope_name
from config_admin.health.diagnosis import Diagnosis, diagnosis
from config_admin.health.reach import Reach, reach, reaches
from config_admin.health.survey import Survey
from config_admin.validation import relations
from config_admin.validation.findings import Severity
from convengine.domain import rows, settings
from convengine.domain.catalogue.intents import RESET_INTENT_CODES
from convengine.domain.rows import Row
from convengine.domain.scope import ANY, BUILT_IN_STATES, INTENT_COLLISION, UNKNOWN
from convengine.domain.text import code
from convengine.responses.select import choose_response

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
    """Every state of an intent that something leads to and that no response row answers."""
    snapshot = survey.snapshot
    resetting = settings.read(snapshot, RESET_INTENT_CODES).value
    for intent, states in sorted(reach(snapshot).items()):
        if not survey.is_near(intent) or intent in (*resetting, UNKNOWN):
            continue
        open_ = [state for state in sorted(states) if state not in BUILT_IN_STATES]
        for state in open_:
            if choose_response(snapshot, intent, state).winner is None:
                yield _unanswered(survey, intent, state)


def _unanswered(survey: Survey, intent: str, state: str) -> Diagnosis:
    leading = list(_leading(survey, intent, state))
    return diagnosis(
        "STATE_WITHOUT_RESPONSE",
        Severity.WARNING,
        leading[0] if leading else survey.snapshot.row(rows.Intent, intent),
        f"{scope_name(intent, state)} can be come to, and no response row can answer there.",
        "The turn ends with the error RESPONSE_MAPPING_NOT_FOUND, and the customer gets no answer.",
        others=leading[1:],
    )


def _leading(survey: Survey, intent: str, state: str) -> Iterator[Row]:
    by_target = survey.snapshot.index(rows.Rule, _target, relations.rank)
    for rule in by_target.get(state, ()):
        if survey.active(rule) and relations.scope_fits(code(rule.intent_code), intent):
            yield rule
    for row in relations.of_intent(survey.snapshot, rows.Classifier, intent):
        if code(row.state_code) == state:
            yield row


def _target(rule: rows.Rule) -> str | None:
    """The state that a rule moves to; null for one that moves to none."""
    return code(rule.action_value) if code(rule.action) == "SET_STATE" else None


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
