"""Rules and stories, read as what follows each message and each form."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: How files write that no form is active, or that a slot is empty.
_NOTHING = frozenset({"", "null", "~", "None"})
#: What an action of Rasa itself says.
_SAYS = {"action_default_fallback": "utter_default"}
#: Actions that only say where a path goes on.
_LISTEN = frozenset({"action_listen", "action_restart", "action_session_start"})
LEAVE = "action_deactivate_loop"


@dataclass
class Reply:
    """The actions that follow a message or the end of a form, in one rule or story."""

    #: `rule` or `story`, and its name.
    path: tuple[str, str]
    #: The intents that it follows; none at the end of `form`, and after a message that has no intent.
    intents: Sequence[str] = ()
    form: str = ""
    actions: list[str] = field(default_factory=list)
    #: It begins the rule or story.
    is_first: bool = False
    #: The form that is open meanwhile.
    loop: str = ""
    #: A slot or a checkpoint decides whether it holds.
    is_conditional: bool = False
    #: It holds if a slot has a value, which the message may say.
    needs_value: bool = False
    #: The last action before it in the same path.
    follows: str = ""
    #: What else it does, which no action says.
    losses: Sequence[str] = ()


def read_replies(path: Mapping[str, Any], kind: str, forms: Collection[str]) -> list[Reply]:
    """The replies of a rule or story, in its order."""
    reader = _PathReader((kind, path.get(kind, "")), forms, path.get("condition") or ())
    for step in path.get("steps") or ():
        reader.read(step)
    return reader.replies


class _PathReader:
    def __init__(self, path: tuple[str, str], forms: Collection[str], conditions: Sequence[Mapping[str, Any]]) -> None:
        self.replies: list[Reply] = []
        self._path, self._forms = path, forms
        loops = [each["active_loop"] for each in conditions if not _is_nothing(each.get("active_loop"))]
        self._loop = self._last_form = str(loops[0]) if loops else ""
        # The slots of a form have values at its end.
        self._is_conditional = not loops and any(read_slots(each.get("slot_was_set")) for each in conditions)
        #: Before the first message or form, actions follow from nothing that is read.
        self._current, self._is_first = Reply(path), True

    def read(self, step: Mapping[str, Any]) -> None:
        alternatives = (step, *(step.get("or") or ()))
        intents = [str(each["intent"]) for each in alternatives if each.get("intent")]
        if intents or "user" in step:
            self._add(Reply(self._path, intents, is_first=self._is_first, loop=self._loop))
        elif "bot" in step:
            self._read_action(f"“{step['bot']}”")
        elif step.get("action", "action_listen") not in _LISTEN:
            self._read_action(step["action"])
        elif "active_loop" in step:
            self._read_loop("" if _is_nothing(step["active_loop"]) else step["active_loop"])
        elif step.get("checkpoint"):
            self._read_condition()
        elif any(read_slots(each.get("slot_was_set")) for each in alternatives) and not self._loop:
            # In a form, values are answers.
            self._read_condition(is_said=bool(self.replies) and not self._current.actions)

    def _add(self, reply: Reply) -> None:
        reply.is_conditional, self._is_conditional, self._is_first = self._is_conditional, False, False
        reply.follows = next(reversed(self._current.actions), "")
        self._current = reply
        self.replies.append(reply)

    def _read_condition(self, *, is_said: bool = False) -> None:
        """`is_said`: the value comes directly behind the message, so the message says it."""
        current = self._current
        if is_said:
            current.needs_value = True
            return
        self._is_conditional = True
        if self.replies:
            # What follows holds with this value only, and what came before in any case.
            self._add(Reply(self._path, current.intents, current.form, [*current.actions]))
            self._current.follows = current.follows

    def _read_action(self, action: str) -> None:
        self._is_first = False
        self._current.actions.append(_SAYS.get(action, action))
        if action in self._forms:
            self._last_form = action

    def _read_loop(self, loop: str) -> None:
        self._loop = loop
        if loop:
            self._last_form = loop
        elif not self._current.actions or self._current.actions[-1] in self._forms:
            # Behind another action, code has left the form.
            self._add(Reply(self._path, form=self._last_form))


def _is_nothing(value: Any) -> bool:
    return not value or (isinstance(value, str) and value in _NOTHING)


def read_slots(slots: Any) -> Mapping[str, Any]:
    """The slots that a path sets, with their values. The value is True where the path names none."""
    listed = slots if isinstance(slots, list) else [slots]
    pairs = (each.items() if isinstance(each, Mapping) else [(each, True)] for each in listed)
    return {slot: value for each in pairs for slot, value in each if slot and not _is_nothing(value)}
