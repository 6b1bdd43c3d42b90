"""Everything that belongs to an intent, by section, each row in the order of testing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from config_admin.validation.relations import index_rows, sort_properties
from convengine.engine.prompts.select import order_newest_first
from convengine.engine.rules.choice import choose_response
from convengine.engine.rules.row_names import strip_statements
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.text.compare import code, shorten, shorten_line
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType, PromptUse, RulePhase, read_phase
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, BUILT_IN_STATES, intent_key
from convengine.engine.turn.snapshot import Snapshot

#: How many rows of the intent itself, and how many of every intent, one group shows.
OWN, SHARED = 40, 10
#: The length of a rule's sentence; its page shows all of it.
LONGEST = 240


@dataclass(frozen=True)
class RowGroup:
    """Rows of one table that belong together, in order."""

    row_type: type[Row]
    #: Rows of this intent; rows of every intent, which apply too.
    own: Sequence[Row]
    shared: Sequence[Row]
    title: str = ""
    help: str = ""
    #: The initial values of a new row of the group.
    initial: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> list[Row]:
        return [*self.own[:OWN], *self.shared[:SHARED]]


@dataclass(frozen=True)
class OverviewSection:
    title: str
    help: str
    groups: Sequence[RowGroup]

    @property
    def count(self) -> int:
        """The number of rows of the intent itself."""
        return sum(len(group.own) for group in self.groups)


class _RowKind(NamedTuple):
    row_type: type[Row]
    title: str
    help: str
    order: Callable[[Any], Any]


def _by_scope(row: Any) -> tuple[Any, ...]:
    return code(row.state_code) == ANY, code(row.state_code), getattr(row, "priority", 0), row.pk


def _by_priority(row: Any) -> tuple[Any, ...]:
    return row.priority, row.pk


def _by_age(row: Any) -> tuple[Any, ...]:
    return code(row.response_type), code(row.state_code) == ANY, code(row.state_code), order_newest_first(row)


def _by_edge(row: Any) -> tuple[Any, ...]:
    return row.priority, code(row.from_state), code(row.to_state), row.pk


def _by_code(row: Any) -> tuple[Any, ...]:
    return row.tool_group, row.tool_code


_PHRASES = _RowKind(rows.Classifier, "Phrases", "What users write when they want this.", _by_priority)
_DATA = (
    _RowKind(rows.OutputSchema, "Form", "The fields to collect.", _by_scope),
    _RowKind(rows.ContainerConfig, "Data to fetch", "Data from other systems.", _by_scope),
)
_ANSWERS = (
    _RowKind(rows.Response, "Answers", "The answers to the user, by state.", _by_scope),
    _RowKind(rows.PromptTemplate, "Prompts", "Instructions for the model, and what the user may do.", _by_age),
    _RowKind(rows.PendingAction, "Pending actions", "Actions that run after the user confirms.", _by_scope),
    _RowKind(rows.DirectTool, "Tool calls", "Tools that are called directly, without a planner.", _by_scope),
    _RowKind(rows.Tool, "Tools", "Tools that a planner or a direct call may use here.", _by_code),
    _RowKind(rows.Planner, "Planner prompts", "Instructions for the model that plans tool calls.", _by_scope),
    _RowKind(rows.McpServer, "MCP servers", "Servers whose tools may be used here.", _by_scope),
    _RowKind(rows.StateEdge, "State graph", "The allowed moves between states.", _by_edge),
    _RowKind(rows.Verbose, "Progress texts", "Texts that users see while they wait.", _by_scope),
)
#: Tables whose rows are not recorded as deciding rows.
UNCOUNTED = frozenset({row_type.table for row_type in (rows.StateEdge, rows.Verbose, rows.McpServer)})


def list_sections(snapshot: Snapshot, intent: str, state: str = "") -> list[OverviewSection]:
    """Everything about an intent; with a state, only what can apply in that state."""
    plain = [_make_section(snapshot, kind, intent, state) for kind in (_PHRASES, *_DATA)]
    return [
        *plain,
        _make_rules_section(snapshot, intent, state),
        *(_make_section(snapshot, kind, intent, state) for kind in _ANSWERS),
    ]


def _make_section(snapshot: Snapshot, kind: _RowKind, intent: str, state: str) -> OverviewSection:
    # The intent of a phrase is its result, so ANY does not occur.
    mine, shared = _split_rows(snapshot, kind.row_type, intent, "" if kind is _PHRASES else state)
    initial = {"state_code": state} if state and "state_code" in rows.columns(kind.row_type) else {}
    group = RowGroup(
        kind.row_type,
        sorted(mine, key=kind.order),
        [] if kind is _PHRASES else sorted(shared, key=kind.order),
        initial=initial,
    )
    return OverviewSection(kind.title, kind.help, [group])


def _make_rules_section(snapshot: Snapshot, intent: str, state: str) -> OverviewSection:
    mine, shared = (sorted(members, key=_by_scope) for members in _split_rows(snapshot, rows.Rule, intent, state))
    groups = [
        RowGroup(
            rows.Rule,
            [rule for rule in mine if read_phase(rule.phase) is phase],
            [rule for rule in shared if read_phase(rule.phase) is phase],
            phase.label,
            phase.help,
            {"phase": phase.value, **({"state_code": state} if state else {})},
        )
        for phase in RulePhase
    ]
    return OverviewSection("Rules", "In the order of evaluation.", groups)


def _split_rows(snapshot: Snapshot, row_type: type[Any], intent: str, state: str) -> tuple[list[Any], list[Any]]:
    """The rows of an intent, and those of every intent that can apply in one of its states.

    `state`: only rows that can apply in this state; blank for all.
    """
    by_intent = index_rows(snapshot, row_type, intent_key)
    mine = [row for row in by_intent.get(intent, ()) if _admits(row, state)]
    if intent == ANY:
        return mine, []
    reached = {ANY, *BUILT_IN_STATES, *list_states(snapshot, intent)}
    return mine, [
        row for row in by_intent.get(ANY, ()) if _admits(row, state) and not reached.isdisjoint(_list_scope_states(row))
    ]


def _admits(row: Any, state: str) -> bool:
    """True for a row that can apply in the state; each does if it is blank."""
    return not state or any(state_code in (state, ANY) for state_code in _list_scope_states(row))


def _list_scope_states(row: Any) -> tuple[str, ...]:
    """The state of a row; of an edge of the state graph both ends."""
    if isinstance(row, rows.StateEdge):
        return code(row.from_state), code(row.to_state)
    return (code(row.state_code),)


def list_states(snapshot: Snapshot, intent: str) -> list[str]:
    """The states that rows of the intent name or lead to."""
    return snapshot.memo.get(("states of", intent), lambda: _find_states(snapshot, intent))


def _find_states(snapshot: Snapshot, intent: str) -> list[str]:
    states: set[str] = set()
    for row_type in rows.ROW_TYPES:
        if "intent_code" in rows.columns(row_type) and row_type is not rows.Intent:
            for row in index_rows(snapshot, row_type, intent_key).get(intent, ()):
                states.update(_list_scope_states(row))
                if isinstance(row, rows.Rule) and code(row.action) == "SET_STATE":
                    states.add(code(row.action_value))
    return sorted(states - {ANY, ""})


def list_unanswered_states(snapshot: Snapshot, intent: str, states: Iterable[str]) -> list[str]:
    """The states without an answer for the intent: a turn that ends there fails."""
    if intent == ANY or not snapshot.is_active(intent):
        return []
    return [state for state in states if choose_response(snapshot, intent, state).winner is None]


def describe_row(row: Any) -> tuple[str, str]:
    """The text of a row, and its kind."""
    return _DESCRIBERS[type(row)](row)


def _describe_classifier(row: rows.Classifier) -> tuple[str, str]:
    kind = ClassifierType.read(row.rule_type)
    label, pattern = kind.label if kind else str(row.rule_type), shorten_line(row.pattern, 160)
    if not row.description or row.description == row.pattern:
        return pattern, label
    return row.description, f"{label}: {pattern}"


def _describe_response(row: rows.Response) -> tuple[str, str]:
    text = shorten_line(strip_statements(row.exact_text or row.derivation_hint), 160)
    return text, "" if row.exact_text else "written by a model"


def _describe_prompt(row: rows.PromptTemplate) -> tuple[str, str]:
    use = PromptUse.read(row.response_type)
    kinds = [use and use.label, row.interaction_mode]
    return shorten_line(row.user_prompt, 120), " · ".join(filter(None, kinds))


#: How the rows of each table are described.
_DESCRIBERS: Mapping[type, Callable[[Any], tuple[str, str]]] = {
    rows.Intent: lambda row: (row.name, row.description),
    rows.Rule: lambda row: (shorten(describe_rule(row), LONGEST), row.description or ""),
    rows.Classifier: _describe_classifier,
    rows.OutputSchema: lambda row: (_list_field_names(row), row.description or ""),
    rows.ContainerConfig: lambda row: (row.input_param_name, f"{row.page_id} / {row.section_id} / {row.container_id}"),
    rows.Response: _describe_response,
    rows.PromptTemplate: _describe_prompt,
    rows.PendingAction: lambda row: (f"{row.action_key}: {row.bean_name} ({row.method_names})", row.description or ""),
    rows.DirectTool: lambda row: (row.tool_code or f"group {row.tool_group}", row.description or ""),
    rows.Tool: lambda row: (row.tool_code, shorten_line(row.description, 120)),
    rows.Planner: lambda row: (shorten_line(row.user_prompt, 120), ""),
    rows.McpServer: lambda row: (row.name, row.transport),
    rows.StateEdge: lambda row: (f"{row.from_state} → {row.to_state}", row.description or ""),
    rows.Verbose: lambda row: (
        shorten_line(row.message or row.error_message, 120),
        f"{row.determinant} of {row.step_value}",
    ),
}


def _list_field_names(row: rows.OutputSchema) -> str:
    required = row.json_schema.get("required") if isinstance(row.json_schema, Mapping) else ()
    needed = required if isinstance(required, list) else ()
    return ", ".join(f"{name}*" if name in needed else name for name in sort_properties(row.json_schema))
