"""Search for a turn that shows something of a configuration: beginnings are made from conditions, and played."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from config_admin.health.diagnosis import Witness
from config_admin.health.player import PlayedRules, TurnPlayer
from config_admin.health.rules.beginnings import Wanted, find_beginnings, get_phrase_predicate
from config_admin.health.rules.mentions import is_of_model, is_of_tool_result, list_mentions
from config_admin.health.texts.predicate import TextPredicate
from convengine.engine.rules.conditions.rule import get_target
from convengine.engine.rules.pattern_tree import UnsupportedPattern
from convengine.engine.steps.intents.classifiers import list_matching_patterns
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import MatchTarget, RulePhase, read_phase
from convengine.engine.turn.scope import UNKNOWN

#: Maximum turns to play per round, and rounds; after each, the rows that were in the way are avoided.
MAX_PLAYED, MAX_ROUNDS = 8, 3

_HOLDS_ALWAYS: Mapping[str, Any] = {"rule_type": "EXACT", "match_target": None, "match_pattern": "ANY"}


class WitnessTurn(NamedTuple):
    """A played turn that shows what was looked for."""

    witness: Witness
    played: PlayedRules


def find_turn(
    player: TurnPlayer,
    phase: RulePhase,
    scopes: Sequence[tuple[str, str]],
    acting: Sequence[rows.Rule],
    shows: Callable[[PlayedRules], bool],
) -> WitnessTurn | None:
    """A turn from one of the scopes in which these rules may act, and that shows it.

    Returns None if none is found in time.
    """
    wanted, unwanted_texts = [Wanted(rule) for rule in acting], list[TextPredicate]()
    for _ in range(MAX_ROUNDS if scopes else 0):
        obstacles: dict[rows.Row, None] = {}
        beginnings = find_beginnings(player.snapshot, phase, scopes, wanted, unwanted_texts, is_late=player.is_late)
        for beginning in islice(beginnings, MAX_PLAYED):
            if player.is_late():
                return None
            played = player.play(beginning)
            if shows(played):
                return WitnessTurn(describe_beginning(beginning, played, phase), played)
            obstacles |= dict.fromkeys(_list_obstacles(player, played, phase, acting))
        if not obstacles:
            return None
        for row in obstacles:
            if isinstance(row, rows.Rule):
                wanted.append(Wanted(row, holds=False))
            else:
                unwanted_texts.append(_get_predicate(row))
    return None


def depends_on_answers(
    player: TurnPlayer, phase: RulePhase, scopes: Sequence[tuple[str, str]], acting: Sequence[rows.Rule]
) -> bool:
    """True when the conditions may hold together, depending on what a model or a tool answers.

    Played turns ask neither, so they cannot show it.
    """
    mentions = [mention for rule in acting for mention in list_mentions(rule)]
    restated = [rule for rule in acting if get_target(rule) == MatchTarget.RESOLVED_INPUT]
    by_model = any(map(needs_model, acting)) or any(map(is_of_model, mentions)) or bool(restated)
    by_tool = phase == RulePhase.POST_TOOL_EXECUTION and any(map(is_of_tool_result, mentions))
    if not (by_model and player.world.model_configured) and not by_tool:
        return False
    # A model may restate a message in any words.
    possible = [replace(rule, **_HOLDS_ALWAYS) if rule in restated else rule for rule in acting]
    beginnings = find_beginnings(
        player.snapshot, phase, scopes, [Wanted(rule) for rule in possible], is_late=player.is_late
    )
    return next(beginnings, None) is not None


def find_turn_of_phrase(
    player: TurnPlayer, phrase: rows.Classifier, shows: Callable[[PlayedRules], bool]
) -> WitnessTurn | None:
    """The first message of a conversation, with a text that leads to the phrase. Returns None when none shows it."""
    for text in list_phrase_texts(phrase)[:MAX_PLAYED]:
        beginning = begin_with(text)
        played = player.play(beginning)
        if shows(played):
            return WitnessTurn(beginning, played)
    return None


def begin_with(text: str) -> Witness:
    """A conversation that begins with this message."""
    return Witness(intent=UNKNOWN, state=UNKNOWN, text=text)


def list_phrase_texts(row: rows.Classifier) -> tuple[str, ...]:
    """Texts that lead to the row when no other row takes them; none for examples that are compared by meaning."""
    if not row.is_phrase and not row.is_pattern:
        return ()
    try:
        return get_phrase_predicate(row).samples
    except UnsupportedPattern:
        return ()


def needs_model(row: rows.Row) -> bool:
    """True for a rule that runs after a model's answer only: no played turn gets there."""
    return isinstance(row, rows.Rule) and read_phase(row.phase) in (
        RulePhase.POST_AGENT_INTENT,
        RulePhase.POST_AGENT_MCP,
    )


def describe_beginning(beginning: Witness, played: PlayedRules, phase: RulePhase) -> Witness:
    """The beginning as the witness of what happened in a phase of its turn."""
    first = next((step for step in played.applied if step.phase == phase), None)
    act = (first.before if first else played.end).input_params.get("dialogue_act")
    return replace(beginning, phase=phase.value, dialogue_act=str(act) if act else None)


def _list_obstacles(
    player: TurnPlayer, played: PlayedRules, phase: RulePhase, acting: Sequence[rows.Rule]
) -> Iterator[rows.Row]:
    """The rows that kept the rules from acting: policies, rules that end the list, and phrases of other intents."""
    for step in played.applied:
        rule = player.snapshot.row(rows.Rule, step.rule_id)
        if rule is not None and rule.stop_processing and rule not in acting and step.phase == phase:
            yield rule
    if played.is_blocked:
        yield from filter(played.is_decided_by, player.snapshot.enabled_rows(rows.Policy))
    if phase == RulePhase.POST_CLASSIFIER_INTENT:
        intents = {code(rule.intent_code) for rule in acting}
        for row in list_matching_patterns(player.snapshot, played.end.user_text):
            if code(row.intent_code) not in intents:
                yield row


def _get_predicate(row: rows.Row) -> TextPredicate:
    if isinstance(row, rows.Classifier):
        return get_phrase_predicate(row)
    return TextPredicate(code(getattr(row, "rule_type", "")), getattr(row, "pattern", "") or "")
