"""Scripted servers of Telegram, WhatsApp and Slack: they speak the published protocols, and sign what they send."""

import hashlib
import hmac
import html
import itertools
import json
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, ClassVar
from urllib.parse import urlencode

from tests.fakes.http_server import Asked, Reply, Server


@dataclass(frozen=True)
class Request:
    """What a provider posts to the address of a channel."""

    body: bytes
    headers: Mapping[str, str]
    content_type: str = "application/json"


@dataclass(frozen=True)
class Shown:
    """A message that a user of the provider sees."""

    to: str
    text: str
    options: Sequence[str] = ()
    #: The template in which it came.
    template: str = ""
    name: str = ""


@dataclass
class Provider(ABC):
    """A provider whose API is a server of this machine."""

    server: Server
    #: What users see, in its order.
    shown: list[Shown] = field(default_factory=list)
    #: Messages as they are after their buttons were pressed.
    changed: list[Shown] = field(default_factory=list)
    #: The next answers, instead of taking a message.
    faults: list[Reply] = field(default_factory=list)
    numbers: Any = field(default_factory=lambda: itertools.count(1))
    lock: Any = field(default_factory=Lock)
    kind: ClassVar[str]
    #: By the names that the channel knows them by.
    secrets: ClassVar[Mapping[str, str]]

    def __post_init__(self) -> None:
        self.server.answer = self._answer

    @property
    def settings(self) -> dict[str, str]:
        return {"api_url": self.server.address}

    @abstractmethod
    def write(self, sender: str, text: str | None, number: int | None = None, **more: Any) -> Request:
        """A message of a user; `number` is its own, so that it can come again. Without a text it is a picture."""

    @abstractmethod
    def choose(self, sender: str, label: str) -> Request:
        """The choice of an option of the last message to the user."""

    @abstractmethod
    def read(self, asked: Asked) -> Shown | None:
        """What a call shows to a user. Returns None for another call."""

    @abstractmethod
    def take(self, name: str) -> Reply:
        """The answer to a message that was taken."""

    def list_texts(self, user: str) -> list[str]:
        return [shown.text for shown in self.shown if shown.to == self.address(user)]

    def address(self, user: str) -> str:
        """Where a message to a user goes."""
        return user

    def _answer(self, asked: Asked) -> Reply:
        shown = self.read(asked)
        if shown is None:
            return Reply(body=b'{"ok": true, "success": true}')
        with self.lock:
            if self.faults:
                return self.faults.pop(0)
            name = self.make_name()
            self.shown.append(Shown(shown.to, shown.text, shown.options, shown.template, name))
        return self.take(name)

    def make_name(self) -> str:
        return str(next(self.numbers))


class Telegram(Provider):
    kind = "telegram"
    secrets = {"token": "123:abc", "secret": "s3cret"}

    def write(self, sender: str, text: str | None, number: int | None = None, **more: Any) -> Request:
        said = {"text": text} if text is not None else {"photo": [{"file_size": 90}, {"file_size": 81230}]}
        return self.post({"message": {**self.head(sender), **said, **more}}, number)

    def choose(self, sender: str, label: str) -> Request:
        head = self.head(sender)
        asked = [shown for shown in self.shown if label in shown.options and shown.to == sender]
        message = {**head, **({"message_id": int(asked[-1].name), "text": asked[-1].text} if asked else {})}
        return self.post(
            {"callback_query": {"id": uuid.uuid4().hex, "from": head["from"], "message": message, "data": label}}
        )

    def head(self, sender: str) -> dict[str, Any]:
        user = {"id": int(sender), "language_code": "en"}
        return {"chat": {"id": int(sender), "type": "private"}, "from": user, "date": int(time.time())}

    def post(self, update: dict[str, Any], number: int | None = None) -> Request:
        number = number or next(self.numbers)
        for message in (update.get("message"), update.get("edited_message")):
            if message:
                message.setdefault("message_id", number)
        body = json.dumps({"update_id": number, **update}).encode()
        return Request(body, {"X-Telegram-Bot-Api-Secret-Token": self.secrets["secret"]})

    def read(self, asked: Asked) -> Shown | None:
        method, body = asked.path.removeprefix(f"/bot{self.secrets['token']}/"), json.loads(asked.body)
        if method not in ("sendMessage", "editMessageText"):
            return None
        assert len(body["text"].encode("utf-16-le")) <= 2 * 4096
        rows = body.get("reply_markup", {}).get("inline_keyboard", [])
        shown = Shown(body["chat_id"], body["text"], [row[0]["text"] for row in rows])
        if method == "sendMessage":
            return shown
        self.changed.append(replace(shown, name=str(body["message_id"])))
        return None

    def take(self, name: str) -> Reply:
        return Reply(body=json.dumps({"ok": True, "result": {"message_id": int(name)}}).encode())


