"""Stories of a participant: what is said, and what happens in between, as a list of words."""

import uuid
from dataclasses import dataclass, field
from typing import Any

import pytest

from audit.models import CeAudit
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.interruption import interrupt_running_turn
from tests.api import Caller
from tests.convengine.server.turns.test_waiting import in_the_middle_of_a_turn
from tests.threads import Participant, setting

#: The session is closed by a call.
CLOSE = "<close>"
#: What is resolved to an intent that starts over.
BEGINNING = "the main menu"
#: "Japan" is said, and a newer message stops its turn.
INTERRUPTION = "<interruption>"


@dataclass
class Story:
    """A participant, what they were answered, and the session that it began with."""

    guest: Participant
    monkeypatch: pytest.MonkeyPatch
    answers: list[Any] = field(default_factory=list)

    def play(self, *script: str) -> Any:
        """Say, or do, one thing after the other; gives the last answer."""
        for word in script:
            if word == CLOSE:
                self.guest.call("post", f"/{self.session_id}/close", {})
            elif word == INTERRUPTION:
                self._interrupt("Japan")
            else:
                self.answers.append(self.guest.say(word))
        return self.answers[-1]

    @property
    def session_id(self) -> str:
        """The first answer's session."""
        return str(self.answers[0]["session_id"])

    @property
    def row(self) -> CeConversation:
        """It, as it stands."""
        return CeConversation.objects.get(pk=self.session_id)

    @property
    def events(self) -> list[dict[str, Any]]:
        """All its moves, as the trail tells them."""
        events = CeAudit.objects.filter(conversation_id=self.session_id, stage="SESSION_LIFECYCLE")
        keys = ("from", "to", "reason", "turn_no")
        return [{name: event.payload_json[name] for name in keys} for event in events.order_by("audit_id")]

    def _interrupt(self, text: str) -> None:
        setting("ON_CONCURRENT_TURN", "interrupt")
        in_the_middle_of_a_turn(
            self.monkeypatch,
            lambda: interrupt_running_turn(self.session_id, str(uuid.uuid4()), "a newer message") and None,
        )
        answer = self.guest.say(text)
        assert answer["errorCode"] == "TURN_INTERRUPTED"


def row_behind(caller: Caller) -> CeConversation:
    """The conversation of a caller, as it stands."""
    return CeConversation.objects.get(pk=caller.conversation_id)


def payloads(caller: Caller, stage: str, turn: int) -> list[Any]:
    """What a turn's trail says under a stage."""
    results = caller.get(turn=turn, stage=stage).json()["results"]
    return [event["payload"] for event in results]
