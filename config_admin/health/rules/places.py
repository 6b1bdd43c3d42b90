"""Where two rules can meet: intents and states that both admit, those first that their conditions speak of."""

from collections.abc import Iterable, Iterator
from itertools import islice

from config_admin.health.rules.branching import branches
from config_admin.health.rules.claims import FactClaim
from config_admin.health.rules.scene import Stage
from config_admin.validation import relations
from convengine.domain import rows
from convengine.domain.enums import RulePhase
from convengine.domain.scope import ANY, IDLE, UNKNOWN
from convengine.domain.text import code
from convengine.rules.json_path.nodes import Compare, Literal

#: How many are tried where anything goes.
MAX_PLACES, _MOST_EACH = 8, 4


def meeting(stage: Stage, phase: RulePhase, *rules: rows.Rule) -> tuple[tuple[str, str], ...]:
    """Intents and states in which all the rules are looked at; none where their scopes do not meet."""
    intents = _common(code(rule.intent_code) for rule in rules)
    states = _common(code(rule.state_code) for rule in rules)
    if intents is None or states is None or not stage.snapshot.is_active(intents):
        return ()
    known = stage.snapshot.known_states
    chosen = [intents] if intents != ANY else list(_intents(stage, phase, rules))
    found = (
        (intent, state)
        for intent in chosen
        for state in ([states] if states != ANY else _states(stage, intent, rules))
        if state in known
    )
    return tuple(islice(found, MAX_PLACES))


def _common(codes: Iterable[str]) -> str | None:
    """The code that all of them admit, ANY for any; null when there is none."""
    concrete = {one for one in codes if one != ANY}
    return ANY if not concrete else concrete.pop() if len(concrete) == 1 else None


def _intents(stage: Stage, phase: RulePhase, rules: Iterable[rows.Rule]) -> Iterator[str]:
    snapshot = stage.snapshot
    named = [name for name in _named("intent", rules) if snapshot.is_active(name)]
    of_rows: list[str] = []
    if phase == RulePhase.POST_CLASSIFIER_INTENT:
        of_rows = [code(row.intent_code) for row in snapshot.enabled(rows.Classifier)]
    elif phase == RulePhase.POST_SCHEMA_EXTRACTION:
        of_rows = [code(row.intent_code) for row in snapshot.enabled(rows.OutputSchema)]
    usual = [code(intent.intent_code) for intent in islice(snapshot.allowed_intents, _MOST_EACH)]
    found = dict.fromkeys((*named, *of_rows, *usual, UNKNOWN))
    yield from islice((name for name in found if snapshot.is_active(name) and name != ANY), _MOST_EACH)


def _states(stage: Stage, intent: str, rules: Iterable[rows.Rule]) -> Iterator[str]:
    forms = relations.of_intent(stage.snapshot, rows.OutputSchema, intent)
    of_rows = [code(row.state_code) for row in forms if code(row.state_code) != ANY]
    yield from islice(dict.fromkeys((*_named("state", rules), *of_rows, IDLE, UNKNOWN)), _MOST_EACH)


def _named(fact: str, rules: Iterable[rows.Rule]) -> Iterator[str]:
    """The codes that conditions compare the fact with."""
    for rule in rules:
        for branch in branches(rule):
            for claim in branch:
                if isinstance(claim, FactClaim) and (fact,) in claim.places:
                    yield from _codes(claim)


def _codes(claim: FactClaim) -> Iterator[str]:
    if isinstance(claim.condition, Compare):
        for operand in (claim.condition.left, claim.condition.right):
            values = operand.value if isinstance(operand, Literal) else ()
            yield from (code(one) for one in (values if isinstance(values, list) else [values]) if isinstance(one, str))