class WhatsApp(Provider):
    kind = "whatsapp"
    secrets = {"token": "EAAG", "app_secret": "app secret", "verify_token": "a word"}

    @property
    def settings(self) -> dict[str, str]:
        return {**super().settings, "phone_number_id": "4711", "template": "update en"}

    def write(self, sender: str, text: str | None, number: int | None = None, **more: Any) -> Request:
        picture = {"mime_type": "image/jpeg", "id": "77"}
        said: dict[str, Any] = {"type": "image", "image": picture} if text is None else {"text": {"body": text}}
        return self.post(messages=[self.message(sender, number, **{**said, **more})])

    def choose(self, sender: str, label: str) -> Request:
        reply = {"id": label, "title": label}
        return self.post(messages=[self.message(sender, interactive={"type": "button_reply", "button_reply": reply})])

    def message(self, sender: str, number: int | None = None, **said: Any) -> dict[str, Any]:
        name = f"wamid.in.{number or next(self.numbers)}"
        return {"from": sender, "id": name, "timestamp": str(int(time.time())), **said}

    def tell(self, shown: Shown, state: str, **more: Any) -> Request:
        """A status of a message that was sent."""
        return self.post(statuses=[{"id": shown.name, "status": state, "recipient_id": shown.to, **more}])

    def post(self, phone_number_id: str = "4711", **value: Any) -> Request:
        about = {"messaging_product": "whatsapp", "metadata": {"phone_number_id": phone_number_id}, **value}
        entry = {"id": "1", "changes": [{"field": "messages", "value": about}]}
        body = json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()
        return self.sign(body)

    def sign(self, body: bytes) -> Request:
        digest = hmac.new(self.secrets["app_secret"].encode(), body, hashlib.sha256).hexdigest()
        return Request(body, {"X-Hub-Signature-256": f"sha256={digest}"})

    def read(self, asked: Asked) -> Shown | None:
        body = json.loads(asked.body)
        if body.get("status") == "read":
            return None
        assert (asked.path, body["messaging_product"]) == ("/4711/messages", "whatsapp")
        assert asked.headers["authorization"] == f"Bearer {self.secrets['token']}"
        if template := body.get("template"):
            return Shown(body["to"], template["components"][0]["parameters"][0]["text"], template=template["name"])
        if question := body.get("interactive"):
            action = question["action"]
            rows = (
                [each["reply"] for each in action["buttons"]] if "buttons" in action else action["sections"][0]["rows"]
            )
            assert len(rows) <= (3 if "buttons" in action else 10)
            assert all(len(row["title"]) <= (20 if "buttons" in action else 24) for row in rows)
            return Shown(body["to"], question["body"]["text"], [row["title"] for row in rows])
        return Shown(body["to"], body["text"]["body"])

    def make_name(self) -> str:
        return f"wamid.out.{next(self.numbers)}"

    def take(self, name: str) -> Reply:
        return Reply(body=json.dumps({"messaging_product": "whatsapp", "messages": [{"id": name}]}).encode())


class Slack(Provider):
    kind = "slack"
    #: Of the last message that had some.
    blocks: Sequence[Any] = ()
    secrets = {"token": "xoxb-1", "signing_secret": "signing secret"}

    @property
    def settings(self) -> dict[str, str]:
        return {**super().settings, "team_id": "T1"}

    def write(self, sender: str, text: str | None, number: int | None = None, **more: Any) -> Request:
        files = (
            {} if text is not None else {"subtype": "file_share", "files": [{"mimetype": "image/jpeg", "size": 81230}]}
        )
        at = f"{number or next(self.numbers)}.0001"
        event = {"type": "message", "channel_type": "im", "channel": sender, "user": "U7", "text": text or "", "ts": at}
        return self.post({**event, **files, **more})

    def choose(self, sender: str, label: str) -> Request:
        action = {"type": "button", "value": label, "action_ts": f"{next(self.numbers)}.5"}
        asked = [shown for shown in self.shown if label in shown.options and shown.to == sender]
        message = {"ts": asked[-1].name, "text": asked[-1].text, "blocks": self.blocks} if asked else {}
        user = {"id": "U7", "username": "ada", "name": "ada", "team_id": "T1"}
        about = {"type": "block_actions", "team": {"id": "T1"}, "user": user, "channel": {"id": sender}}
        payload = {**about, "message": message, "actions": [action]}
        body = urlencode({"payload": json.dumps(payload)}).encode()
        return self.sign(body, content_type="application/x-www-form-urlencoded")

    def post(self, event: dict[str, Any], **more: Any) -> Request:
        installed = {"team_id": "T1", "user_id": "UBOT"}
        about = {"type": "event_callback", "team_id": "T1", "event_id": f"Ev{uuid.uuid4().hex}"}
        return self.sign(json.dumps({**about, "authorizations": [installed], "event": event, **more}).encode())

    def sign(self, body: bytes, at: float | None = None, content_type: str = "application/json") -> Request:
        sent_at = str(int(at or time.time()))
        signed = b"v0:%s:%s" % (sent_at.encode(), body)
        digest = hmac.new(self.secrets["signing_secret"].encode(), signed, hashlib.sha256).hexdigest()
        headers = {"X-Slack-Request-Timestamp": sent_at, "X-Slack-Signature": f"v0={digest}"}
        return Request(body, headers, content_type)

    def read(self, asked: Asked) -> Shown | None:
        assert asked.path in ("/chat.postMessage", "/chat.update")
        assert asked.headers["authorization"] == f"Bearer {self.secrets['token']}"
        body = json.loads(asked.body)
        if asked.path == "/chat.update":
            text = "\n\n".join(block["text"]["text"] for block in body["blocks"])
            self.changed.append(Shown(body["channel"], text, name=body["ts"]))
            return None
        self.blocks = body.get("blocks", self.blocks)
        buttons = [each["text"]["text"] for block in body.get("blocks", []) for each in block.get("elements", [])]
        place = " ".join(filter(None, (body["channel"], body.get("thread_ts"))))
        return Shown(place, html.unescape(body["text"]), buttons)

    def make_name(self) -> str:
        return f"{next(self.numbers)}.0002"

    def take(self, name: str) -> Reply:
        return Reply(body=json.dumps({"ok": True, "ts": name}).encode())


PROVIDERS: Sequence[type[Provider]] = (Telegram, WhatsApp, Slack)
