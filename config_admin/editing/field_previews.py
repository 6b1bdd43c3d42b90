"""Try patterns, paths and templates from the edit page, with the engine's code; nothing is saved or called."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from config_admin.editing.sample_turns import SampleTurn
from convengine.engine.prompts.render import render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.actions.copies import parse_copy
from convengine.engine.rules.conditions.evaluate import compile_path
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.rules.conditions.operators import OPERATORS
from convengine.engine.rules.conditions.rule import evaluate_rule
from convengine.engine.rules.conditions.words import describe_comparison, fact_name
from convengine.engine.rules.explain import find_row_fault
from convengine.engine.rules.pattern_examples import describe_compared_pattern
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.rules.text_bank import TextBank
from convengine.engine.steps.intents.classifiers import (
    find_intents,
    get_classifier_bank,
    list_matching_patterns,
    order_classifiers,
)
from convengine.engine.steps.tools.call import InvalidToolRequest, build_row_request
from convengine.engine.text.compare import blank, code, shorten
from convengine.engine.text.several_texts import select_text, split_texts
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows
from convengine.engine.turn.enums import PolicyType, PromptUse, RuleAction, RuleType, StepMatch
from convengine.engine.turn.facts import collect_facts
from convengine.engine.turn.scope import code_matches
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.engine.understanding.phrases.models import Making, choose_making
from convengine.engine.understanding.phrases.terms import has_words
from convengine.json_value import Json
from convengine.server.admin_site import phrase_account
from convengine.server.interfaces.older_templates import to_jinja

_SHOWN = 400


@dataclass(frozen=True)
class PreviewResult:
    """The result of a try. `holds` is None if there is no yes or no, as for a rendered text."""

    headline: str
    holds: bool | None = None
    #: The comparisons: {path, value, op, literal, result}.
    operands: Sequence[Mapping[str, Json]] = ()
    #: The resulting text or JSON.
    text: str | None = None
    #: Why a message means an intent by phrases.
    account: phrase_account.PhraseAccount | None = None
    notes: Sequence[str] = ()
    #: True when the row cannot be tried as it is.
    failed: bool = False


Try = Callable[[Any, str, SampleTurn], PreviewResult]


class FieldPreview(NamedTuple):
    """What can be tried for a field, and at which moment of a stored turn."""

    run: Try
    #: Gives the row's (phase of rules, step); both null for the end of the turn.
    at: Callable[[Any], tuple[str | None, str | None]] = lambda row: (None, None)
    #: `field:value` if it can be tried with that choice only.
    only: str = ""


@dataclass
class _Notes:
    """Notes besides the result."""

    lines: list[str] = field(default_factory=list)

    def scope(self, row: Any, moment: SampleTurn) -> "_Notes":
        session = moment.session
        fits = code_matches(row.intent_code, session.intent) and code_matches(row.state_code, session.state)
        if moment.is_stored and not fits:
            where = f"in intent {session.intent}, state {session.state}"
            self.lines.append(f"This row would not be evaluated in that turn. The conversation was {where}.")
        if moment.note:
            self.lines.append(moment.note)
        return self


# --- rules ------------------------------------------------------------------------------------------------------


def try_condition(rule: rows.Rule, name: str, moment: SampleTurn) -> PreviewResult:
    if fault := find_row_fault(moment.turn.snapshot, rule):
        return PreviewResult(fault.reason, failed=True, notes=[fault.remedy or ""])
    verdict = evaluate_rule(rule, moment.session)
    notes = _Notes().scope(rule, moment).lines
    # The field of a condition keeps its name; others are named in words.
    name_field = str if code(rule.rule_type) == RuleType.CONDITION else fact_name
    operands = [
        {
            **operand,
            **{name: _format_json(operand.get(name)) for name in ("value", "literal")},
            "name": name_field(str(operand.get("path"))),
            "phrase": _describe_row(rule, operand),
        }
        for operand in verdict.operands
    ]
    return PreviewResult(
        "The condition is met." if verdict.matched else "No match.", verdict.matched, operands, notes=notes
    )


def _describe_row(rule: rows.Rule, operand: Mapping[str, Json]) -> str:
    """A comparison after the name of its field, in words; blank where the parts say it."""
    if code(rule.rule_type) != RuleType.CONDITION:
        return describe_compared_pattern(str(operand.get("literal"))) if operand.get("op") == "=~" else ""
    words = describe_comparison(
        OPERATORS[str(operand["op"])], operand.get("literal"), field=operand.get("literalPath") or None
    )
    value = operand.get("literal") if "literalPath" in operand else operand.get("literalValue")
    return f"{words} ({_format_json(value)})" if value is not None else words


def try_action_value(rule: rows.Rule, name: str, moment: SampleTurn) -> PreviewResult:
    """Try the path of SET_JSON."""
    if code(rule.action) != RuleAction.SET_JSON:
        return PreviewResult(
            "The preview only works for paths. Choose the action “Copy from a path” (SET_JSON).", failed=True
        )
    try:
        copy = parse_copy(rule.action_value)
    except ActionValueError as error:
        return PreviewResult(error.message, failed=True)
    exists, value = copy.path.first(collect_facts(moment.session))
    if not exists:
        return PreviewResult("The path matches nothing, so nothing is copied.", False)
    return PreviewResult(f"This value is copied to {copy.key}:", text=_format_json(value))


# --- phrases ----------------------------------------------------------------------------------------------------


def try_phrase(row: rows.Classifier, name: str, moment: SampleTurn) -> PreviewResult:
    """Try a phrase: does a message lead to its intent, and do phrases of other intents match too?"""
    text = moment.session.resolved_user_input
    if row.is_phrase:
        return _try_edited_row(row, moment.turn.snapshot, text)
    outcome = _try_text_match(row, text, f"The message leads to {row.intent_code}.")
    hits = get_classifier_bank(moment.turn.snapshot).hits(text)
    others = [
        f"{other.intent_code} also matches, by phrase {other.pk}: {shorten(other.pattern or '', 60)}"
        for other in order_classifiers(moment.turn.snapshot)
        if other.pk in hits and other.pk != row.pk and code(other.intent_code) != code(row.intent_code)
    ]
    return replace(outcome, notes=[*outcome.notes, *others[:10]])


@choose_making(Making.PREVIEW)
def _try_edited_row(row: rows.Classifier, snapshot: Snapshot, text: str | None) -> PreviewResult:
    """Try a phrase as if it were saved: the intents that the message means, and how sure it is of them."""
    if not has_words(row.pattern):
        return PreviewResult("This phrase has no word, so it matches no message.", failed=True)
    table = snapshot.table(rows.Classifier)
    with_row = Table(table.name, (*(other for other in table.rows if other.pk != row.pk), replace(row, enabled=True)))
    edited = Snapshot(snapshot.config_version, {**snapshot.tables, table.name: with_row}, snapshot.defaults)
    phrase_matches, intents = match_phrases(edited, text), find_intents(edited, text)
    notes = [
        f"Pattern {other.pk} of {other.intent_code} matches, too." for other in list_matching_patterns(edited, text)[:1]
    ]
    notes += [
        phrase_account.describe_match(match.intent, phrase_matches.describe(match))
        for match in (*phrase_matches.hits, *phrase_matches.near)[:3]
    ]
    scores = [match.confidence for match in phrase_matches.hits]
    notes.append(phrase_account.describe_needed_score(edited, phrase_matches.min_confidence, scores))
    account = phrase_account.build_phrase_account(edited, text) if text and has_words(text) else None
    own = code(row.intent_code)
    headline = f"The message leads to {intents[0]}." if len(intents) == 1 else "No match."
    if own in intents and len(intents) > 1:
        headline = f"The user is asked to choose between {join_names(intents)}."
    return PreviewResult(headline, intents == (own,), account=account, notes=notes)


def try_policy(row: rows.Policy, name: str, moment: SampleTurn) -> PreviewResult:
    """Try a policy: would it stop the message?"""
    if code(row.rule_type) == PolicyType.LLM:
        return PreviewResult("A model checks this policy during a turn. It is not called in the preview.")
    return _try_text_match(row, moment.session.user_text, "The policy blocks this message.", normalised=True)


def _try_text_match(row: Any, text: str | None, yes: str, *, normalised: bool = False) -> PreviewResult:
    """Try whether a pattern of a row matches the text. `yes`: the headline if it does."""
    bank = TextBank([(row.pk, row.rule_type, row.pattern)], normalised=normalised)
    if row.pk in bank.invalid:
        fault = bank.invalid[row.pk]
        return PreviewResult(fault.reason, failed=True, notes=[fault.remedy or ""])
    holds = row.pk in bank.hits(text)
    return PreviewResult(yes if holds else "No match.", holds)


# --- templates --------------------------------------------------------------------------------------------------


def try_template(row: Any, name: str, moment: SampleTurn) -> PreviewResult:
    template = to_jinja(getattr(row, name) or "")
    text, texts = select_text(template, moment.session.conversation_id), split_texts(template)
    rendered = render_lenient(text, build_variables(moment.session, moment.turn))
    if rendered.error is not None:
        return PreviewResult(f"The template cannot be rendered: {rendered.error}", failed=True)
    notes = [f"Text {texts.index(text) + 1} of {len(texts)}."] if len(texts) > 1 else []
    notes += [f"No value for {name} in this turn." for name in dict.fromkeys(rendered.missing)]
    notes += [f"Button “{label}” sends “{message}”." for label, message in rendered.buttons]
    notes += _Notes().scope(row, moment).lines
    if blank(rendered.text):
        return PreviewResult("The text is empty.", False, notes=notes)
    return PreviewResult("Result:", text=rendered.text, notes=notes)


def try_arguments(row: rows.DirectTool, name: str, moment: SampleTurn) -> PreviewResult:
    """Render the arguments of a tool call."""
    try:
        request = build_row_request(row, moment.session, moment.turn)
    except InvalidToolRequest as error:
        return PreviewResult(str(error), failed=True)
    return PreviewResult(
        "Arguments for the tool:", text=_format_json(request.args), notes=_Notes().scope(row, moment).lines
    )


def try_step_name(row: rows.Verbose, name: str, moment: SampleTurn) -> PreviewResult:
    """Try whether a step matches the row. The typed text is the name of the step."""
    try:
        if code(row.step_match) == StepMatch.REGEX:
            holds = compile_pattern(row.step_value).occurs_in(moment.session.user_text)
        elif code(row.step_match) == StepMatch.JSON_PATH:
            compile_path(row.step_value)
            return PreviewResult("The path is valid. It is evaluated for each event of a turn.")
        else:
            holds = code_matches(row.step_value, moment.session.user_text)
    except (PatternError, PathError) as error:
        return PreviewResult(error.reason, failed=True)
    return PreviewResult("The row applies to this step." if holds else "No match.", holds)


def _format_json(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return shorten(text, _SHOWN * 10)


# --- when -------------------------------------------------------------------------------------------------------


def _get_phase(rule: rows.Rule) -> tuple[str | None, str | None]:
    return rule.phase or None, None


def _get_prompt_step(row: rows.PromptTemplate) -> tuple[str | None, str | None]:
    extracts = code(row.response_type) == PromptUse.SCHEMA_JSON
    return None, "SchemaExtractionStep" if extracts else "ResponseResolutionStep"


def _make_step_source(step: str) -> Callable[[Any], tuple[str | None, str | None]]:
    return lambda row: (None, step)


#: What can be tried, by table and column.
FIELD_PREVIEWS: Mapping[tuple[str, str], FieldPreview] = {
    ("ce_rule", "match_pattern"): FieldPreview(try_condition, _get_phase),
    ("ce_rule", "action_value"): FieldPreview(try_action_value, _get_phase, "action:SET_JSON"),
    ("ce_intent_classifier", "pattern"): FieldPreview(try_phrase, _make_step_source("IntentResolutionStep")),
    ("ce_policy", "pattern"): FieldPreview(try_policy, _make_step_source("PolicyEnforcementStep")),
    ("ce_response", "exact_text"): FieldPreview(try_template, _make_step_source("ResponseResolutionStep")),
    ("ce_response", "derivation_hint"): FieldPreview(try_template, _make_step_source("ResponseResolutionStep")),
    ("ce_prompt_template", "system_prompt"): FieldPreview(try_template, _get_prompt_step),
    ("ce_prompt_template", "user_prompt"): FieldPreview(try_template, _get_prompt_step),
    ("ce_mcp_planner", "system_prompt"): FieldPreview(try_template, _make_step_source("McpToolStep")),
    ("ce_mcp_planner", "user_prompt"): FieldPreview(try_template, _make_step_source("McpToolStep")),
    ("ce_tool", "args_template"): FieldPreview(try_arguments, _make_step_source("ToolOrchestrationStep")),
    ("ce_verbose", "step_value"): FieldPreview(try_step_name),
    ("ce_verbose", "message"): FieldPreview(try_template),
    ("ce_verbose", "error_message"): FieldPreview(try_template),
}
