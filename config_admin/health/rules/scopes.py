"""The scopes in which two rules can meet, those first that their conditions name."""

from collections.abc import Iterable, Iterator
from itertools import islice

from config_admin.health.rules.claims import FactClaim, split_condition
from config_admin.health.rules.simulator import TurnSimulator
from config_admin.validation import relations
from convengine.engine.rules.json_path.nodes import Compare, Literal
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.scope import ANY, IDLE, UNKNOWN

#: Maximum scopes to try if anything is possible.
MAX_SCOPES, _MOST_EACH = 8, 4


def find_shared_scopes(simulator: TurnSimulator, phase: RulePhase, *rules: rows.Rule) -> tuple[tuple[str, str], ...]:
    """Intents and states in which all the rules are tested; none if their scopes do not overlap."""
    intents = _common_code(code(rule.intent_code) for rule in rules)
    states = _common_code(code(rule.state_code) for rule in rules)
    if intents is None or states is None or not simulator.snapshot.is_active(intents):
        return ()
    known = simulator.snapshot.known_states
    chosen = [intents] if intents != ANY else list(_list_intents(simulator, phase, rules))
    scopes = (
        (intent, state)
        for intent in chosen
        for state in ([states] if states != ANY else _list_states(simulator, intent, rules))
        if state in known
    )
    return tuple(islice(scopes, MAX_SCOPES))


def _common_code(codes: Iterable[str]) -> str | None:
    """The code that all of them match, ANY for any; null when there is none."""
    concrete = {scope_code for scope_code in codes if scope_code != ANY}
    return ANY if not concrete else concrete.pop() if len(concrete) == 1 else None


def _list_intents(simulator: TurnSimulator, phase: RulePhase, rules: Iterable[rows.Rule]) -> Iterator[str]:
    snapshot = simulator.snapshot
    named = [name for name in _compared_codes("intent", rules) if snapshot.is_active(name)]
    of_rows: list[str] = []
    if phase == RulePhase.POST_CLASSIFIER_INTENT:
        of_rows = [code(row.intent_code) for row in snapshot.enabled_rows(rows.Classifier)]
    elif phase == RulePhase.POST_SCHEMA_EXTRACTION:
        of_rows = [code(row.intent_code) for row in snapshot.enabled_rows(rows.OutputSchema)]
    usual = [code(intent.intent_code) for intent in islice(snapshot.allowed_intents, _MOST_EACH)]
    candidates = dict.fromkeys((*named, *of_rows, *usual, UNKNOWN))
    yield from islice((name for name in candidates if snapshot.is_active(name) and name != ANY), _MOST_EACH)


def _list_states(simulator: TurnSimulator, intent: str, rules: Iterable[rows.Rule]) -> Iterator[str]:
    forms = relations.find_rows_of_intent(simulator.snapshot, rows.OutputSchema, intent)
    of_rows = [code(row.state_code) for row in forms if code(row.state_code) != ANY]
    yield from islice(dict.fromkeys((*_compared_codes("state", rules), *of_rows, IDLE, UNKNOWN)), _MOST_EACH)


def _compared_codes(fact: str, rules: Iterable[rows.Rule]) -> Iterator[str]:
    """The codes that conditions compare the fact with."""
    for rule in rules:
        for branch in split_condition(rule):
            for claim in branch:
                if isinstance(claim, FactClaim) and (fact,) in claim.paths:
                    yield from _list_codes(claim)


def _list_codes(claim: FactClaim) -> Iterator[str]:
    if isinstance(claim.condition, Compare):
        for operand in (claim.condition.left, claim.condition.right):
            values = operand.value if isinstance(operand, Literal) else ()
            yield from (
                code(value) for value in (values if isinstance(values, list) else [values]) if isinstance(value, str)
            )
