"""WhatsApp, through Meta's Cloud API (https://developers.facebook.com/docs/whatsapp/cloud-api)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from convengine.engine.text.compare import shorten
from convengine.json_value import Json
from convengine.server.channels.contract import (
    Arrival,
    Call,
    CallResult,
    Incoming,
    OptionForm,
    Provider,
    Receipt,
    Received,
    are_names,
    check_equal,
    read_object,
    read_objects,
    read_part,
    sign,
)
from convengine.server.channels.details import (
    Attachment,
    ChannelUser,
    Contact,
    MessageDetails,
    read_attachment,
    read_location,
    read_name,
)

_API = "https://graph.facebook.com/v23.0"
_BUTTONS, _LIST = OptionForm("buttons", 3, 20), OptionForm("a list", 10, 24)
_LONGEST_VARIABLE, _LONGEST_BUTTON = 1024, 20
_ATTACHMENTS = ("image", "audio", "video", "document", "sticker")
#: Types of what users do with earlier messages, and of WhatsApp's own notes; some come as `unsupported`.
_NO_MESSAGES = frozenset(
    {"reaction", "edit", "revoke", "pin", "keep_in_chat", "poll_update", "system", "request_welcome"}
)
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
        "list_button?": "What opens a list of options, such as Choose.",
        "template?": "An approved template and its language, such as update en; its body has one variable. It takes "
        "the text to users who wrote nothing for 24 hours.",
        "api_url?": "Another address of the API, such as that of a proxy.",
    }
    hosts = frozenset({"graph.facebook.com"})
    per_second = 80
    longest_text, longest_question = 4096, 1024
    option_forms = (_BUTTONS, _LIST)

    def receive(self, request: Received, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Arrival:
        """Answer the registration of the address, or verify and read a batch of messages and receipts."""
        if request.method == "GET":
            sent = request.query.get("hub.verify_token", "")
            check_equal(sent, secrets["verify_token"], "hub.verify_token is another word than verify_token.")
            return Arrival(reply=request.query.get("hub.challenge", ""))
        expected = f"sha256={sign(secrets['app_secret'], request.body)}"
        refusal = "The header X-Hub-Signature-256 does not match the body and app_secret."
        check_equal(request.headers.get("x-hub-signature-256", ""), expected, refusal)
        values = list(_list_values(read_object(request.body), settings.get("phone_number_id", "")))
        return Arrival(
            [message for value in values for message in _list_messages(value)],
            [receipt for value in values for receipt in map(_read_receipt, read_objects(value.get("statuses")))],
        )

    def write(self, text: str, options: Sequence[str], form: OptionForm | None) -> Mapping[str, Json]:
        """A text, or a question with reply buttons or with a list."""
        if form is None:
            return {"type": "text", "text": {"body": text}}
        rows = [{"id": label, "title": label} for label in options]
        action: dict[str, Json] = (
            {"buttons": [{"type": "reply", "reply": row} for row in rows]}
            if form is _BUTTONS
            else {"button": "", "sections": [{"rows": rows}]}
        )
        kind = "button" if form is _BUTTONS else "list"
        return {"type": "interactive", "interactive": {"type": kind, "body": {"text": text}, "action": action}}

    def write_late(self, text: str, settings: Mapping[str, str]) -> Mapping[str, Json] | None:
        """The template, whose variable gets the text."""
        if not settings.get("template"):
            return None
        name, _, language = settings["template"].partition(" ")
        variable = {"type": "text", "text": shorten(" ".join(text.split()), _LONGEST_VARIABLE)}
        components = [{"type": "body", "parameters": [variable]}]
        template = {"name": name, "language": {"code": language or "en"}, "components": components}
        return {"type": "template", "template": template}

    def build_call(
        self, message: Mapping[str, Json], recipient: str, secrets: Mapping[str, str], settings: Mapping[str, str]
    ) -> Call:
        """The call that sends a message from the number."""
        body = {"recipient_type": "individual", "to": recipient, **message}
        if "button" in (action := read_part(message, "interactive", "action")):
            opened = {**action, "button": (settings.get("list_button") or "Choose")[:_LONGEST_BUTTON]}
            body["interactive"] = {**read_part(message, "interactive"), "action": opened}
        return _build_call(body, secrets, settings)

    def acknowledge(self, message: Incoming, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Call | None:
        """Mark the message as read, and show that an answer is being written."""
        body = {"status": "read", "message_id": message.message_id, "typing_indicator": {"type": "text"}}
        return _build_call(body, secrets, settings)

    def read_result(self, status: int, body: Json, retry_after: int) -> CallResult:
        """The ID of the message, or what is wrong with it."""
        messages = read_objects(body.get("messages") if isinstance(body, Mapping) else None)
        if status == 200 and messages:
            return CallResult(str(messages[0].get("id", "")))
        error = read_part(body, "error")
        code, details = error.get("code"), read_part(error, "error_data").get("details") or error.get("message")
        is_too_late = code == _WINDOW
        text = _WINDOW_TEXT if is_too_late else f"WhatsApp answered {status}, {code}: {details}."
        passes = status >= 500 or status == 429 or code in _PASSING
        return CallResult("", text, timedelta(seconds=retry_after), not passes, is_too_late)


def _build_call(body: Mapping[str, Json], secrets: Mapping[str, str], settings: Mapping[str, str]) -> Call:
    url = f"{settings.get('api_url') or _API}/{settings.get('phone_number_id')}/messages"
    return Call(url, {"messaging_product": "whatsapp", **body}, {"Authorization": f"Bearer {secrets['token']}"})


def _list_values(body: Mapping[str, Json], phone_number_id: str) -> Iterator[Mapping[str, Json]]:
    """What a batch says of the number. One address may get what is for other numbers, too."""
    for entry in read_objects(body.get("entry")):
        for change in read_objects(entry.get("changes")):
            value = read_part(change, "value")
            if read_part(value, "metadata").get("phone_number_id") == phone_number_id:
                yield value


def _list_messages(value: Mapping[str, Json]) -> Iterator[Incoming]:
    """What users wrote."""
    profiles = {read_name(each, "wa_id"): read_part(each, "profile") for each in read_objects(value.get("contacts"))}
    for message in read_objects(value.get("messages")):
        kind = read_part(message, "unsupported").get("type") or message.get("type")
        if are_names(message.get("id"), message.get("from")) and str(kind) not in _NO_MESSAGES:
            yield _read_message(message, read_name(profiles.get(read_name(message, "from")), "name"))


def _read_message(message: Mapping[str, Json], user: str) -> Incoming:
    """A message: its words, or the title of the button or row that the user chose."""
    kind = next((name for name in _ATTACHMENTS if name in message), "")
    pressed = read_part(message, "interactive")
    title = read_name(read_part(pressed, str(pressed.get("type"))), "title")
    button = title or read_name(read_part(message, "button"), "text")
    words = str(read_part(message, "text").get("body") or button or read_part(message, kind).get("caption") or "")
    details = MessageDetails(
        ChannelUser(read_name(message, "from"), user),
        [read_attachment(kind, message[kind])] if kind else [],
        read_location(read_part(message, "location")),
        list(map(_read_contact, read_objects(message.get("contacts")))),
        button=button,
        reply_to=read_name(read_part(message, "context"), "id"),
    )
    if not (words.strip() or details.has_media):
        details = replace(details, attachments=[Attachment(read_name(message, "type") or "other")])
    sent_at = str(message.get("timestamp") or "")
    at = float(sent_at) if sent_at.isascii() and sent_at.isdigit() else None
    return Incoming(str(message.get("id")), str(message.get("from")), words.strip(), details=details, at=at)


def _read_contact(contact: Mapping[str, Json]) -> Contact:
    phones = read_objects(contact.get("phones")) or [{}]
    name = read_name(read_part(contact, "name"), "formatted_name")
    return Contact(name, read_name(phones[0], "phone"), read_name(phones[0], "wa_id"))


def _read_receipt(status: Mapping[str, Json]) -> Receipt:
    """What became of a message that was sent."""
    errors = read_objects(status.get("errors"))
    details = errors[0] if errors else {}
    text = read_part(details, "error_data").get("details") or details.get("title") or ""
    is_too_late = details.get("code") == _WINDOW
    state = str(status.get("status"))
    return Receipt(str(status.get("id")), state, _WINDOW_TEXT if is_too_late else str(text), is_too_late)
