"""An input that makes something happen, as people, the API and the console are shown it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Any


@dataclass(frozen=True)
class Witness:
    """A moment of a turn: where the conversation stands, what is said, and what is known by then."""

    intent: str | None = None
    state: str | None = None
    text: str | None = None
    phase: str | None = None
    dialogue_act: str | None = None
    context: Mapping[str, Json] = field(default_factory=dict)
    input_params: Mapping[str, Json] = field(default_factory=dict)
    #: Other facts that it takes, by their names among the facts.
    facts: Mapping[str, Json] = field(default_factory=dict)
    #: True when the text is one for each of the rows, put behind one another.
    joined: bool = False

    def as_dict(self) -> dict[str, Json]:
        """What there is of it, in camelCase as the API has it."""
        found = {
            "intent": self.intent,
            "state": self.state,
            "phase": self.phase,
            "userText": self.text,
            "dialogueAct": self.dialogue_act,
            "context": dict(self.context),
            "inputParams": dict(self.input_params),
            "facts": dict(self.facts),
        }
        return {name: value for name, value in found.items() if value not in (None, {})} | {"joined": self.joined}
