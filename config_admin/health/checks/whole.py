"""What a configuration as a whole lacks: a fallback answer, a reaction to a yes, a use for a tool (tables 10)."""

from collections.abc import Iterator

from config_admin.health.checks.words import scope_name
from config_admin.health.diagnosis import Diagnosis, diagnosis
from config_admin.health.rules.branching import branches
from config_admin.health.rules.claims import Claim, TextClaim
from config_admin.health.survey import Survey
from config_admin.validation import relations
from config_admin.validation.findings import Severity
from convengine.domain import rows
from convengine.domain.enums import DialogueAct, InteractionMode, MatchTarget
from convengine.domain.rows import Row
from convengine.domain.scope import UNKNOWN
from convengine.domain.text import code
from convengine.responses.select import choose_response
from convengine.rules.conditions import custom_matchers
from convengine.rules.explain import faults


def fallback(survey: Survey) -> Iterator[Diagnosis]:
    """Nothing answers a message that nobody understands."""
    if survey.touched is not None and not any(key.table == rows.Response.table for key in survey.touched):
        return
    if choose_response(survey.snapshot, UNKNOWN, UNKNOWN).winner is None:
        yield diagnosis(
            "FALLBACK_MISSING",
            Severity.ERROR,
            None,
            "No response row is switched on for UNKNOWN/UNKNOWN, or wider. Add one that says what can be asked for.",
            "Whoever says something that nothing understands gets an error instead of an answer.",
            table=rows.Response.table,
        )


def unusable(survey: Survey) -> Iterator[Diagnosis]:
    """Every row that is switched on and that no turn can use."""
    for row, fault in faults(survey.snapshot):
        if survey.is_touched(row):
            yield diagnosis(
                "ROW_UNUSABLE",
                Severity.ERROR,
                row,
                f"No turn uses this row: {fault.reason}. {fault.remedy or ''}".strip(),
                "The row counts as switched off: the customer gets what comes without it.",
                field=fault.field,
            )


def inactive(survey: Survey) -> Iterator[Diagnosis]:
    """Rows of an intent that is switched off, or that there is not."""
    snapshot, waiting = survey.snapshot, dict[str, list[Row]]()
    for row_type in rows.ROW_TYPES:
        if row_type is rows.Intent or "intent_code" not in rows.columns(row_type):
            continue
        for intent, members in snapshot.index(row_type, relations.intent_key, relations.rank).items():
            if not snapshot.is_active(intent) and survey.is_near(intent):
                waiting.setdefault(intent, []).extend(members)
    for intent, found in sorted(waiting.items()):
        known = snapshot.row(rows.Intent, intent)
        counted = "A row is" if len(found) == 1 else f"{len(found)} rows are"
        why = "is switched off" if known else "does not exist"
        yield diagnosis(
            "ROW_INACTIVE_INTENT",
            Severity.WARNING,
            known or found[0],
            f"{counted} switched on for {intent}, which {why}.",
            "These rows take no part in any turn.",
            others=found,
            field=None if known else "intent_code",
        )


def unconfirmed(survey: Survey) -> Iterator[Diagnosis]:
    """A template lets the user confirm, and nothing happens on a yes."""
    for template in survey.of(rows.PromptTemplate):
        if InteractionMode.read(template.interaction_mode) is not InteractionMode.CONFIRM:
            continue
        intent, state = relations.scope_key(template)
        if not survey.snapshot.is_active(intent) or _reacts(survey, intent, state):
            continue
        yield diagnosis(
            "CONFIRM_WITHOUT_ACTION_OR_RULE",
            Severity.WARNING,
            template,
            f"This template asks for a yes in {scope_name(intent, state)}, but there is neither a pending action nor a "
            "rule on AFFIRM there.",
            "The customer says yes, and nothing happens.",
            field="interaction_mode",
        )


def _reacts(survey: Survey, intent: str, state: str) -> bool:
    if any(relations.sharing_scope(survey.snapshot, rows.PendingAction, intent, state)):
        return True
    near = relations.sharing_scope(survey.snapshot, rows.Rule, intent, state)
    return any(_is_on_yes(rule) for rule in near)


def _is_on_yes(rule: rows.Rule) -> bool:
    """True for a rule that looks at the act, or at the confirmed form that comes of a yes; or is tested in code."""
    if code(rule.rule_type) in custom_matchers():
        return True
    return any(_speaks_of_yes(claim) for branch in branches(rule) for claim in branch)


def _speaks_of_yes(claim: Claim) -> bool:
    if isinstance(claim, TextClaim):
        on_act = claim.target == MatchTarget.DIALOGUE_ACT
        return claim.wish.holds(DialogueAct.AFFIRM) if on_act else claim.wish.holds("yes")
    return any(
        place in (("inputParams", "dialogue_act"), ("inputParams", "routing_decision")) for place in claim.places
    )


def unused_tools(survey: Survey) -> Iterator[Diagnosis]:
    """A tool that no planner can choose, no row calls and no rule asks for."""
    named = {relations.tool_code_key(row) for row in survey.snapshot.enabled(rows.DirectTool)}
    asked = [_asks(rule) for rule in survey.snapshot.enabled(rows.Rule) if "tool" in (rule.action_value or "")]
    for tool in survey.of(rows.Tool):
        name = relations.tool_code_key(tool)
        if name in named or any(name in said for said in asked) or not survey.snapshot.is_active(tool.intent_code):
            continue
        if any(relations.sharing_scope(survey.snapshot, rows.Planner, tool.intent_code, tool.state_code)):
            continue
        yield diagnosis(
            "TOOL_NEVER_USED",
            Severity.WARNING,
            tool,
            f"No planner row, no ce_tool row and no rule uses {tool.tool_code} in its scope "
            f"{scope_name(*relations.scope_key(tool))}.",
            "It is never called, unless a caller asks for it by tool_request or the built-in planner chooses it.",
        )


def _asks(rule: rows.Rule) -> str:
    return (rule.action_value or "").lower()
