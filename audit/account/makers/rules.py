"""Rules that held and what they did, and moves between states."""

from collections.abc import Iterator, Mapping
from typing import Any

from audit.account.making import Maker, Say, Scene, sentence, told
from audit.account.sentence import Fact, Parts, Sentence, Tone
from audit.account.wording import plain, said
from audit.expand import Event
from convengine.domain import rows
from convengine.domain.scope import ANY
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.rules.path_words import comparison_words, noun

Json = Any
_TABLE = "ce_rule"
_RULE = "{ruleId:row ce_rule}"
#: How many comparisons of a condition are told; all stand in the event.
_MOST = 2
#: Comparisons that hold only where the value is what it was compared with, or shows it anyway.
_SAYS_IT = ("==", "=~", "equals")
#: What each action did.
_DID: Mapping[str, str] = {
    Stage.SET_INTENT: "turned the conversation from {fromIntent} to {toIntent}",
    Stage.SET_STATE: "moved the state from {fromState} to {toState}",
    Stage.SET_DIALOGUE_ACT: "took the message as {dialogueAct}",
    Stage.SET_INPUT_PARAM: "set {appliedInputParams}",
    Stage.SET_JSON: "copied {path} to {key}[, which is {value} now]",
    Stage.SET_TASK: "ran the task {beanName}[ ({beanMethodNames:names})]",
    Stage.GET_CONTEXT: "copied the context to {key}",
    Stage.GET_SCHEMA_JSON: "copied the collected values to {key}",
    Stage.GET_SESSION: "copied the session facts to {key}",
    Stage.SET_CONTEXT: "remembered {values}",
    Stage.CLEAR_CONTEXT: "forgot {paths:names}",
    Stage.REMOVE_INPUT_PARAM: "dropped {removed:names}",
    Stage.SET_RESPONSE_HINT: "told the model {responseHint:said}",
    Stage.SET_PREFERENCE: "chose {toId} as the {kind} of the conversation",
}
#: A state and an intent that were set to what they were.
_STAYS: Mapping[str, tuple[str, str, str]] = {
    Stage.SET_STATE: ("fromState", "toState", "set the state to {toState}, which it was"),
    Stage.SET_INTENT: ("fromIntent", "toIntent", "set the intent to {toIntent}, which it was"),
}


def did(scene: Scene, place: int) -> Iterator[Sentence]:
    """What an action did, and why its rule held."""
    event = scene.events[place]
    first, last, stays = _STAYS.get(event.name, ("", "", ""))
    same = bool(stays) and event.payload.get(first) == event.payload.get(last)
    parts = told(event, f"{_RULE} {stays if same else _DID[event.name]}") or told(event, f"{_RULE} did what it does")
    if parts:
        yield sentence(event, (*_first_upper(parts), *_because(scene, place, event), "."))


def applied(scene: Scene, place: int) -> Iterator[Sentence]:
    """An action that has no stage of its own, as those of the deployment."""
    event = scene.events[place]
    matched = scene.before(place, Stage.RULE_MATCH, ruleId=event.payload.get("ruleId"))
    since = matched.row.seq if matched else 0
    if any(one.name in _DID and one.row.seq > since for one in scene.events[:place]):
        return
    if parts := told(event, f"{_RULE} did {{action}}[ with {{actionValue}}]"):
        yield sentence(event, (*_first_upper(parts), *_because(scene, place, event), "."))


def allowed(scene: Scene, place: int) -> Iterator[Sentence]:
    """A move that edges of the graph allow; where an intent has none, every move is allowed, and nothing is said."""
    event = scene.events[place]
    intents = {code(edge.intent_code) for edge in scene.snapshot.enabled(rows.StateEdge)}
    if intents & {code(str(event.payload.get("intent"))), ANY} and (
        parts := told(event, "The state graph allows the move from {fromState} to {toState}.")
    ):
        yield sentence(event, parts)


