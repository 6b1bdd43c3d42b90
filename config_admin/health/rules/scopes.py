"""The scopes in which two rules can meet, those first that their conditions name."""

from collections.abc import Iterable, Iterator
from itertools import islice

from config_admin.health.rules.mentions import list_mentions
from config_admin.validation import relations
from config_admin.validation.rule_effects import get_target_state
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.scope import ANY, IDLE, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot

#: Maximum scopes to try if anything is possible.
MAX_SCOPES, _MOST_EACH, _MOST_BEFORE = 8, 4, 2


def find_shared_scopes(snapshot: Snapshot, phase: RulePhase, *rules: rows.Rule) -> tuple[tuple[str, str], ...]:
    """Intents and states in which all the rules are tested; none if their scopes do not overlap."""
    intents = _find_common_code(code(rule.intent_code) for rule in rules)
    states = _find_common_code(code(rule.state_code) for rule in rules)
    if intents is None or states is None or not snapshot.is_active(intents):
        return ()
    known, resetting = snapshot.known_states, live_settings.read(snapshot, RESET_INTENT_CODES).value
    chosen = [intents] if intents != ANY else list(_list_intents(snapshot, phase, rules))
    scopes = (
        (intent, state)
        for intent in chosen
        for state in ([states] if states != ANY else _list_states(snapshot, intent, rules))
        # An intent that starts over leaves no conversation in it.
        if state in known and (intent not in resetting or phase == RulePhase.POST_CLASSIFIER_INTENT)
    )
    shared = tuple(islice(scopes, MAX_SCOPES))
    return tuple(dict.fromkeys((*shared, *islice(_list_scopes_before(snapshot, shared), _MOST_BEFORE))))


def _list_scopes_before(snapshot: Snapshot, scopes: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The states from which rules lead there: a turn may begin in them."""
    leading = snapshot.index(rows.Rule, get_target_state, relations.rank)
    for intent, state in scopes:
        for rule in leading.get(state, ()):
            if code(rule.state_code) not in (ANY, state) and relations.scope_fits(code(rule.intent_code), intent):
                yield intent, code(rule.state_code)


def _find_common_code(codes: Iterable[str]) -> str | None:
    concrete = {scope_code for scope_code in codes if scope_code != ANY}
    return ANY if not concrete else concrete.pop() if len(concrete) == 1 else None


def _list_intents(snapshot: Snapshot, phase: RulePhase, rules: Iterable[rows.Rule]) -> Iterator[str]:
    """Active intents in which rules of a phase may run, at most `_MOST_EACH`: those that conditions name come first."""
    named = [name for name in _list_compared_codes("intent", rules) if snapshot.is_active(name)]
    of_rows: list[str] = []
    if phase == RulePhase.POST_CLASSIFIER_INTENT:
        of_rows = [code(row.intent_code) for row in snapshot.enabled_rows(rows.Classifier)]
    elif phase == RulePhase.POST_SCHEMA_EXTRACTION:
        of_rows = [code(row.intent_code) for row in snapshot.enabled_rows(rows.OutputSchema)]
    usual = [code(intent.intent_code) for intent in islice(snapshot.allowed_intents, _MOST_EACH)]
    candidates = dict.fromkeys((*named, *of_rows, *usual, UNKNOWN))
    yield from islice((name for name in candidates if snapshot.is_active(name) and name != ANY), _MOST_EACH)


def _list_states(snapshot: Snapshot, intent: str, rules: Iterable[rows.Rule]) -> Iterator[str]:
    forms = relations.find_rows_of_intent(snapshot, rows.OutputSchema, intent)
    of_rows = [code(row.state_code) for row in forms if code(row.state_code) != ANY]
    yield from islice(dict.fromkeys((*_list_compared_codes("state", rules), *of_rows, IDLE, UNKNOWN)), _MOST_EACH)


def _list_compared_codes(fact: str, rules: Iterable[rows.Rule]) -> Iterator[str]:
    for rule in rules:
        for mention in list_mentions(rule):
            if mention.path == (fact,):
                yield from (code(value) for value in mention.values if isinstance(value, str) and value)
