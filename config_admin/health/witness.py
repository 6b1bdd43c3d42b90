"""An input that causes a finding, for people, the API and the console."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Any


@dataclass(frozen=True)
class Witness:
    """A turn: the scope, the message, and the facts."""

    intent: str | None = None
    state: str | None = None
    text: str | None = None
    phase: str | None = None
    dialogue_act: str | None = None
    context: Mapping[str, Json] = field(default_factory=dict)
    input_params: Mapping[str, Json] = field(default_factory=dict)
    #: Other necessary facts, by name.
    facts: Mapping[str, Json] = field(default_factory=dict)
    #: True when the text is one for each of the rows, one after the other.
    joined: bool = False

    def as_dict(self) -> dict[str, Json]:
        """Its parts, in camelCase as in the API."""
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
