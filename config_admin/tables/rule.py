"""`ce_rule`: when a condition holds in a phase, do one thing."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from django.db import models

from config_admin.tables.base_model import ScopedRow, SpokenRow, index
from config_admin.tables.model_fields import flag, make_enabled_field, note, optional_text, priority, word
from config_admin.validation import common, relations
from config_admin.validation.columns import (
    JSON,
    PATH,
    REGEX,
    ColumnProblem,
    LanguageByWord,
    NaturalKey,
    Reference,
    declare_column,
)
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.programs import matches_everything
from config_admin.validation.rule_effects import (
    MOVE_COLUMNS,
    is_move,
    list_params,
    list_required_values,
    list_written_names,
)
from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions import set_task
from convengine.engine.rules.actions.contract import ENGINE_BRANCHES, ActionValueError
from convengine.engine.rules.conditions.evaluate import ALIASES
from convengine.engine.rules.conditions.json_path import parse_path
from convengine.engine.rules.conditions.nodes import Members
from convengine.engine.rules.conditions.rows import ConditionError, list_fields, parse_condition
from convengine.engine.rules.task_runs import TaskReference
from convengine.engine.text.compare import blank, code
from convengine.engine.text.wording import did_you_mean, join_names
from convengine.engine.turn import rows
from convengine.engine.turn.enums import MatchTarget, RuleAction, RulePhase, RuleType
from convengine.engine.turn.facts import RESERVED_FACTS, SESSION_KEYS
from convengine.engine.turn.local_time import CLOCK
from convengine.engine.turn.params import PARAMS
from convengine.engine.turn.scope import ANY, UNKNOWN, scope_key
from convengine.engine.turn.snapshot import Snapshot

Rule = Draft[rows.Rule]
#: Facts that every turn has and that are not boolean.
_ALWAYS_PRESENT = SESSION_KEYS - {
    "schemaComplete",
    "hasContainerData",
    "hasAnySchemaValue",
    "intentLocked",
    "postIntentRule",
}


def _check_constant_path(draft: Rule) -> Iterator[Finding]:
    """A plain path to a fact that every turn has always holds."""
    row = draft.row
    if code(row.rule_type) != RuleType.JSON_PATH or not row.null_leaf_matches:
        return
    match parse_path(row.match_pattern or "").steps:
        case (Members((name,)),) if name in _ALWAYS_PRESENT:
            yield draft.warning(
                "PATH_ALWAYS_MATCHES",
                "match_pattern",
                (
                    f"Every turn has {name}, even if it is empty, so this condition is always met. Compare it with a "
                    "value, or turn off “also match an empty value”."
                ),
            )


def _check_condition(draft: Rule) -> Iterator[Finding]:
    """A condition of rows that can be read."""
    if code(draft.row.rule_type) != RuleType.CONDITION or blank(draft.row.match_pattern):
        return
    try:
        parse_condition(draft.row.match_pattern or "")
    except ConditionError as error:
        where = f" Part: {error.path}." if error.path else ""
        yield draft.error("CONDITION_INVALID", "match_pattern", f"{error.reason}{where}")


def _check_condition_fields(draft: Rule) -> Iterator[Finding]:
    """Every field of the condition is a fact, a field of a form of the intent, or set by a rule or a caller.

    Where tasks run, which may set any field, only a name that resembles a known one is questioned.
    """
    if code(draft.row.rule_type) != RuleType.CONDITION:
        return
    fields = relations.list_form_fields(draft.snapshot, draft.row.intent_code)
    written = list_written_names(draft.snapshot)
    known = fields | written | RESERVED_FACTS | ENGINE_BRANCHES | ALIASES.keys() | {CLOCK, "dialogue"}
    by_rule = (code(rule.action) == RuleAction.SET_TASK for rule in draft.snapshot.enabled_rows(rows.Rule))
    runs_tasks = any(by_rule) or bool(draft.snapshot.enabled_rows(rows.PendingAction))
    for name in list_fields(parse_condition(draft.row.match_pattern or "")):
        root = name.partition(".")[0]
        if root not in known and ((hint := did_you_mean(root, known)) or not runs_tasks):
            yield draft.warning(
                "CONDITION_FIELD_UNKNOWN",
                "match_pattern",
                f"Nothing sets {root}, so it is empty in every turn.{hint}",
            )


#: Phases that run before direct tool calls: later phases set `tool_request` without effect.
_BEFORE_TOOLS = frozenset(
    {
        RulePhase.POST_DIALOGUE_ACT,
        RulePhase.POST_CLASSIFIER_INTENT,
        RulePhase.POST_AGENT_INTENT,
        RulePhase.POST_SCHEMA_EXTRACTION,
    }
)


def _check_action(draft: Rule) -> Iterator[Finding]:
    """A known action with a readable value."""
    row, known = draft.row, vocabulary.list_actions()
    action = vocabulary.get_action(row.action)
    if action is None:
        if code(row.action) not in draft.world.rule_actions:
            names = ", ".join(f"“{each.label}” ({name})" for name, each in known.items())
            hint = did_you_mean(str(row.action), known)
            unknown = f"Unknown action {row.action}. Choose one of: {names}.{hint}"
            yield draft.error("ACTION", "action", unknown if row.action else "Choose an action.")
        return
    try:
        value = action.parse(row.action_value)
        if check := _CHECK_OF_VALUE.get(action.name):
            yield from check(draft, value)
    except ActionValueError as error:
        yield draft.error(error.code, "action_value", error.message)


def _check_intent(draft: Rule, intent: str) -> Iterator[Finding]:
    yield from _check_code(draft, intent)
    if intent != UNKNOWN and common.CODE.fullmatch(intent):
        yield from common.check_intent_exists(draft, "action_value", intent)
    if draft.row.enabled and draft.snapshot.is_switched_off(intent):
        yield draft.warning(
            "INTENT_OFF",
            "action_value",
            f"This rule leads to {intent}, which is switched off, so the conversation stays where it is. Switch "
            f"{intent} on, or let the rule lead to another intent.",
        )


def _check_code(draft: Rule, value: str) -> Iterator[Finding]:
    if common.CODE.fullmatch(value) is None:
        yield common.report_code_format(draft, "action_value")


def _check_task(draft: Rule, reference: TaskReference) -> Iterator[Finding]:
    set_task.check_reference(reference, draft.world.tasks)
    yield from ()


def _check_preference(draft: Rule, preference: tuple[str, str]) -> Iterator[Finding]:
    """Rows belong to no workspace: a knowledge base may belong to any, and is missing in others."""
    kind, wanted = preference
    known = draft.world.preferences().get(kind, ())
    if wanted not in known and draft.world.is_deployed:
        yield draft.error(
            "NOT_REGISTERED",
            "action_value",
            f"There is no {kind.replace('_', ' ')} {wanted}.{did_you_mean(wanted, known)}"
            f" Installed: {join_names(known)}.",
        )


_CHECK_OF_VALUE: Mapping[str, Callable[[Rule, Any], Iterator[Finding]]] = {
    RuleAction.SET_INTENT: _check_intent,
    RuleAction.SET_STATE: _check_code,
    RuleAction.SET_TASK: _check_task,
    RuleAction.SET_PREFERENCE: _check_preference,
}


def _check_engine_keys(draft: Rule) -> Iterator[Finding]:
    """An input param that the engine sets, and that is not meant for rules."""
    if code(draft.row.action) == RuleAction.SET_DIALOGUE_ACT:
        return  # Its purpose is to override the engine.
    for key in list_params(draft.row):
        known = PARAMS.get(key)
        if known and known.owner == "E":
            yield draft.warning(
                "ENGINE_KEY_WRITE",
                "action_value",
                f"{key} is set by {known.writers}. This rule overrides it for later steps.",
            )


def _check_phase(draft: Rule) -> Iterator[Finding]:
    """The phase runs too late for the action to have an effect."""
    phase = code(draft.row.phase)
    if code(draft.row.action) == RuleAction.SET_DIALOGUE_ACT and phase != RulePhase.POST_DIALOGUE_ACT:
        yield draft.warning(
            "PHASE_POINTLESS",
            "phase",
            "In this phase the dialogue act was already used, so the change has no effect. Choose an earlier phase.",
        )
    elif "tool_request" in list_params(draft.row) and phase not in _BEFORE_TOOLS:
        yield draft.warning(
            "PHASE_POINTLESS",
            "phase",
            (
                "In this phase tool requests were already processed, so the request has no effect. Choose an "
                "earlier phase."
            ),
        )


def _get_move_key(rule: Any) -> tuple[str, str, str] | None:
    action = code(rule.action)
    return (code(rule.phase), action, code(getattr(rule, MOVE_COLUMNS[action][0]))) if action in MOVE_COLUMNS else None


def _get_scoped_move_key(rule: Any) -> tuple[str, str, str, str] | None:
    key = _get_move_key(rule)
    return (*key, code(getattr(rule, MOVE_COLUMNS[key[1]][1]))) if key else None


def _check_flip_flop(draft: Rule) -> Iterator[Finding]:
    """Another rule of the phase can undo this one, as often as passes allow."""
    rule = draft.row
    if not is_move(rule):
        return
    for other in draft.others(_find_moves_from(draft.snapshot, rule, code(rule.action_value))):
        if _undo_each_other(rule, other):
            yield draft.warning(
                "RULE_FLIP_FLOP",
                None,
                (
                    f"This rule and rule {other.pk} can undo each other. The engine stops after 5 passes. Give one"
                    " of them a narrower condition."
                ),
            )
            return


def _find_moves_from(snapshot: Snapshot, rule: rows.Rule, start_code: str) -> Iterator[rows.Rule]:
    """The rules of the same phase and action that begin at this state (or intent), and may hold where the rule does."""
    phase, action = code(rule.phase), code(rule.action)
    beside, starts = code(getattr(rule, MOVE_COLUMNS[action][1])), dict.fromkeys((start_code, ANY))
    if beside == ANY:
        moves = snapshot.index(rows.Rule, _get_move_key, relations.rank)
        yield from chain.from_iterable(moves.get((phase, action, start), ()) for start in starts)
        return
    within = snapshot.index(rows.Rule, _get_scoped_move_key, relations.rank)
    for start in starts:
        for where in (beside, ANY):
            yield from within.get((phase, action, start, where), ())


def _undo_each_other(rule: rows.Rule, other: rows.Rule) -> bool:
    _, beside = MOVE_COLUMNS[code(rule.action)]
    ends = code(rule.action_value), code(other.action_value)
    return (
        ends[0] != ends[1]
        and relations.scope_fits(code(getattr(rule, beside)), code(getattr(other, beside)))
        and _is_applicable_at(rule, ends[1])
        and _is_applicable_at(other, ends[0])
        and _can_hold_together(rule, other)
    )


def _is_applicable_at(rule: rows.Rule, start_code: str) -> bool:
    start, _ = MOVE_COLUMNS[code(rule.action)]
    demanded = list_required_values(rule).get("@.state" if start == "state_code" else "@.intent", start_code)
    return code(getattr(rule, start)) in (start_code, ANY) and code(demanded) == start_code


def _can_hold_together(row: rows.Rule, other: rows.Rule) -> bool:
    """False only if it is certain: two different texts, or one path that must have two values."""
    if code(row.rule_type) != code(other.rule_type):
        return True
    if code(row.rule_type) == RuleType.EXACT and row.match_target == other.match_target:
        texts = {(rule.match_pattern or "").strip().casefold() for rule in (row, other)}
        return len(texts) == 1 or ANY.casefold() in texts
    wanted, also = list_required_values(row), list_required_values(other)
    places = {"@.state", "@.intent"}
    return all(wanted[path] == also[path] for path in (wanted.keys() & also.keys()) - places)


def _check_unconditional_move(draft: Rule) -> Iterator[Finding]:
    """A move without any condition, everywhere."""
    rule = draft.row
    unconditional = (code(rule.rule_type) == RuleType.EXACT and code(rule.match_pattern) == ANY) or matches_everything(
        rule.rule_type, rule.match_pattern
    )
    if is_move(rule) and unconditional and scope_key(rule) == (ANY, ANY):
        yield draft.warning(
            "RULE_ALWAYS_TRUE",
            None,
            (
                "This rule applies to every turn of every conversation. Add a condition or a scope unless this is"
                " intended."
            ),
        )


def _check_missing_edge(draft: Rule) -> Iterator[Finding]:
    """The intent has a state graph that does not allow the move."""
    rule = draft.row
    if not is_move(rule, "SET_STATE"):
        return
    edges = relations.list_edges(draft.snapshot, rule.intent_code)
    start, end = code(rule.state_code), code(rule.action_value)
    if edges and not relations.allows_move(edges, start, end):
        yield draft.warning(
            "STATE_GRAPH_MISSING_EDGE",
            "action_value",
            f"The state graph does not allow the move from {start} to {end}, so the turn gets a warning.",
        )


class CeRule(SpokenRow, ScopedRow):
    """A rule: most behaviour is configured here."""

    save_checks = SaveChecks(
        form=(_check_action, _check_condition),
        fit=(
            _check_constant_path,
            _check_condition_fields,
            _check_engine_keys,
            _check_phase,
            _check_unconditional_move,
            _check_missing_edge,
            common.check_duplicate_row,
        ),
        slow=(_check_flip_flop,),
    )
    natural_key = NaturalKey(
        ("intent_code", "state_code", "phase", "rule_type", "match_pattern", "match_target", "action")
    )

    rule_id = models.BigAutoField("id", primary_key=True)
    phase = word(
        RulePhase,
        unknown=ColumnProblem("PHASE", "Choose one of the phases: {words}.{hint}"),
        default=RulePhase.PRE_RESPONSE_RESOLUTION.value,
        help_text="The point in the turn at which this rule is evaluated.",
    )
    rule_type = word(
        RuleType,
        unknown=ColumnProblem("RULE_TYPE", "Choose {one_of}.{hint}"),
        accepted="rule_types",
        verbose_name="condition type",
    )
    match_pattern = declare_column(
        models.TextField(
            "condition",
            help_text="Rows of fields and values, a text, ANY, a pattern or a JSON path, depending on the type.",
        ),
        required=ColumnProblem("PATTERN_BLANK", "Enter the condition."),
        language=LanguageByWord(
            "rule_type", {"CONDITION": JSON, "REGEX": REGEX, "JSON_PATH": PATH, "CONTEXT_JSON_PATH": PATH}
        ),
    )
    action = word(
        RuleAction,
        unknown=None,
        reference=Reference.RULE_ACTION,
        help_text="What the rule does when its condition is met.",
    )
    action_value = declare_column(
        optional_text(help_text="The value for the action: a state, an intent, key:value, …"),
        reference=Reference.ACTION_VALUE,
        depends_on="action",
    )
    priority = priority(help_text="Within one scope, lower numbers come first. All matching rules run.")
    match_target = word(
        MatchTarget,
        default=MatchTarget.USER_TEXT.value,
        verbose_name="compared text",
        help_text="The text that EXACT and REGEX conditions compare.",
    )
    stop_processing = flag(False, help_text="If this rule matches, later rules of this pass are skipped.")
    override = flag(
        False,
        verbose_name="override specific rules",
        help_text=(
            "This rule may change an intent or state that a more specific rule set in the same turn, even if "
            "the setting Rules/GENERAL_MAY_UNDO is off."
        ),
    )
    null_leaf_matches = flag(
        True,
        verbose_name="also match an empty value",
        help_text="Only for JSON paths: a path to an existing but empty value also matches.",
    )
    enabled = make_enabled_field()
    description = note("Shown in timelines instead of the number.")

    class Meta(ScopedRow.Meta):
        db_table = "ce_rule"
        verbose_name = "rule"
        indexes = [index("ce_rule_lookup", "enabled", "phase", "intent_code", "state_code", "priority")]
