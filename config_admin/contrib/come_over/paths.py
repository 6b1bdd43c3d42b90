"""Rules and stories, read as what follows each message and each form."""

from collections.abc import Mapping, Sequence
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


def read_replies(path: Mapping[str, Any], kind: str, forms: Mapping[str, Any]) -> list[Reply]:
    """The replies of a rule or story, in its order."""
    named, conditions, replies = (kind, path.get(kind, "")), path.get("condition") or (), list[Reply]()
    loop = next((str(each["active_loop"]) for each in conditions if not is_nothing(each.get("active_loop", ""))), "")
    is_conditional = any(_is_set(each.get("slot_was_set")) for each in conditions)
    last_form, current = loop, Reply(named)
    for number, step in enumerate(path.get("steps") or ()):
        intents = [str(each["intent"]) for each in (step, *(step.get("or") or ())) if each.get("intent")]
        if intents or "user" in step:
            current.next_intents = intents
            current = Reply(named, intents, is_first=number == 0, loop=loop, is_conditional=is_conditional)
            is_conditional = False
            replies.append(current)
        elif "action" in step:
            last_form = step["action"] if step["action"] in forms else last_form
            current.actions += [] if step["action"] in _LISTEN else [step["action"]]
        elif "active_loop" in step:
            loop = "" if is_nothing(step["active_loop"]) else step["active_loop"]
            last_form = loop or last_form
            if not loop and LEAVE not in current.actions:
                current = Reply(named, form=last_form)
                replies.append(current)
        elif _is_set(step.get("slot_was_set")) or step.get("checkpoint"):
            # What follows holds with this value only, and what came before in any case.
            is_conditional = not replies
            current = Reply(named, current.intents, current.form, [*current.actions], is_conditional=True)
            replies += [current] if replies else []
    return replies


def is_nothing(value: str) -> bool:
    return value in _NOTHING


def _is_set(slots: Any) -> bool:
    """True if a slot has a value; conversations begin with empty ones."""
    listed = slots if isinstance(slots, list) else [slots] if slots else []
    values = [value for slot in listed for value in (slot.values() if isinstance(slot, Mapping) else [slot])]
    return any(not isinstance(value, str) or not is_nothing(value) for value in values)
