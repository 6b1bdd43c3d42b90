"""Trying patterns, paths and templates from the form: by the code of the engine, with nothing saved or called."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from config_admin.admin.editing.moments import Moment
from convengine.domain import rows
from convengine.domain.enums import PolicyType, PromptUse, RuleAction, StepMatch
from convengine.domain.facts import facts
from convengine.domain.scope import code_matches
from convengine.domain.text import blank, code, excerpt
from convengine.intents.classifiers import classifier_bank, ordered_classifiers
from convengine.prompts.render import render_lenient
from convengine.prompts.variables import template_variables
from convengine.rules.actions import set_json
from convengine.rules.actions.contract import ActionValueError
from convengine.rules.bank import TextBank
from convengine.rules.conditions import evaluate
from convengine.rules.explain import fault_of
from convengine.rules.json_path import PathError, compile_path
from convengine.rules.patterns import PatternError, compile_pattern
from convengine.tools.direct import row_request
from convengine.tools.request import InvalidToolRequest

Json = Any
_SHOWN = 400


@dataclass(frozen=True)
class Outcome:
    """What a try says. `holds` is null where nothing holds or fails, as for a text that is filled in."""

    headline: str
    holds: bool | None = None
    #: The comparisons that were made: {path, value, op, literal, result}.
    operands: Sequence[Mapping[str, Json]] = ()
    #: The text, or the JSON, that came out.
    text: str | None = None
    notes: Sequence[str] = ()
    #: True when the row cannot be tried as it is.
    failed: bool = False


Try = Callable[[Any, str, Moment], Outcome]


class Trial(NamedTuple):
    """What can be tried of a field, and at which moment of a stored turn."""

    run: Try
    #: Takes the row to (phase of rules, step); both null for the end of the turn.
    at: Callable[[Any], tuple[str | None, str | None]] = lambda row: (None, None)
    #: `field:value` where it can be tried with that choice alone.
    only: str = ""


@dataclass
class _Notes:
    """What has to be said beside the outcome."""

    found: list[str] = field(default_factory=list)

    def scope(self, row: Any, moment: Moment) -> "_Notes":
        """Say when the row would not even be looked at there."""
        session = moment.session
        fits = code_matches(row.intent_code, session.intent) and code_matches(row.state_code, session.state)
        if moment.is_stored and not fits:
            where = f"in intent {session.intent}, state {session.state}"
            self.found.append(f"The row would not be looked at there: the conversation was {where}.")
        if moment.note:
            self.found.append(moment.note)
        return self


# --- rules ------------------------------------------------------------------------------------------------------


def condition(rule: rows.Rule, name: str, moment: Moment) -> Outcome:
    """Does the condition of a rule hold?"""
    if fault := fault_of(moment.turn.snapshot, rule):
        return Outcome(fault.reason, failed=True, notes=[fault.remedy or ""])
    verdict = evaluate(rule, moment.session)
    notes = _Notes().scope(rule, moment).found
    operands = [
        {**operand, **{name: _json(operand.get(name)) for name in ("value", "literal")}} for operand in verdict.operands
    ]
    return Outcome("The condition holds." if verdict.matched else "No match.", verdict.matched, operands, notes=notes)


def action_value(rule: rows.Rule, name: str, moment: Moment) -> Outcome:
    """What would the path of SET_JSON copy?"""
    if code(rule.action) != RuleAction.SET_JSON:
        return Outcome("Only a path can be tried here: choose the action SET_JSON.", failed=True)
    try:
        copy = set_json.parse(rule.action_value)
    except ActionValueError as error:
        return Outcome(error.message, failed=True)
    found, value = copy.path.first(facts(moment.session))
    if not found:
        return Outcome("The path finds nothing, so nothing is copied.", False)
    return Outcome(f"This is copied to input param {copy.key}:", text=_json(value))


# --- phrases ----------------------------------------------------------------------------------------------------


def phrase(row: rows.Classifier, name: str, moment: Moment) -> Outcome:
    """Does a message lead to the intent, and do phrases of other intents fit it as well?"""
    text = moment.session.resolved_user_input
    if row.is_semantic:
        return Outcome("Examples are compared by what they mean, when a message arrives that no pattern fits.")
    outcome = _by_text(row, text, f"The message leads to {row.intent_code}.")
    hits = classifier_bank(moment.turn.snapshot).hits(text)
    others = [
        f"{other.intent_code} fits as well, by classifier {other.pk}: {excerpt(other.pattern or '', 60)}"
        for other in ordered_classifiers(moment.turn.snapshot)
        if other.pk in hits and other.pk != row.pk and code(other.intent_code) != code(row.intent_code)
    ]
    return Outcome(outcome.headline, outcome.holds, outcome.operands, notes=others[:10], failed=outcome.failed)


def forbidden(row: rows.Policy, name: str, moment: Moment) -> Outcome:
    """Would a policy stop the message?"""
    if code(row.rule_type) == PolicyType.LLM:
        return Outcome("A model judges this when a message arrives; it is not asked here.")
    return _by_text(row, moment.session.user_text, "The policy stops this message.", normalised=True)


def _by_text(row: Any, text: str | None, yes: str, *, normalised: bool = False) -> Outcome:
    bank = TextBank([(row.pk, row.rule_type, row.pattern)], normalised=normalised)
    if row.pk in bank.invalid:
        fault = bank.invalid[row.pk]
        return Outcome(fault.reason, failed=True, notes=[fault.remedy or ""])
    holds = row.pk in bank.hits(text)
    return Outcome(yes if holds else "No match.", holds)


# --- templates --------------------------------------------------------------------------------------------------


def template(row: Any, name: str, moment: Moment) -> Outcome:
    """What does a text say with its names filled in?"""
    rendered = render_lenient(getattr(row, name) or "", template_variables(moment.session, moment.turn))
    if rendered.error is not None:
        return Outcome(f"It cannot be filled in: {rendered.error}", failed=True)
    notes = [f"Nothing sets {one} there." for one in dict.fromkeys(rendered.missing)]
    notes += _Notes().scope(row, moment).found
    if blank(rendered.text):
        return Outcome("The text comes out blank.", False, notes=notes)
    return Outcome("It says:", text=rendered.text, notes=notes)


def arguments(row: rows.DirectTool, name: str, moment: Moment) -> Outcome:
    """What would a tool be called with?"""
    try:
        request = row_request(row, moment.session, moment.turn)
    except InvalidToolRequest as error:
        return Outcome(str(error), failed=True)
    return Outcome("The tool would get:", text=_json(request.args), notes=_Notes().scope(row, moment).found)


def step_name(row: rows.Verbose, name: str, moment: Moment) -> Outcome:
    """Does a step fit the row? The typed text is its name."""
    try:
        if code(row.step_match) == StepMatch.REGEX:
            holds = compile_pattern(row.step_value).found(moment.session.user_text)
        elif code(row.step_match) == StepMatch.JSON_PATH:
            compile_path(row.step_value)
            return Outcome("The path looks at each event as it happens; it can be read.")
        else:
            holds = code_matches(row.step_value, moment.session.user_text)
    except (PatternError, PathError) as error:
        return Outcome(error.reason, failed=True)
    return Outcome("The row is for this step." if holds else "No match.", holds)


def _json(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return excerpt(text, _SHOWN * 10)


# --- when -------------------------------------------------------------------------------------------------------


def _phase(rule: rows.Rule) -> tuple[str | None, str | None]:
    return rule.phase or None, None


def _of_prompt(row: rows.PromptTemplate) -> tuple[str | None, str | None]:
    extracts = code(row.response_type) == PromptUse.SCHEMA_JSON
    return None, "SchemaExtractionStep" if extracts else "ResponseResolutionStep"


def _at(step: str) -> Callable[[Any], tuple[str | None, str | None]]:
    return lambda row: (None, step)


#: What can be tried, by table and column.
TRIALS: Mapping[tuple[str, str], Trial] = {
    ("ce_rule", "match_pattern"): Trial(condition, _phase),
    ("ce_rule", "action_value"): Trial(action_value, _phase, "action:SET_JSON"),
    ("ce_intent_classifier", "pattern"): Trial(phrase, _at("IntentResolutionStep")),
    ("ce_policy", "pattern"): Trial(forbidden, _at("PolicyEnforcementStep")),
    ("ce_response", "exact_text"): Trial(template, _at("ResponseResolutionStep")),
    ("ce_response", "derivation_hint"): Trial(template, _at("ResponseResolutionStep")),
    ("ce_prompt_template", "system_prompt"): Trial(template, _of_prompt),
    ("ce_prompt_template", "user_prompt"): Trial(template, _of_prompt),
    ("ce_mcp_planner", "system_prompt"): Trial(template, _at("McpToolStep")),
    ("ce_mcp_planner", "user_prompt"): Trial(template, _at("McpToolStep")),
    ("ce_tool", "args_template"): Trial(arguments, _at("ToolOrchestrationStep")),
    ("ce_verbose", "step_value"): Trial(step_name),
    ("ce_verbose", "message"): Trial(template),
    ("ce_verbose", "error_message"): Trial(template),
}
