"""Contradictions between the sentences of an account and the outcome of its turn, and sentences that tell nothing.

Nothing is shared with the narration: sentences are read as text, and the outcome is read from the stored events.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.record.events import Event
from convengine.engine.cached_property import cached_property

Json = Any


@dataclass(frozen=True)
class Outcome:
    """What a turn stored."""

    events: Sequence[Event]
    #: Display names of intents by code, and titles of fields by path, as far as they have some.
    names: Mapping[str, str]
    titles: Mapping[str, str]

    def list_payloads(self, *stages: str) -> list[Mapping[str, Json]]:
        """The payloads of the events of some stages."""
        return [event.payload for event in self.events if event.name in stages]

    def has_reached(self, *stages: str) -> bool:
        """True if the turn reached one of the stages."""
        return bool(self.list_payloads(*stages))

    @cached_property
    def start(self) -> Mapping[str, Json]:
        """The session when the conversation was loaded."""
        loaded = [event.state for event in self.events if event.name == "CONVERSATION_LOADED"]
        return loaded[0] if loaded else {}

    @cached_property
    def end(self) -> Mapping[str, Json]:
        """The session after the turn; the event about its end counts more, as settings may filter changes out."""
        ends = [
            {key: payload.get(key) for key in ("intent", "state")} for payload in self.list_payloads("ENGINE_RETURN")
        ]
        return {**self.events[-1].state, **(ends[-1] if ends else {})}

    @cached_property
    def acts(self) -> set[str]:
        """The dialogue acts that the turn decided on."""
        stages = ("DIALOGUE_ACT_CLASSIFIED", "DIALOGUE_ACT_FINAL", "SET_DIALOGUE_ACT", "INTERACTION_POLICY_DECIDED")
        return {str(payload.get("dialogueAct")) for payload in self.list_payloads(*stages)}

    def is_intent(self, said: str, code: str | None) -> bool:
        """True if the words of a sentence are this intent."""
        code = code or "UNKNOWN"
        return squash(said) in (squash(code), squash(self.names.get(code) or code))

    def is_field(self, said: str, path: str | None) -> bool:
        """True if the words of a sentence are this field."""
        return path is not None and squash(said) in (squash(path), squash(self.titles.get(path, path)))


def squash(text: str) -> str:
    """Letters and digits in lower case."""
    return "".join(filter(str.isalnum, text)).lower()


def read_dialogue(session: Mapping[str, Json]) -> Mapping[str, Json]:
    """What a session knows of the open question."""
    context = session.get("context")
    branch = context.get("dialogue") if isinstance(context, Mapping) else None
    return branch if isinstance(branch, Mapping) else {}


def split_names(text: str) -> list[str]:
    """The names of "a, b and c"."""
    return re.split(r", | and ", text)


_STATES = {"handed over": "HAND_OVER", "asked which intent": "INTENT_COLLISION"}


def _is_state(said: str, code: str | None) -> bool:
    return squash(_STATES.get(said.lower(), said)) == squash(code or "UNKNOWN")


def _stays(turn: Outcome, match: re.Match[str]) -> bool:
    before = [payload.get("previousIntent") for payload in turn.list_payloads("INTENT_RESOLVE_START")]
    is_same = turn.end.get("intent") in before and turn.end.get("intent") not in (None, "UNKNOWN")
    is_known = match[1] is None or turn.is_intent(match[1], turn.end.get("intent"))
    return is_same and is_known and not turn.has_reached("CONVERSATION_RESET")


def _is_recognised(turn: Outcome, match: re.Match[str]) -> bool:
    moved = ("SET_INTENT", "CONVERSATION_RESET", "FORM_GIVEN_UP", "ENGINE_KNOWN_FAILURE", "ENGINE_UNKNOWN_FAILURE")
    answered = [payload.get("intent") for payload in turn.list_payloads("DIGRESSION_ANSWERED")]
    intents = [turn.end.get("intent"), *answered]
    is_taken = any(turn.is_intent(match[1], intent) for intent in intents) or turn.has_reached(*moved)
    return is_taken and not turn.has_reached("NOT_UNDERSTOOD")


def _is_left_there(turn: Outcome, match: re.Match[str]) -> bool:
    return turn.is_intent(match[1], turn.end.get("intent")) and _is_state(match[2], turn.end.get("state"))


def _was_there(turn: Outcome, match: re.Match[str]) -> bool:
    loaded = turn.list_payloads("CONVERSATION_LOADED")[0]
    return turn.is_intent(match[1], loaded.get("intent")) and _is_state(match[2], loaded.get("state"))


def _was_asked(turn: Outcome, match: re.Match[str]) -> bool:
    return turn.is_field(match[1], read_dialogue(turn.start).get("asked_field"))


def _is_asked(turn: Outcome, match: re.Match[str]) -> bool:
    return (
        turn.is_field(match[1], read_dialogue(turn.end).get("asked_field"))
        and read_dialogue(turn.end).get("leaving") is None
    )


def _is_offered(turn: Outcome, match: re.Match[str]) -> bool:
    return any(turn.is_field(match[1], path) for path in read_dialogue(turn.end).get("offered") or ())


def _is_missing(turn: Outcome, match: re.Match[str]) -> bool:
    named = [squash(name) for name in split_names(match[1])]
    for payload in turn.list_payloads("SCHEMA_STATUS"):
        paths = payload.get("missingRequiredFields") or []
        if named == [squash(turn.titles.get(path, path)) for path in paths] or "more" in match[1]:
            return True
    return False


def _is_complete(turn: Outcome, match: re.Match[str]) -> bool:
    return any(
        payload.get("schemaComplete") or not payload.get("missingRequiredFields")
        for payload in turn.list_payloads("SCHEMA_STATUS")
    )


def _gave(turn: Outcome, match: re.Match[str]) -> bool:
    read = [path for payload in turn.list_payloads("FIELDS_READ") for path in payload.get("read") or ()]
    return any(turn.is_field(match[1], path) for path in read) or turn.has_reached("SCHEMA_EXTRACTION_DETERMINISTIC")


def _is_answer(turn: Outcome, match: re.Match[str]) -> bool:
    texts = [payload.get("output") for payload in turn.list_payloads("ASSISTANT_OUTPUT")]
    texts += [payload.get(key) for payload in turn.list_payloads("RESPONSE_TRANSFORMED") for key in ("before", "after")]
    return any(squash(str(text)).startswith(squash(match[1])) for text in texts if text is not None)


def _ran(turn: Outcome, match: re.Match[str]) -> bool:
    return any(not payload.get("reused") for payload in turn.list_payloads("PENDING_ACTION_EXECUTED"))


def _is_called(turn: Outcome, match: re.Match[str]) -> bool:
    results = [
        payload for payload in turn.list_payloads("TOOL_ORCHESTRATION_RESULT") if payload.get("tool_code") == match[1]
    ]
    return not results or any(
        not payload.get("reused") and "SKIPPED" not in str(payload.get("status")) for payload in results
    )


def _has_moved(turn: Outcome, match: re.Match[str]) -> bool:
    moves = turn.list_payloads("SET_STATE", "STATE_GRAPH_REVERTED", "STATE_GRAPH_VALID", "STATE_GRAPH_VIOLATION")
    return any(_is_state(match[1], m.get("fromState")) and _is_state(match[2], m.get("toState")) for m in moves)


def _asked_a_model(turn: Outcome, match: re.Match[str]) -> bool:
    by_model = re.compile(r"_LLM_|INTENT_AGENT_(?!SKIPPED)|^MCP_(?!SKIPPED|NO_TOOLS)|^RESOLVE_RESPONSE_SELECTED")
    kinds = [*turn.list_payloads("ASSISTANT_OUTPUT", "POLICY_BLOCK")]
    return any(by_model.search(event.name) for event in turn.events) or any(
        payload.get("responseType") == "DERIVED" or payload.get("ruleType") == "LLM" for payload in kinds
    )


def require_stages(*stages: str) -> Callable[[Outcome, re.Match[str]], bool]:
    """A check that the turn reached one of the stages."""
    return lambda turn, match: turn.has_reached(*stages)


def exclude_stages(*stages: str) -> Callable[[Outcome, re.Match[str]], bool]:
    """A check that the turn reached none of the stages."""
    return lambda turn, match: not turn.has_reached(*stages)


#: What a sentence says, and when it is so.
RULES: Sequence[tuple[str, Callable[[Outcome, re.Match[str]], bool]]] = [
    (r"^The user (?:answered|accepted|confirmed|chose|wants a change)", exclude_stages("NOT_UNDERSTOOD")),
    (r"taken as the value", exclude_stages("NOT_UNDERSTOOD")),
    (
        r"was not understood|were not understood",
        require_stages("NOT_UNDERSTOOD", "HAND_OVER_OFFERED", "ASSISTANT_OUTPUT"),
    ),
    (r"^The message was not understood|^The user did not answer", require_stages("NOT_UNDERSTOOD")),
    (r"^Recognised the intent “?(.+?)”?(?:, | by |\.$)", _is_recognised),
    (r"^(?:The intent stays|Kept the intent)(?: “?(.+?)”?)?(?:, because|\.)", _stays),
    (r"concerns the current task|answers an open question", exclude_stages("NOT_UNDERSTOOD")),
    (r"left the conversation at intent “?(.+?)”?, state (.+?)[.;]", _is_left_there),
    (r"^The conversation was at intent “?(.+?)”?, state (.+?)\.", _was_there),
    (r"^The bot had asked for (.+?)(?:, and|;)", _was_asked),
    (r"; the bot asks for (.+?)\.$", _is_asked),
    (r"^Asked for (.+?), which ", _is_asked),
    (r"; the bot asks whether (.+?) = .* is meant\.$", _is_offered),
    (r"asks whether to stop", require_stages("FORM_LEAVE_ASKED")),
    (
        r"message gave no value\.$",
        lambda turn, match: not any(p.get("read") for p in turn.list_payloads("FIELDS_READ")),
    ),
    (r"message gave (?!no )([^=;]+?) = ", _gave),
    (r"^Still missing in .*?: (?!.*”: )(.+)\.$", _is_missing),
    (r"^All required fields ", _is_complete),
    (r"^(?:Answered|Asked the user)[^“]*?(?: [a-z]+ “.*?”)?[^“]*?: “(.*?)…?”\.?$", _is_answer),
    (r"\bran once", _ran),
    (r"ran once.*because the user says", exclude_stages("DISAMBIGUATION_RESOLVED")),
    (r"was cancelled(?:,|\.)", require_stages("PENDING_ACTION_REJECTED")),
    (r"^(?!Did|Rule).*action.* did not run:", lambda turn, match: not _ran(turn, match)),
    (r"waits for confirmation", exclude_stages("PENDING_ACTION_EXECUTED", "PENDING_ACTION_REJECTED")),
    (r"[Dd]ecided to (?:run|cancel)", require_stages("PENDING_ACTION_EXECUTED", "PENDING_ACTION_REJECTED")),
    (r"[Tt]he user says yes", lambda turn, match: "AFFIRM" in turn.acts),
    (r"[Tt]he user says no\b", lambda turn, match: "NEGATE" in turn.acts),
    (
        r"^The user brings up|^The user answers an open",
        require_stages("DIALOGUE_ACT_LLM_OUTPUT", "DIALOGUE_ACT_LLM_INPUT"),
    ),
    (r"^Called the tool (\S+?)(?: with|,|\.$)", _is_called),
    (r"changed the state from (.+?) to (.+?)(?:,| \(|\.$)", _has_moved),
    (r"^[^“]*\b(?:model|planner)\b(?! of the conversation)", _asked_a_model),
    (r"Nothing was saved", require_stages("ENGINE_KNOWN_FAILURE", "ENGINE_UNKNOWN_FAILURE")),
]
_CLEARED = re.compile(r"[Cc]leared (.+?)(?: of form|, because| \(|\.$)")
#: Words that tell a reader nothing, and codes or paths in place of words.
_VAGUE = re.compile(
    r"^Selected |gave no field|is unknown\.$|\bit always applies|^Another question|was changed\.$| = null\b|\$\.|"
    r"\bAnswered [A-Z]|; the next best is .* with a score of (?!.*against)|, because it was done|"
    r"^(?:What|Which|How|Whether) "
)
_CODE = re.compile(r"\b[A-Z]{2,}_[A-Z_]{2,}\b")
_QUOTED = re.compile(r"“.*?”|\".*?\"")


def list_contradictions(turn: Outcome, sentences: Sequence[str]) -> Iterator[str]:
    """What sentences say against the outcome, or twice."""
    for text in sentences:
        for pattern, holds in RULES:
            if (match := re.search(pattern, text)) and not holds(turn, match):
                yield f"{text} [{pattern}]"
    cleared = [name for text in sentences if (match := _CLEARED.search(text)) for name in split_names(match[1])]
    yield from (f"{name} is cleared {count} times" for name, count in Counter(cleared).items() if count > 1)


def list_vague(turn: Outcome, sentences: Sequence[str]) -> Iterator[str]:
    """Sentences that tell nothing, repeat another one, or show a code."""
    known = {str(event.state.get(key)) for event in turn.events for key in ("intent", "state")} | set(turn.names)
    for number, text in enumerate(sentences):
        codes = set(_CODE.findall(_QUOTED.sub("", text))) - known if "failed" not in text else set()
        if _VAGUE.search(text) or codes or (text in sentences[:number] and "tool" not in text):
            yield text
