"""Rules that held and their actions, and moves between states."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, find_cleared
from audit.narration.wording import Fact, Parts, Sentence, find_matched_words, get_text, join_parts, plain, quote
from audit.record.events import Event
from convengine.engine.rules.conditions.rule import UNREADABLE, read_condition
from convengine.engine.rules.conditions.words import (
    claim_words,
    comparison_sentence,
    fact_name,
    list_leaves,
    negated_sentence,
)
from convengine.engine.rules.stages import RULE_APPLIED, RULE_MATCH, SET_INTENT, SET_STATE
from convengine.engine.stages import STAGES
from convengine.engine.steps.state_graph.step import STATE_GRAPH_VALID
from convengine.engine.text.compare import code
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.stage import find_stage
from convengine.json_value import Json

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
    """What an action did, and why its rule held; nothing if it only cleared what was cleared before."""
    event = turn.events[index]
    first, last, stays = _STAYS.get(event.name, ("", "", ""))
    extra = find_cleared(turn, index)
    if extra is None:
        return
    same = bool(stays) and event.payload.get(first) == event.payload.get(last)
    fitting = [stays] if same else [t.template for t in find_stage(event.name).sentences if t.fits(event.payload)]
    filled = (turn.fill(event, f"{_RULE} {words}", extra) for words in (*fitting, "applied its action"))
    if parts := next(filter(None, filled), None):
        matched = turn.before(index, RULE_MATCH, ruleId=event.payload.get("ruleId"))
        sentence = build_sentence(event, (*parts, *_describe_cause(turn, matched), "."))
        yield replace(
            sentence,
            conditions=_describe_conditions(turn, matched),
            patterns=_list_patterns(turn, matched) if matched else (),
        )


def narrate_applied_rule(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """An action of the deployment, which has no stage of its own; nothing if the stage of an action came before."""
    event = turn.events[index]
    matched = turn.before(index, RULE_MATCH, ruleId=event.payload.get("ruleId"))
    since = matched.row.seq if matched else 0
    if any(earlier.name in _ACTIONS and earlier.row.seq > since for earlier in turn.events[:index]):
        return
    if parts := turn.fill(event, f"{_RULE} applied {{action}}[ with {{actionValue}}]"):
        yield build_sentence(event, (*parts, *_describe_cause(turn, matched), "."))


def narrate_allowed_move(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """A move that the state graph allows; nothing for an intent without edges."""
    event = turn.events[index]
    intents = {code(edge.intent_code) for edge in turn.snapshot.enabled_rows(rows.StateEdge)}
    if intents & {code(str(event.payload.get("intent"))), ANY} and (
        parts := turn.fill(event, "The state graph allows the move from {fromState} to {toState}.")
    ):
        yield build_sentence(event, parts)


def _describe_cause(turn: NarratedTurn, matched: Event | None) -> Parts:
    """Two comparisons of the rule that held, whether there are more, and its phase; empty without its match event."""
    if matched is None:
        return ()
    when = turn.fill(matched, " ({rulePhase:phase})")
    held = [
        _describe_comparison(operand, path, matched.row.seq)
        for path, operand in _list_operands(turn, matched)
        if (operand.get("op"), operand.get("literal")) != ("equals", ANY)
    ]
    if not held:
        return when
    return (", because ", *join_parts([*held[:_MOST], *([("other conditions hold",)] if held[_MOST:] else [])]), *when)


def _describe_conditions(turn: NarratedTurn, matched: Event | None) -> tuple[str, ...]:
    """All comparisons of the rule, whole, if the sentence does not name them all or shortens one; else empty."""
    if matched is None:
        return ()
    held = _list_operands(turn, matched)
    texts = tuple(_describe_whole(operand, path, matched.row.seq) for path, operand in held)
    rule = turn.row(rows.Rule, matched.payload.get("ruleId"))
    if rule and any(_CUT in text for text in texts):
        # Events shorten long values, too.
        return (*texts, f"The whole condition of the rule: {reveal_invisible(str(rule.match_pattern))}")
    return texts if len(held) > _MOST else ()


def _describe_whole(operand: Mapping[str, Json], path: tuple[str | int, ...], seq: int) -> str:
    """A comparison in words; where they shorten it, also as it is stored."""
    text = "".join(get_text(part) for part in _describe_comparison(operand, path, seq))
    return f"{text}: {dump_comparison(operand)}" if _CUT in text else text


def dump_comparison(operand: Mapping[str, Json], indent: int | None = None) -> str:
    compared = {name: operand[name] for name in ("path", "op", "literal", "value") if operand.get(name) is not None}
    return reveal_invisible(json.dumps(compared, indent=indent, ensure_ascii=False, default=str))


def _list_patterns(turn: NarratedTurn, matched: Event) -> tuple[str, ...]:
    """The patterns that the rule tested and that matched, whole."""
    return tuple(
        f"{fact_name(str(operand['path']))}: /{operand['literal']}/"
        for _, operand in _list_operands(turn, matched)
        if operand.get("op") == "=~" and operand.get("result")
    )


def _list_operands(turn: NarratedTurn, matched: Event) -> list[tuple[tuple[str | int, ...], Mapping[str, Json]]]:
    """The comparisons that made a rule hold, each with its path in the match event.

    One that is negated in the condition of the rule speaks for it by its failure, and not by its success.
    """
    speaks = _read_polarity(turn.row(rows.Rule, matched.payload.get("ruleId")))
    for number, candidate in enumerate(_list_objects(matched.payload.get("candidates"))):
        if candidate.get("id") == matched.payload.get("ruleId"):
            return [
                (("candidates", number, "operands", index), operand)
                for index, operand in enumerate(_list_objects(candidate.get("operands")))
                if "path" in operand and speaks(operand)
            ]
    return []


def _read_polarity(rule: rows.Rule | None) -> Callable[[Mapping[str, Json]], bool]:
    """A function that tells whether the result of a comparison speaks for its rule.

    Without a rule, or with a condition that cannot be read, each comparison that holds does.
    """
    try:
        condition = read_condition(rule) if rule else None
    except UNREADABLE:
        condition = None
    leaves = set(list_leaves(condition.tree)) if condition else set()

    def speaks(operand: Mapping[str, Json]) -> bool:
        holds, key = bool(operand.get("result")), (str(operand["path"]), str(operand.get("op")))
        # A comparison inside a path is no part of the tree.
        return (*key, not holds) in leaves or (holds and (*key, True) not in leaves)

    return speaks


def _describe_comparison(operand: Mapping[str, Json], path: tuple[str | int, ...], seq: int) -> Parts:
    """A comparison: "vip is true", "the form is complete"; with the matched words or the compared value."""
    name, op, value = str(operand["path"]), str(operand.get("op")), operand.get("value")
    literal = operand.get("literal")
    write = comparison_sentence if operand.get("result") else negated_sentence
    claim = Fact(write(name, op, literal, other=operand.get("literalPath")), name, seq, (*path, "path"))
    words = find_matched_words(str(literal), value) if op == "=~" and isinstance(value, str) else ""
    if words and words != value and words.casefold() not in claim.text.casefold():
        return (claim, " (by ", Fact(quote(words), value, seq, (*path, "value")), ")")
    if value is None or op in _SAYS_IT or isinstance(value, (dict, list)) or claim_words(name, op, literal):
        return (claim,)
    text = quote(value) if isinstance(value, str) else plain(value)
    return (claim, " (it is ", Fact(text, value, seq, (*path, "value")), ")")


def _list_objects(value: Json) -> list[Mapping[str, Json]]:
    """The objects of a list; none of redacted ones."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


NARRATORS: Mapping[str, Narrator] = {
    RULE_APPLIED: narrate_applied_rule,
    **dict.fromkeys(_ACTIONS, narrate_action),
    STATE_GRAPH_VALID: narrate_allowed_move,
}
