"""A rule as one sentence: "When the data for CANCEL_ORDER is complete, go to CONFIRM."."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.domain.enums import MatchTarget, RuleAction, RuleType
from convengine.domain.rows import Rule
from convengine.domain.scope import ANY
from convengine.domain.text import blank, code, excerpt
from convengine.rules import vocabulary
from convengine.rules.actions.contract import ActionValueError
from convengine.rules.conditions import target
from convengine.rules.json_path import PathError
from convengine.rules.path_words import act_words, in_words, noun, value_words

_SHOWN = 60
_COMPLETE = "the data is complete"
_TEXTS: Mapping[str, str] = {
    MatchTarget.USER_TEXT: "the message",
    MatchTarget.RESOLVED_INPUT: "the message (rewritten if it was)",
    MatchTarget.DIALOGUE_ACT: "the dialogue act",
}


def sentence(rule: Rule) -> str:
    """When the rule does what, for somebody who has never seen a pattern. Never raises: drafts are told as well."""
    asked = _condition(rule)
    intent, state = code(rule.intent_code) or ANY, code(rule.state_code) or ANY
    if asked and _COMPLETE in asked and intent != ANY:
        asked = asked.replace(_COMPLETE, f"the data for {intent} is complete")
        intent = ANY
    where = _place(intent, state)
    when = f"When {asked}{where}" if asked else f"Always{where}"
    stop = " No later rule of the phase is tried then." if rule.stop_processing else ""
    return f"{when}, {effect(rule)}.{stop}"


def effect(rule: Rule) -> str:
    """What the rule does, as a clause."""
    action = vocabulary.action(rule.action)
    if action is None:
        return "do nothing, as no action is chosen" if blank(rule.action) else f"do {rule.action}, which is not known"
    try:
        value = action.parse(rule.action_value)
    except (ActionValueError, PathError):
        said = "with no value yet" if blank(rule.action_value) else f"with {excerpt(str(rule.action_value), _SHOWN)}"
        return f"{_first_lower(action.label)} {said}"
    if say := EFFECTS.get(action.name):
        return say(value)
    return f"{_first_lower(action.label)} {excerpt(rule.action_value or '', _SHOWN)}".rstrip()


def _condition(rule: Rule) -> str:
    """The condition as a clause; blank for one that always holds."""
    pattern = (rule.match_pattern or "").strip()
    match code(rule.rule_type):
        case RuleType.EXACT if code(pattern) == ANY:
            return ""
        case RuleType.EXACT if target(rule) == MatchTarget.DIALOGUE_ACT and (act := act_words(pattern)):
            return act
        case RuleType.EXACT:
            return f"{_text(rule)} is “{excerpt(pattern, _SHOWN)}”"
        case RuleType.REGEX:
            return f"{_text(rule)} matches /{excerpt(pattern, _SHOWN)}/"
        case RuleType.JSON_PATH:
            return in_words(pattern) or _unread(pattern)
        case RuleType.CONTEXT_JSON_PATH:
            return in_words(pattern, root="context") or _unread(pattern)
        case "":
            return "… (no kind of condition is chosen)"
    return f"{rule.rule_type} holds for {excerpt(pattern, _SHOWN) or 'it'}"


def _unread(pattern: str) -> str:
    return f"{excerpt(pattern, _SHOWN)} (which does not parse)" if pattern else "… (no condition is written yet)"


def _text(rule: Rule) -> str:
    return _TEXTS.get(target(rule), f"the text {rule.match_target}")


def _place(intent: str, state: str) -> str:
    match intent, state:
        case "ANY", "ANY":
            return ""
        case "ANY", _:
            return f" in state {state}"
        case _, "ANY":
            return f" in {intent}"
    return f" in state {state} of {intent}"


def _first_lower(label: str) -> str:
    return label[:1].lower() + label[1:]


def _values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} to {value_words(value)}" for name, value in values.items())


def _task(reference: Any) -> str:
    methods = f" ({', '.join(reference.methods)})" if reference.methods else ""
    return f"run the task {reference.task}{methods}"


#: For each action what its value, read, makes it do.
EFFECTS: Mapping[str, Callable[[Any], str]] = {
    RuleAction.SET_INTENT: lambda intent: f"turn to intent {intent}",
    RuleAction.SET_STATE: lambda state: f"go to {state}",
    RuleAction.SET_DIALOGUE_ACT: lambda said: f"take the message as {said.act.value}",
    RuleAction.SET_INPUT_PARAM: lambda values: f"set {_values(values)}",
    RuleAction.SET_JSON: lambda copy: f"copy {noun(copy.path.text)} to {copy.key}",
    RuleAction.GET_CONTEXT: lambda key: f"copy the context to {key}",
    RuleAction.GET_SCHEMA_JSON: lambda key: f"copy the collected values to {key}",
    RuleAction.GET_SESSION: lambda key: f"copy the session facts to {key}",
    RuleAction.SET_TASK: _task,
    RuleAction.SET_CONTEXT: lambda values: f"remember {_values(values)}",
    RuleAction.CLEAR_CONTEXT: lambda paths: f"forget {', '.join(paths)}",
    RuleAction.REMOVE_INPUT_PARAM: lambda keys: f"drop {', '.join(keys)}",
    RuleAction.SET_RESPONSE_HINT: lambda text: f"tell the model: “{excerpt(str(text), _SHOWN)}”",
    RuleAction.SET_PREFERENCE: lambda chosen: f"use the {chosen[0].replace('_', ' ')} {chosen[1]} from now on",
}
