"""Rules and stories, read as what follows each message and each form."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: How files write that no form is active, or that a slot is empty.
_NOTHING = frozenset({"", "null", "~", "None"})
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
    #: The intents of the message that comes next in the story.
    next_intents: Sequence[str] = ()
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
        self._is_conditional = any(_is_set(each.get("slot_was_set")) for each in conditions)
        #: Before the first message or form, actions follow from nothing that is read.
        self._current, self._is_first = Reply(path), True

    def read(self, step: Mapping[str, Any]) -> None:
        alternatives = (step, *(step.get("or") or ()))
        intents = [str(each["intent"]) for each in alternatives if each.get("intent")]
        if intents or "user" in step:
            self._current.next_intents = intents
            self._add(Reply(self._path, intents, is_first=self._is_first, loop=self._loop))
        elif step.get("action", "action_listen") not in _LISTEN:
            self._read_action(step["action"])
        elif "active_loop" in step:
            self._read_loop("" if _is_nothing(step["active_loop"]) else step["active_loop"])
        elif _is_set(step.get("slot_was_set")) or step.get("checkpoint"):
            self._is_conditional = True
            if self.replies:
                # What follows holds with this value only, and what came before in any case.
                current = self._current
                self._add(Reply(self._path, current.intents, current.form, [*current.actions]))
        self._is_first = False

    def _add(self, reply: Reply) -> None:
        reply.is_conditional, self._is_conditional = self._is_conditional, False
        self._current = reply
        self.replies.append(reply)

    def _read_action(self, action: str) -> None:
        self._current.actions.append(action)
        if action in self._forms:
            self._last_form = action

    def _read_loop(self, loop: str) -> None:
        self._loop = loop
        if loop:
            self._last_form = loop
        elif LEAVE not in self._current.actions:
            self._add(Reply(self._path, form=self._last_form))


def _is_nothing(value: Any) -> bool:
    return not value or (isinstance(value, str) and value in _NOTHING)


def _is_set(slots: Any) -> bool:
    """True if a slot has a value; conversations begin with empty ones."""
    listed = slots if isinstance(slots, list) else [slots]
    values = [value for slot in listed for value in (slot.values() if isinstance(slot, Mapping) else [slot])]
    return not all(map(_is_nothing, values))
