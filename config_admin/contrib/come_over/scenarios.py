"""The test stories of a project as scenario files, as far as messages and texts say them."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from config_admin.contrib.come_over.continuations import is_response
from config_admin.contrib.come_over.fields import Fields, list_slots
from config_admin.contrib.come_over.outcomes import Outcome, PlanEntry
from config_admin.contrib.come_over.paths import read_slots
from config_admin.contrib.come_over.project import Mapped, Project
from config_admin.contrib.come_over.texts import SLOT
from config_admin.flows.document import Values
from convengine.evaluation.labelled import LabelledMessage, read_marks

#: What a text may have instead of a slot, and between two responses.
_ANYTHING = r"[\s\S]*"
#: The types of fields that store a value as it is written.
_UNCHANGED = ("choice", "pattern", "text")


@dataclass
class _Turn:
    text: str
    intent: str
    #: The values that it sets, by slot.
    slots: dict[str, Any] = field(default_factory=dict)
    actions: list[str] = field(default_factory=list)
    #: A form ends in it.
    is_end: bool = False


@dataclass
class Scenario:
    """The turns of a story that can be played, and why others cannot."""

    title: str
    turns: list[Mapped] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return re.sub(r"[^\w-]+", "-", self.title.lower()).strip("-")[:80]

    @property
    def entry(self) -> PlanEntry:
        outcome = Outcome.COMES if not self.losses else Outcome.PARTLY if self.turns else Outcome.PERSON
        becomes = "Scenario file" if self.turns else ""
        return PlanEntry("test", self.title, outcome, becomes, "; ".join(dict.fromkeys(self.losses)))


def write_scenario(project: Project, codes: Mapping[str, str], fields: Mapping[str, Fields], story: Mapped) -> Scenario:
    """The scenario of a test story. `codes`: those of the intents that have a flow. `fields`: those of each form."""
    scenario, open_form, known = Scenario(str(story.get("story", ""))), "", set[str]()
    for turn in _list_turns(story):
        message = _write_message(project, turn, open_form)
        if not message.text:
            scenario.losses.append(f"a message for {turn.intent} has no text")
            break
        played = _list_played(project, turn)
        known |= {*message.values, *turn.slots} - {turn.slots.get("requested_slot")}
        begun = next((action for action in played if action in project.forms), "")
        # A form that has ended has no values any more.
        values = {} if turn.is_end else _write_values(project, begun or open_form, fields, message, turn)
        expected = {
            # Within a form, the intent stays that of the form.
            "intent": "" if open_form else codes.get(turn.intent),
            "context": values,
            "response": _write_response(project, played, known),
        }
        scenario.turns.append({"user": message.text, "expect": {key: part for key, part in expected.items() if part}})
        if code := turn.actions[len(played) :]:
            scenario.losses.append(f"what {code[0]} does is code")
        if begun and turn.is_end:
            scenario.losses.append(f"it has no answers to the questions of {begun}")
            break
        open_form = begun or ("" if turn.is_end else open_form)
    return scenario


def _list_played(project: Project, turn: _Turn) -> Sequence[str]:
    """The responses and forms of a turn before its first action that is code."""
    return list(takewhile(lambda action: is_response(action) or action in project.forms, turn.actions))


def _write_message(project: Project, turn: _Turn, open_form: str) -> LabelledMessage:
    """The message of a turn. One that only names its intent is the value that it sets in a form, or an example."""
    if turn.text:
        return read_marks(turn.text, project.synonyms, turn.intent, "")
    answers = [value for slot in project.forms.get(open_form, ()) if isinstance(value := turn.slots.get(slot), str)]
    examples = project.examples.get(turn.intent) or [LabelledMessage("")]
    return LabelledMessage(answers[0]) if answers else examples[0]


def _write_values(
    project: Project, form: str, fields: Mapping[str, Fields], message: LabelledMessage, turn: _Turn
) -> Values:
    """The values that a form has after a turn: the given ones, or any value if the engine converts it."""
    given, expected = {**message.values, **turn.slots}, dict[str, Values]()
    kinds = {field["name"]: field["type"] for field in fields[form].fields} if form in fields else {}
    for slot in list_slots(project, form) if kinds else ():
        name, key = fields[form].names.get(slot.name), next(filter(given.get, (slot.name, *slot.entities)), None)
        if name and key:
            is_equal = isinstance(given[key], str) and kinds[name] in _UNCHANGED
            expected[f"$.{name}"] = {"equals": project.find_value(given[key], key)} if is_equal else {"exists": True}
    return expected


def _write_response(project: Project, actions: Sequence[str], known: Set[str]) -> Values:
    """The expected answer: the texts of actions one after the other. Empty if they have no texts."""
    texts = [_write_pattern(project, action, known) for action in actions]
    return {"matches": _ANYTHING.join(texts)} if any(texts) else {}


def _write_pattern(project: Project, action: str, known: Set[str]) -> str:
    """A regular expression for any text of a response, or of the first question of a form whose value is not known."""
    variations: Sequence[Mapped] = project.responses.get(action, ())
    if action in project.forms:
        slots = list_slots(project, action)
        variations = next((slot.question for slot in slots if known.isdisjoint([slot.name, *slot.entities])), ())
    texts = filter(None, (str(each.get("text", "")).strip() for each in variations))
    patterns = [_ANYTHING.join(map(re.escape, SLOT.split(text)[::2])) for text in texts]
    return f"(?:{'|'.join(patterns)})" if patterns else ""


def _list_turns(story: Mapped) -> Sequence[_Turn]:
    turns = list[_Turn]()
    for step in story.get("steps") or ():
        if "user" in step or "intent" in step:
            turns.append(_Turn(str(step.get("user", "")).strip(), str(step.get("intent", ""))))
        elif turns and "action" in step:
            turns[-1].actions.append(str(step["action"]))
        elif turns and "slot_was_set" in step:
            turns[-1].slots = {**read_slots(step["slot_was_set"]), **turns[-1].slots}
        elif turns and "active_loop" in step:
            turns[-1].is_end = step["active_loop"] in ("", "null")
    return turns
