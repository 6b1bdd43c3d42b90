"""How the flows of a seed file start.

In the original, conversations start in the state IDLE, and a model chooses the intent. Here they start in the state
UNKNOWN, and phrases choose first. A flow that is written for the former gets what it lacks for the latter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from config_admin.transfer.document import FileRow, Note
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleAction, RulePhase, read_phase
from convengine.engine.turn.scope import ANY, IDLE, UNKNOWN

_Tables = Mapping[str, Sequence[FileRow]]


def complete_flow_starts(tables: _Tables) -> tuple[_Tables, Sequence[Note]]:
    """The rows with states for phrases that have none, and with start rules for intents that phrases choose."""
    phrases = [_lead_to_idle(row, tables) for row in tables.get(rows.Classifier.table, ())]
    rules = list(_list_missing_start_rules(phrases, tables.get(rows.Rule.table, ())))
    notes = [
        Note(new.where, "The phrase has no state. It leads to IDLE, where the rows of its intent begin.")
        for new, old in zip(phrases, tables.get(rows.Classifier.table, ()), strict=True)
        if new is not old
    ]
    notes += [
        Note(
            rule.where,
            "The rule is added a second time, for intents that a phrase chooses. Before, only a model reached it.",
        )
        for rule in rules
    ]
    if not notes:
        return tables, ()
    changed = {rows.Classifier.table: phrases}
    if rules:
        changed[rows.Rule.table] = [*tables[rows.Rule.table], *rules]
    return {**tables, **changed}, notes


def _lead_to_idle(phrase: FileRow, tables: _Tables) -> FileRow:
    """The phrase; with the state IDLE if it has none, and the rows of its intent begin there."""
    if code(phrase.values.get("state_code")):
        return phrase
    states = {
        code(row.values.get("state_code"))
        for table, listed in tables.items()
        if table != rows.Classifier.table
        for row in listed
        if code(row.values.get("intent_code")) == code(phrase.values.get("intent_code"))
    }
    if IDLE not in states or UNKNOWN in states:
        return phrase
    return replace(phrase, values={**phrase.values, "state_code": IDLE})


def _list_missing_start_rules(phrases: Sequence[FileRow], rules: Sequence[FileRow]) -> Iterator[FileRow]:
    """The start rules after a model's decision again, for messages that phrases decide and no rule moves then."""
    for rule in rules:
        scope = (code(rule.values.get("intent_code")), code(rule.values.get("state_code")))
        if _get_phase(rule) != RulePhase.POST_AGENT_INTENT or not _sets_state(rule) or scope[0] == ANY:
            continue
        states = {
            code(phrase.values.get("state_code")) or UNKNOWN
            for phrase in phrases
            if code(phrase.values.get("intent_code")) == scope[0]
        }
        if (states if scope[1] in ("", ANY) else scope[1] in states) and not any(
            _get_phase(other) == RulePhase.POST_CLASSIFIER_INTENT
            and _sets_state(other)
            and code(other.values.get("intent_code")) == scope[0]
            for other in rules
        ):
            values = {name: value for name, value in rule.values.items() if name != rows.Rule.key}
            yield replace(rule, values={**values, "phase": RulePhase.POST_CLASSIFIER_INTENT.value}, is_upsert=False)


def _get_phase(rule: FileRow) -> RulePhase | None:
    return read_phase(rule.values.get("phase"))


def _sets_state(rule: FileRow) -> bool:
    return code(rule.values.get("action")) == RuleAction.SET_STATE and rule.values.get("enabled", True) is not False
