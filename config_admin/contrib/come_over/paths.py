"""Rules and stories, read as what follows each message and each form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: How YAML files write that no form is active, or that a slot is empty.
_NOTHING = frozenset({"", "null", "~", "None"})
#: Steps that only say where a path goes on.
LISTEN = frozenset({"action_listen", "action_restart", "action_session_start"})
LEAVE = "action_deactivate_loop"


@dataclass
class Reply:
    """The actions that follow a message or the end of a form, in one rule or story."""

    #: "rule" or "story", and its name.
    kind: str
    source: str
    #: The intents that it follows; empty where it follows the end of `form`.
    intents: Sequence[str] = ()
    form: str = ""
    actions: list[str] = field(default_factory=list)
    #: It begins the rule or story.
    is_first: bool = False
    #: It holds in certain cases only: while a form is open, with a slot that is set, behind a checkpoint.
    loop: str = ""
    is_conditional: bool = False
    #: The intents of the message that comes next in the story.
    next_intents: Sequence[str] = ()


def read_replies(path: Mapping[str, Any], kind: str, forms: Mapping[str, Any]) -> list[Reply]:
    """The replies of a rule or story, in its order."""
    source, replies = path.get(kind, ""), list[Reply]()
    conditions = path.get("condition") or ()
    loop = next((str(each["active_loop"]) for each in conditions if not is_nothing(each.get("active_loop", ""))), "")
    is_conditional = any(_is_set(each.get("slot_was_set")) for each in conditions)
    current: Reply | None = None
    last_form = loop
    for number, step in enumerate(path.get("steps") or ()):
        intents = list(_list_intents(step))
        if intents:
            if current is not None:
                current.next_intents = intents
            current = Reply(kind, source, intents, is_first=number == 0, loop=loop, is_conditional=is_conditional)
            is_conditional = False
            replies.append(current)
        elif "action" in step:
            action = step["action"]
            last_form = action if action in forms else last_form
            if current is not None and action not in LISTEN:
                current.actions.append(action)
        elif "active_loop" in step:
            if not is_nothing(step["active_loop"]):
                last_form, loop = step["active_loop"], step["active_loop"]
            else:
                is_left = current is not None and LEAVE in current.actions
                loop = ""
                if not is_left:
                    current = Reply(kind, source, form=last_form, is_first=number == 0)
                    replies.append(current)
        elif _is_set(step.get("slot_was_set")) or step.get("checkpoint"):
            # What follows holds with this value only; what came before holds in any case.
            is_conditional = current is None
            if current is not None:
                current = Reply(kind, source, current.intents, current.form, [*current.actions], is_conditional=True)
                replies.append(current)
    return replies


def is_nothing(value: str) -> bool:
    return value in _NOTHING


def _list_intents(step: Mapping[str, Any]) -> Iterator[str]:
    """The intents of a step; a retrieval intent by its own name, as its rule names it."""
    for each in [step, *(step.get("or") or ())]:
        if each.get("intent"):
            yield str(each["intent"])


def _is_set(slots: Any) -> bool:
    """True if a slot has a value at this step; an empty one is how a conversation begins."""
    listed = slots if isinstance(slots, list) else [slots] if slots else []
    return any(not isinstance(slot, Mapping) or any(not _is_empty(value) for value in slot.values()) for slot in listed)


def _is_empty(value: Any) -> bool:
    return isinstance(value, str) and is_nothing(value)
