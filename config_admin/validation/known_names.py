"""Names that a template may use: of the engine, of collected fields, of what rules write (settings 7)."""

from collections.abc import Collection

from config_admin.validation import relations, rule_writes
from convengine.engine.prompts import variables
from convengine.engine.rules.actions.context_paths import ENGINE_BRANCHES
from convengine.engine.turn.facts import RESERVED_FACTS
from convengine.engine.turn.params import PARAMS
from convengine.engine.turn.snapshot import Snapshot

#: Names of single callers: the disambiguation question, sessions, units, progress texts, SQL repair.
_OF_CALLERS = frozenset(
    {
        "options", "candidate_count", "action_keys", "question", "summary", "stepName", "stepInfo", "determinant",
        "result", "errorType", "errorMessage", "severity", "theme", "icon", "sql_before", "params_json",
        "error_message", "answer", "validation", "validation_tables", "pending_slot", "pendingSlot",
    }
)  # fmt: skip
ENGINE_NAMES = variables.list_known_names() | RESERVED_FACTS | PARAMS.keys() | ENGINE_BRANCHES | _OF_CALLERS


def find_unknown_names(snapshot: Snapshot, used: Collection[str], intent: str) -> frozenset[str]:
    """The names of a template that neither the engine nor a form of the intent nor a rule provides."""
    roots = {name.partition(".")[0] for name in used}
    return frozenset(
        roots - ENGINE_NAMES - relations.list_form_fields(snapshot, intent) - rule_writes.list_written_names(snapshot)
    )
