"""Rules that held and their actions, and moves between states."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, fill_template
from audit.narration.sentence import Fact, Parts, Sentence
from audit.narration.wording import find_matched_words, plain, quote
from audit.record.events import Event
from convengine.engine.rules.actions.set_intent import SET_INTENT
from convengine.engine.rules.actions.set_state import SET_STATE
from convengine.engine.rules.conditions.words import (
    claim_words,
    comparison_sentence,
    comparison_words,
    fact_name,
    is_row,
)
from convengine.engine.rules.pattern_examples import describe_compared_pattern
from convengine.engine.rules.stages import RULE_APPLIED, RULE_MATCH
from convengine.engine.stages import STAGES
from convengine.engine.steps.state_graph.stages import STATE_GRAPH_VALID
from convengine.engine.text.compare import code
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.stage import find_stage

Json = Any
_TABLE = "ce_rule"
_RULE = "{ruleId:row ce_rule}"
#: Maximum comparisons in a sentence; the event has all.
_MOST = 2
#: The sign of a shortened text.
_CUT = "…"
#: Comparisons that hold only for the compared value, or show it anyway.
_SAYS_IT = ("==", "=~", "equals", "is", "=", "isYes", "isNo", "isEmpty")
#: Stages of actions, which have the action's name: their declarations describe what each did.
_ACTIONS = tuple(STAGES[action] for action in RuleAction)
#: A state and an intent that were set to their present value.
_STAYS: Mapping[str, tuple[str, str, str]] = {
    SET_STATE: ("fromState", "toState", "kept the state {toState}"),
    SET_INTENT: ("fromIntent", "toIntent", "kept the intent {toIntent}"),
}


def narrate_action(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """What an action did, and why its rule held."""
    event = turn.events[index]
    first, last, stays = _STAYS.get(event.name, ("", "", ""))
    same = bool(stays) and event.payload.get(first) == event.payload.get(last)
    fitting = [stays] if same else [t.template for t in find_stage(event.name).sentences if t.fits(event.payload)]
    parts = next(filter(None, (fill_template(event, f"{_RULE} {words}") for words in fitting)), None)
    parts = parts or fill_template(event, f"{_RULE} applied its action")
    if parts:
        told_so = build_sentence(event, (*_capitalise_first(parts), *_describe_cause(turn, index, event), "."))
        yield replace(
            told_so, conditions=_describe_conditions(turn, index, event), patterns=_list_patterns(turn, index, event)
        )


def narrate_applied_rule(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """An action without a stage of its own, as of the deployment."""
    event = turn.events[index]
    matched = turn.before(index, RULE_MATCH, ruleId=event.payload.get("ruleId"))
    since = matched.row.seq if matched else 0
    if any(event.name in _ACTIONS and event.row.seq > since for event in turn.events[:index]):
        return
    if parts := fill_template(event, f"{_RULE} applied {{action}}[ with {{actionValue}}]"):
        yield build_sentence(event, (*_capitalise_first(parts), *_describe_cause(turn, index, event), "."))


def narrate_allowed_move(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """A move that the state graph allows; nothing for an intent without edges."""
    event = turn.events[index]
    intents = {code(edge.intent_code) for edge in turn.snapshot.enabled_rows(rows.StateEdge)}
    if intents & {code(str(event.payload.get("intent"))), ANY} and (
        parts := fill_template(event, "The state graph allows the move from {fromState} to {toState}.")
    ):
        yield build_sentence(event, parts)


def _describe_cause(turn: NarratedTurn, index: int, event: Event) -> Parts:
    """The comparisons of the rule, from its match event."""
    pk = event.payload.get("ruleId")
    matched = turn.before(index, RULE_MATCH, ruleId=pk)
    if matched is None:
        return ()
    when = fill_template(matched, " ({rulePhase:phase})")
    held = _find_comparisons(matched, pk)
    parts: list[str | Fact] = []
    for comparison in held[:_MOST]:
        parts += [" and " if parts else ", because ", *comparison]
    return (*parts, *((" and other conditions hold",) if len(held) > _MOST else ()), *when)


def _describe_conditions(turn: NarratedTurn, index: int, event: Event) -> tuple[str, ...]:
    """All comparisons of the rule, whole, if the sentence does not name them all or shortens one."""
    pk = event.payload.get("ruleId")
    matched = turn.before(index, RULE_MATCH, ruleId=pk)
    held = _list_operands(matched, pk) if matched else []
    texts = tuple(_describe_whole(operand, path, matched.row.seq) for path, operand in held) if matched else ()
    rule = turn.row(rows.Rule, pk)
    if rule and any(_CUT in text for text in texts):
        # Events shorten long values, too.
        return (*texts, f"The whole condition of the rule: {reveal_invisible(str(rule.match_pattern))}")
    return texts if len(held) > _MOST else ()


def _describe_whole(operand: Mapping[str, Json], path: tuple[str | int, ...], seq: int) -> str:
    """A comparison in words; where they shorten it, also as it is stored."""
    parts = _describe_comparison(operand, path, seq)
    text = "".join(part if isinstance(part, str) else part.text for part in parts)
    if _CUT not in text:
        return text
    compared = {name: operand[name] for name in ("path", "op", "literal", "value") if operand.get(name) is not None}
    return f"{text}: {reveal_invisible(json.dumps(compared, ensure_ascii=False, default=str))}"


def _list_patterns(turn: NarratedTurn, index: int, event: Event) -> tuple[str, ...]:
    """The patterns that the rule tested, whole."""
    pk = event.payload.get("ruleId")
    matched = turn.before(index, RULE_MATCH, ruleId=pk)
    candidates = _describe_items(matched.payload.get("candidates")) if matched else []
    operands = [item for row in candidates if row.get("id") == pk for item in _describe_items(row.get("operands"))]
    return tuple(
        f"{fact_name(str(operand['path']))}: /{operand['literal']}/"
        for operand in operands
        if operand.get("op") == "=~" and operand.get("result") and "path" in operand
    )


def _find_comparisons(matched: Event, pk: Json) -> list[Parts]:
    """The comparisons of a rule, from its match event."""
    return [_describe_comparison(operand, path, matched.row.seq) for path, operand in _list_operands(matched, pk)]


def _list_operands(matched: Event, pk: Json) -> list[tuple[tuple[str | int, ...], Mapping[str, Json]]]:
    """The comparisons of a rule that held, each with its path in the event."""
    for number, candidate in enumerate(_describe_items(matched.payload.get("candidates"))):
        if candidate.get("id") == pk:
            return [
                (("candidates", number, "operands", index), operand)
                for index, operand in enumerate(_describe_items(candidate.get("operands")))
                if operand.get("result") and "path" in operand
            ]
    return []


def _describe_comparison(operand: Mapping[str, Json], path: tuple[str | int, ...], seq: int) -> Parts:
    """One of them: "the message matches /cancel/", "vip is true", "the form is complete"."""
    name, literal = str(operand["path"]), operand.get("literal")
    if is_row(name, str(operand.get("op"))):
        sentence = comparison_sentence(name, str(operand.get("op")), literal, other=operand.get("literalPath"))
        return (Fact(sentence, name, seq, (*path, "path")), *_describe_compared_value(operand, path, seq))
    if claim := claim_words(_plain_path(name), str(operand.get("op")), literal):
        return (Fact(claim, name, seq, (*path, "path")),)
    if operand.get("op") == "equals" and literal == ANY:
        # The pattern that matches every text.
        return ("it always applies",)
    op = "is" if operand.get("op") == "equals" else comparison_words(str(operand.get("op")))
    left = Fact(fact_name(name), name, seq, (*path, "path"))
    if literal is None:
        return (left, " is set" if operand.get("op") in ("exists", "!=") else " is not set")
    if operand.get("op") == "=~":
        words = describe_compared_pattern(str(plain(literal)))
        return (left, " ", Fact(words, literal, seq, (*path, "literal")), *_describe_matched_words(operand, path, seq))
    right = _describe_value(literal)
    return (
        left,
        f" {op} ",
        Fact(right, literal, seq, (*path, "literal")),
        *_describe_compared_value(operand, path, seq),
    )


def _describe_compared_value(operand: Mapping[str, Json], path: tuple[str | int, ...], seq: int) -> Parts:
    """The value that was compared, unless the comparison names it."""
    value = operand.get("value")
    if value is None or operand.get("op") in _SAYS_IT or isinstance(value, (dict, list)):
        return ()
    return (" (it is ", Fact(_describe_value(value), value, seq, (*path, "value")), ")")


def _describe_matched_words(operand: Mapping[str, Json], path: tuple[str | int, ...], seq: int) -> Parts:
    """The part of the compared text that a pattern matched, unless it is the whole text."""
    value = operand.get("value")
    words = find_matched_words(str(operand.get("literal")), value) if isinstance(value, str) else ""
    return (" (by ", Fact(quote(words), value, seq, (*path, "value")), ")") if words and words != value else ()


def _plain_path(path: str) -> str:
    return f"${path[1:]}" if path.startswith("@") else path


def _describe_value(value: Json) -> str:
    return quote(value) if isinstance(value, str) else plain(value)


def _describe_items(value: Json) -> list[Mapping[str, Json]]:
    """The objects of a list; none of redacted ones."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _capitalise_first(parts: Parts) -> Parts:
    first = parts[0]
    if isinstance(first, Fact):
        text = first.text[:1].upper() + first.text[1:]
        return (Fact(text, first.value, first.seq, first.path, first.row, first.column), *parts[1:])
    return parts


NARRATORS: Mapping[str, Narrator] = {
    RULE_APPLIED: narrate_applied_rule,
    **dict.fromkeys(_ACTIONS, narrate_action),
    STATE_GRAPH_VALID: narrate_allowed_move,
}