def _because(scene: Scene, place: int, event: Event) -> Parts:
    """The comparisons by which the rule held, out of the event that says so."""
    pk = event.payload.get("ruleId")
    matched = scene.before(place, Stage.RULE_MATCH, ruleId=pk)
    if matched is None:
        return ()
    when = told(matched, " ({rulePhase:phase})")
    for number, candidate in enumerate(_items(matched.payload.get("candidates"))):
        if candidate.get("id") == pk and (operands := _items(candidate.get("operands"))):
            path = ("candidates", number, "operands")
            return (*_compared(operands, path, matched.row.seq), *when)
    return when


def _compared(operands: list[Mapping[str, Json]], path: tuple[str | int, ...], seq: int) -> Parts:
    parts: list[str | Fact] = []
    held = [(number, one) for number, one in enumerate(operands) if one.get("result") and "path" in one]
    for number, one in held[:_MOST]:
        parts += [" and " if parts else ", because ", *_comparison(one, (*path, number), seq)]
    return (*parts, *((" and more holds",) if len(held) > _MOST else ()))


def _comparison(one: Mapping[str, Json], path: tuple[str | int, ...], seq: int) -> Parts:
    """One of them: "the message matches /cancel/", "input param vip is true"."""
    name, literal = str(one["path"]), one.get("literal")
    if one.get("op") == "equals" and literal == ANY:
        # The pattern that holds for every text.
        return ("it holds always",)
    op = "is" if one.get("op") == "equals" else comparison_words(str(one.get("op")))
    left = Fact(_noun(name), name, seq, (*path, "path"))
    if literal is None:
        return (left, f" {op}") if one.get("op") == "exists" else (left, f" {op} nothing")
    right = f"/{plain(literal)}/" if one.get("op") == "=~" else _value(literal)
    found = one.get("value")
    shown: Parts = ()
    if found is not None and one.get("op") not in _SAYS_IT and not isinstance(found, (dict, list)):
        shown = (" (it is ", Fact(_value(found), found, seq, (*path, "value")), ")")
    return (left, f" {op} ", Fact(right, literal, seq, (*path, "literal")), *shown)


def _noun(path: str) -> str:
    target = {"USER_TEXT": "the message", "RESOLVED_INPUT": "the message as it was read", "DIALOGUE_ACT": "the act"}
    return target.get(path) or noun(f"${path[1:]}" if path.startswith("@") else path)


def _value(value: Json) -> str:
    return said(value) if isinstance(value, str) else plain(value)


def _items(value: Json) -> list[Mapping[str, Json]]:
    """The objects of a list; of what was redacted, none."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _first_upper(parts: Parts) -> Parts:
    first = parts[0]
    if isinstance(first, Fact):
        text = first.text[:1].upper() + first.text[1:]
        return (Fact(text, first.value, first.seq, first.path, first.row, first.column), *parts[1:])
    return parts


MAKERS: Mapping[str, Maker] = {
    Stage.RULE_MATCH: (),
    Stage.RULE_APPLIED: applied,
    Stage.RULE_NO_MATCH: (),
    Stage.RULE_ERROR: (
        Say("The action {action} of {ruleId:row ce_rule} could not be done: {errorMessage}.", tone=Tone.ERROR),
    ),
    Stage.RULE_PASS_CAP_REACHED: (
        Say("Stopped the rules after {passes} passes: they went on changing intent or state.", tone=Tone.WARNING),
    ),
    **dict.fromkeys(_DID, did),
    Stage.STATE_GRAPH_VALID: allowed,
    Stage.STATE_GRAPH_VIOLATION: (
        Say("The state graph does not allow the move from {fromState} to {toState}[ ({reason})].", tone=Tone.WARNING),
    ),
    Stage.STATE_GRAPH_REVERTED: (Say("Took the move from {fromState} to {toState} back.", tone=Tone.WARNING),),
}
