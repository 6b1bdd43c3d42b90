"""Names that a template may use: of the engine, of the fields that are collected, of what rules write (settings 7)."""

from collections.abc import Collection

from config_admin.validation import relations, rule_writes
from convengine.domain.facts import RESERVED_FACTS
from convengine.domain.params import PARAMS
from convengine.domain.snapshot import Snapshot
from convengine.prompts import variables
from convengine.rules.actions.context_paths import ENGINE_BRANCHES

#: Names that single callers add: the disambiguation question, sessions, units, progress messages, SQL repair.
_OF_CALLERS = frozenset(
    {
        "options", "candidate_count", "action_keys", "question", "summary", "stepName", "stepInfo", "determinant",
        "result", "errorType", "errorMessage", "severity", "theme", "icon", "sql_before", "params_json",
        "error_message", "answer", "validation", "validation_tables", "pending_slot", "pendingSlot",
    }
)  # fmt: skip
ENGINE_NAMES = variables.known_names() | RESERVED_FACTS | PARAMS.keys() | ENGINE_BRANCHES | _OF_CALLERS


def unknown(snapshot: Snapshot, used: Collection[str], intent: str) -> frozenset[str]:
    """Of the names that a template uses, the roots that neither engine nor schema of the intent nor a rule gives."""
    roots = {name.partition(".")[0] for name in used}
    return frozenset(roots - ENGINE_NAMES - relations.schema_fields(snapshot, intent) - rule_writes.names(snapshot))
