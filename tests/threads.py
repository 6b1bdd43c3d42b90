"""A participant of a thread, and a travel desk whose tasks begin, ask, are proposed as done, and end."""

import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.test import Client

from config_admin.models import (
    CeConfig,
    CeIntent,
    CeIntentClassifier,
    CePendingAction,
    CePromptTemplate,
    CeResponse,
    CeRule,
)
from config_admin.releases.change_set import change_set
from convengine.server.sessions.models import CeConversation
from tests.api import make_key
from tests.copied_rows import make_rarely

#: In seconds.
HOUR, DAY = 3600.0, 86400.0


@dataclass
class Participant:
    """Somebody who writes on a channel, through a bridge that has a key."""

    secret: str = field(default_factory=make_key)
    remote_jid: str = field(default_factory=lambda: f"+{uuid.uuid4().int % 10**11}")
    workspace_id: str = "default"
    channel: str = "whatsapp"
    client: Client = field(default_factory=Client)

    @property
    def thread(self) -> dict[str, str]:
        """The three names of the thread."""
        return {"workspace_id": self.workspace_id, "channel": self.channel, "remote_jid": self.remote_jid}

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Call the sessions API; gives the response."""
        return getattr(self.client, method)(
            f"/api/v1/sessions{path}",
            data=body,
            **({} if method == "get" else {"content_type": "application/json"}),
            headers={"Authorization": f"Api-Key {self.secret}", **headers},
        )

    def resolve(self, text: str | None = "hello") -> Any:
        """Ask for the session of a message; gives the JSON."""
        return self.call("post", "/resolve", {**self.thread, "user_message": text}).json()

    def say(self, text: str | None, **body: Any) -> Any:
        """Send a message; gives the JSON."""
        return self.call("post", "/message", {**self.thread, "user_message": text, **body}).json()

    def stages(self, answer: Any, stage: str) -> list[Any]:
        """The payloads of a stage in the turn of an answer."""
        turn = answer["turn"]
        found = self.client.get(
            f"/api/v1/conversation/audit/{turn['conversationId']}",
            {"turn": turn["turnNo"], "page": "off"},
            headers={"Authorization": f"Api-Key {self.secret}"},
        )
        return [event["payload"] for event in found.json() if event["stage"].partition(" ")[0] == stage]

    def moves(self, answer: Any) -> list[str]:
        """The moves of the lifecycle in the turn of an answer, as `FROM>TO`."""
        return [f"{one['from']}>{one['to']}" for one in self.stages(answer, "SESSION_LIFECYCLE")]


@make_rarely
def travel_desk() -> None:
    """TRIP is planned and shown for review; VISA asks a question; REFUND waits for a yes; HOURS is answered."""
    with change_set(reason="a travel desk"):
        CeResponse.objects.all().delete()
        codes = ("TRIP", "VISA", "REFUND", "HOURS")
        CeIntent.objects.bulk_create(CeIntent(intent_code=code, description=code.lower()) for code in codes)
        CeIntentClassifier.objects.bulk_create(
            CeIntentClassifier(intent_code=code, state_code="IDLE", rule_type="CONTAINS", pattern=code.lower())
            for code in codes
        )
        CePromptTemplate.objects.bulk_create(
            CePromptTemplate(
                intent_code=intent,
                state_code="ANY",
                response_type="TEXT",
                system_prompt="-",
                user_prompt="-",
                interaction_mode=mode,
            )
            for intent, mode in (("TRIP", "REVIEW"), ("VISA", "COLLECT"))
        )
        CePendingAction.objects.create(
            intent_code="REFUND", state_code="IDLE", action_key="refund", bean_name="refunds", method_names="pay"
        )
        CeResponse.objects.bulk_create(
            CeResponse(intent_code=intent, state_code=state, response_type="EXACT", exact_text=text)
            for intent, state, text in (
                ("TRIP", "ANY", "Here is your plan."),
                ("VISA", "ANY", "Which country?"),
                ("REFUND", "ANY", "Shall I pay it back?"),
                ("HOURS", "ANY", "Nine to five."),
                ("UNKNOWN", "UNKNOWN", "Sorry?"),
            )
        )


def set_rule(intent: str, action: str, value: str) -> None:
    """A rule that acts on every turn of an intent, before the answer."""
    CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION",
        intent_code=intent,
        state_code="ANY",
        rule_type="JSON_PATH",
        match_pattern="$[?(@.turnNo > 0)]",
        action=action,
        action_value=value,
    )


def setting(name: str, value: str) -> None:
    """A live setting of the `Session` family, or of another by `TYPE/KEY`."""
    family, _, key = name.rpartition("/")
    CeConfig.objects.update_or_create(config_type=family or "Session", config_key=key, defaults={"config_value": value})


def later(settings: Any, seconds: float) -> None:
    """Set the clock of the product forward."""
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": seconds}


def at(settings: Any, moment: datetime) -> None:
    """Let the clock of the product stand at a moment."""
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_AT": moment}


def row_of(answer: Any) -> CeConversation:
    """The session in which a message was answered."""
    return CeConversation.objects.get(pk=answer["session_id"])


def rename_participant(conversation_id: str, name: str) -> None:
    """Give a conversation a participant of this name, as if it had begun so."""
    row = CeConversation.objects.get(pk=conversation_id)
    row.remote_jid = name
    row.sign()
    row.save()
