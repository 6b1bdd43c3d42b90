"""WhatsApp, through Meta's Cloud API (https://developers.facebook.com/docs/whatsapp/cloud-api)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from convengine.json_value import Json
from convengine.server.channels.contract import (
    Answer,
    Arrival,
    Call,
    Incoming,
    Outcome,
    Provider,
    Receipt,
    Received,
    check_equal,
    number_options,
    read_attachment,
    read_object,
    read_objects,
    read_part,
    sign,
    split_text,
)

_API = "https://graph.facebook.com/v23.0"
_MOST_CHARACTERS, _MOST_CHARACTERS_OF_QUESTION = 4096, 1024
#: How many options there are room for, and how long they are.
_MOST_BUTTONS, _BUTTON_CHARACTERS, _MOST_ROWS, _ROW_CHARACTERS = 3, 20, 10, 24
_ATTACHMENTS = ("image", "audio", "video", "document", "sticker", "location", "contacts")
#: Codes of errors that pass: too many messages, and trouble of the service.
_PASSING = frozenset({1, 2, 4, 80007, 130429, 131016, 131048, 131056, 133004, 131000})
_WINDOW = 131047
_WINDOW_TEXT = (
    "WhatsApp lets nobody write to a user whose last message is older than 24 hours. Write to the user otherwise, or "
    "wait for a message."
)


class WhatsApp(Provider):
    """A business number of WhatsApp."""

    name = "whatsapp"
    title = "WhatsApp"
    secrets = {
        "token": "The access token of a system user with whatsapp_business_messaging.",
        "app_secret": "The app secret, with which Meta signs requests.",
        "verify_token": "A word of your own, which Meta sends when the address is registered.",
    }
    settings = {
        "phone_number_id": "The ID of the number, from which messages are sent.",
        "list_button": "What opens a list of options. Blank: Choose.",
        "api_url": "Another address of the API, such as that of a proxy. Blank: that of Meta.",
    }

    def receive(self, request: Received, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Arrival:
        """Answer the registration of the address, or verify and read a batch of messages and receipts."""
        if request.method == "GET":
            sent = request.query.get("hub.verify_token", "")
            check_equal(sent, secrets["verify_token"], "hub.verify_token is another word than verify_token.")
            return Arrival(reply=request.query.get("hub.challenge", ""))
        expected = f"sha256={sign(secrets['app_secret'], request.body)}"
        refusal = "The header X-Hub-Signature-256 does not fit the body and app_secret."
        check_equal(request.headers.get("x-hub-signature-256", ""), expected, refusal)
        values = list(_list_values(read_object(request.body), settings.get("phone_number_id", "")))
        return Arrival(
            [message for value in values for message in map(_read_message, read_objects(value.get("messages")))],
            [receipt for value in values for receipt in map(_read_receipt, read_objects(value.get("statuses")))],
        )

    def render(self, answer: Answer) -> Sequence[Mapping[str, Json]]:
        """Parts of the text; the last one has up to three options as buttons, up to ten as a list, else numbers."""
        kind = _choose_kind(answer.options)
        text = answer.text if kind or not answer.options else number_options(answer.text, answer.options)
        if kind is None:
            return [{"type": "text", "text": {"body": part}} for part in split_text(text, _MOST_CHARACTERS)]
        *first, last = split_text(text, _MOST_CHARACTERS_OF_QUESTION)
        rows = [{"id": label, "title": label} for label in answer.options]
        action: dict[str, Json] = (
            {"buttons": [{"type": "reply", "reply": row} for row in rows]}
            if kind == "button"
            else {"button": "", "sections": [{"rows": rows}]}
        )
        question = {"type": kind, "body": {"text": last}, "action": action}
        texts: list[Mapping[str, Json]] = [{"type": "text", "text": {"body": part}} for part in first]
        return [*texts, {"type": "interactive", "interactive": question}]

    def build_call(
        self, message: Mapping[str, Json], recipient: str, secrets: Mapping[str, str], settings: Mapping[str, str]
    ) -> Call:
        """The call that sends a message from the number."""
        url = f"{settings.get('api_url') or _API}/{settings.get('phone_number_id')}/messages"
        body = {"messaging_product": "whatsapp", "recipient_type": "individual", "to": recipient, **message}
        if "button" in (action := read_part(message, "interactive", "action")):
            opened = {**action, "button": settings.get("list_button") or "Choose"}
            body["interactive"] = {**read_part(message, "interactive"), "action": opened}
        return Call(url, body, {"Authorization": f"Bearer {secrets['token']}"})

    def read_outcome(self, status: int, body: Json, retry_after: int) -> Outcome:
        """The ID of the message, or what is wrong with it."""
        messages = read_objects(body.get("messages") if isinstance(body, Mapping) else None)
        if status == 200 and messages:
            return Outcome(str(messages[0].get("id", "")))
        error = read_part(body, "error")
        code, details = error.get("code"), read_part(error, "error_data").get("details") or error.get("message")
        text = _WINDOW_TEXT if code == _WINDOW else f"WhatsApp answered {status}, {code}: {details}."
        passes = status >= 500 or status == 429 or code in _PASSING
        return Outcome(error=text, pause=timedelta(seconds=retry_after), is_final=not passes)


def _list_values(body: Mapping[str, Json], phone_number_id: str) -> Iterator[Mapping[str, Json]]:
    """What a batch says of the number. One address may get what is for other numbers, too."""
    for entry in read_objects(body.get("entry")):
        for change in read_objects(entry.get("changes")):
            value = read_part(change, "value")
            if read_part(value, "metadata").get("phone_number_id") == phone_number_id:
                yield value


def _read_message(message: Mapping[str, Json]) -> Incoming:
    """A message: its words, or the title of the button or row that the user chose."""
    interactive = read_part(message, "interactive")
    text = (
        read_part(message, "text").get("body")
        or read_part(interactive, "button_reply").get("title")
        or read_part(interactive, "list_reply").get("title")
        or read_part(message, "button").get("text")
    )
    at = str(message.get("timestamp") or "")
    words = str(text or "").strip()
    return Incoming(
        str(message.get("id")),
        str(message.get("from")),
        words,
        attachment={} if words else read_attachment(message, _ATTACHMENTS),
        at=float(at) if at.isascii() and at.isdigit() else None,
    )


def _read_receipt(status: Mapping[str, Json]) -> Receipt:
    """What became of a message that was sent."""
    errors = read_objects(status.get("errors"))
    details = errors[0] if errors else {}
    text = read_part(details, "error_data").get("details") or details.get("title") or ""
    text = _WINDOW_TEXT if details.get("code") == _WINDOW else text
    return Receipt(str(status.get("id")), str(status.get("status")), str(text))


def _choose_kind(options: Sequence[str]) -> str | None:
    """How options are shown. Returns None where there are none, or no room for them."""
    if not options or len(set(options)) < len(options):
        return None
    longest = max(map(len, options))
    if len(options) <= _MOST_BUTTONS and longest <= _BUTTON_CHARACTERS:
        return "button"
    return "list" if len(options) <= _MOST_ROWS and longest <= _ROW_CHARACTERS else None
