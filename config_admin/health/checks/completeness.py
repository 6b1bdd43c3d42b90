"""What a configuration lacks as a whole: a fallback answer, a reaction to a yes, a use of a tool."""

from collections.abc import Iterator

from config_admin.health.diagnosis import Diagnosis, make_diagnosis
from config_admin.health.rules.effects import scope_name
from config_admin.health.rules.mentions import DIALOGUE_ACT, get_text_predicate, list_mentions
from config_admin.health.survey import Survey
from config_admin.validation import relations
from config_admin.validation.draft import Severity
from convengine.engine.rules.choice import choose_response
from convengine.engine.rules.conditions.rule import custom_matchers, get_target
from convengine.engine.rules.explain import list_faults
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, InteractionMode, MatchTarget
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import UNKNOWN, intent_key, scope_key

_ROUTING = ("inputParams", "routing_decision")


def check_fallback(survey: Survey) -> Iterator[Diagnosis]:
    """A finding if a message that the engine does not understand gets no answer."""
    if survey.touched is not None and not any(key.table == rows.Response.table for key in survey.touched):
        return
    if choose_response(survey.snapshot, UNKNOWN, UNKNOWN).winner is None:
        yield make_diagnosis(
            "FALLBACK_MISSING",
            Severity.ERROR,
            None,
            "No answer is enabled for intent UNKNOWN, state UNKNOWN. Add one that says what customers can ask for.",
            "Customers whose message is not recognised get an error instead of an answer.",
            table=rows.Response.table,
        )


def find_unusable_rows(survey: Survey) -> Iterator[Diagnosis]:
    """Every enabled row that no turn can use."""
    for row, fault in list_faults(survey.snapshot):
        if survey.is_touched(row):
            yield make_diagnosis(
                "ROW_UNUSABLE",
                Severity.ERROR,
                row,
                f"This row is invalid, so no turn uses it: {fault.reason}. {fault.remedy or ''}".strip(),
                "The row is treated as disabled.",
                field=fault.field,
            )


#: What is so of an intent, and what that means for its rows.
_SWITCHED_OFF = "is switched off: no conversation begins it", "Conversations that are in it finish it."
_MISSING = "does not exist", "These rows are never used."


def find_rows_of_inactive_intents(survey: Survey) -> Iterator[Diagnosis]:
    """Rows of a disabled or missing intent."""
    snapshot, waiting = survey.snapshot, dict[str, list[Row]]()
    for row_type in rows.ROW_TYPES:
        if row_type is rows.Intent or "intent_code" not in rows.columns(row_type):
            continue
        for intent, members in snapshot.index(row_type, intent_key, relations.rank).items():
            if not snapshot.is_active(intent) and survey.is_near(intent):
                waiting.setdefault(intent, []).extend(members)
    for intent, rows_of_intent in sorted(waiting.items()):
        known = snapshot.row(rows.Intent, intent)
        counted = "A row is" if len(rows_of_intent) == 1 else f"{len(rows_of_intent)} rows are"
        why, effect = _SWITCHED_OFF if known else _MISSING
        yield make_diagnosis(
            "ROW_INACTIVE_INTENT",
            Severity.WARNING,
            known or rows_of_intent[0],
            f"{counted} enabled for {intent}, which {why}.",
            effect,
            others=rows_of_intent,
            field=None if known else "intent_code",
        )


def find_unanswered_confirmations(survey: Survey) -> Iterator[Diagnosis]:
    """A template lets the user confirm, but nothing reacts to a yes."""
    for template in survey.of(rows.PromptTemplate):
        if InteractionMode.read(template.interaction_mode) is not InteractionMode.CONFIRM:
            continue
        intent, state = scope_key(template)
        if not survey.snapshot.is_active(intent) or _has_reaction(survey, intent, state):
            continue
        yield make_diagnosis(
            "CONFIRM_WITHOUT_ACTION_OR_RULE",
            Severity.WARNING,
            template,
            f"This prompt template asks for confirmation in {scope_name(intent, state)}, but there is neither a "
            "pending action nor a rule on AFFIRM.",
            "The customer says yes, but nothing happens.",
            field="interaction_mode",
        )


def _has_reaction(survey: Survey, intent: str, state: str) -> bool:
    """True when a pending action or a rule may react to a yes.

    The pattern of a rule matches one, its condition reads the dialogue act or the confirmed form, or is in code.
    """
    if any(relations.find_rows_sharing_scope(survey.snapshot, rows.PendingAction, intent, state)):
        return True
    for rule in relations.find_rows_sharing_scope(survey.snapshot, rows.Rule, intent, state):
        predicate = get_text_predicate(rule)
        if code(rule.rule_type) in custom_matchers():
            return True
        if predicate is None:
            reacts = any(mention.path in (DIALOGUE_ACT, _ROUTING) for mention in list_mentions(rule))
        else:
            on_act = get_target(rule) == MatchTarget.DIALOGUE_ACT
            reacts = predicate.holds(DialogueAct.AFFIRM if on_act else "yes")
        if reacts:
            return True
    return False


def find_unused_tools(survey: Survey) -> Iterator[Diagnosis]:
    """A tool that no planner row has in its scope, no direct tool call names and no rule requests."""
    called = {relations.tool_code_key(row) for row in survey.snapshot.enabled_rows(rows.DirectTool)}
    targets = [rule.action_value or "" for rule in survey.snapshot.enabled_rows(rows.Rule)]
    # A rule requests a tool by JSON in its value; whatever contains the name may do so.
    requests = [target.lower() for target in targets if "tool" in target]
    for tool in survey.of(rows.Tool):
        name = relations.tool_code_key(tool)
        is_named = name in called or any(name in request for request in requests)
        if is_named or not survey.snapshot.is_active(tool.intent_code):
            continue
        if any(relations.find_rows_sharing_scope(survey.snapshot, rows.Planner, tool.intent_code, tool.state_code)):
            continue
        yield make_diagnosis(
            "TOOL_NEVER_USED",
            Severity.WARNING,
            tool,
            f"No planner prompt, direct tool call or rule uses {tool.tool_code} in its scope "
            f"({scope_name(*scope_key(tool))}).",
            "It is only called if a caller requests it with tool_request or the built-in planner chooses it.",
        )
