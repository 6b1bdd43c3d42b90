"""Telegram: a bot that people write to (https://core.telegram.org/bots/api)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from convengine.json_value import Json
from convengine.server.channels.contract import (
    Arrival,
    Call,
    CallResult,
    Incoming,
    OptionForm,
    Provider,
    Received,
    Unit,
    are_names,
    check_equal,
    read_object,
    read_part,
)
from convengine.server.channels.details import (
    ChannelUser,
    Contact,
    MessageDetails,
    read_attachment,
    read_location,
    read_name,
)

#: The keys of attachments in a message. Telegram sends an animation as a document, too.
_ATTACHMENTS = (
    *("photo", "voice", "audio", "video", "video_note", "animation", "document", "sticker"),
    *("paid_media", "story", "poll", "dice", "game", "checklist"),
)
#: A text has 4,096 “characters after entities parsing” (core.telegram.org/bots/api#sendmessage). Telegram counts
#: lengths in UTF-16 code units (core.telegram.org/api/entities#entity-length).
_LONGEST_TEXT, _LONGEST_LABEL = 4096, 64
_CHOICE = "\n\n✓ "


class Telegram(Provider):
    """A bot of Telegram, which answers people who write to it alone. What is written in groups is left."""

    name = "telegram"
    title = "Telegram"
    secrets = {
        "token": "The token that @BotFather gave for the bot.",
        "secret": "The secret_token that was given to setWebhook: 1 to 256 letters, digits, _ and -.",
    }
    settings = {"api_url?": "The address of a Bot API server of your own."}
    hosts = frozenset({"api.telegram.org"})
    per_second = 30
    longest_text, unit = _LONGEST_TEXT, Unit.UTF_16
    # The choice is written below a question.
    longest_question = _LONGEST_TEXT - _LONGEST_LABEL - len(_CHOICE)
    option_forms = (OptionForm("buttons", 20, _LONGEST_LABEL, Unit.BYTES),)

    def receive(self, request: Received, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Arrival:
        """Verify the secret token, and read an update."""
        check_equal(
            request.headers.get("x-telegram-bot-api-secret-token", ""),
            secrets["secret"],
            "The header X-Telegram-Bot-Api-Secret-Token has another secret.",
        )
        message = _read_message(read_object(request.body))
        return Arrival((message,) if message else ())

    def write(self, text: str, options: Sequence[str], form: OptionForm | None) -> Mapping[str, Json]:
        """The text, with a row for each button."""
        keyboard = [[{"text": label, "callback_data": label}] for label in options]
        return {"text": text, **({"reply_markup": {"inline_keyboard": keyboard}} if keyboard else {})}

    def build_call(
        self, message: Mapping[str, Json], recipient: str, secrets: Mapping[str, str], settings: Mapping[str, str]
    ) -> Call:
        """`sendMessage` to the chat."""
        return Call(_build_url("sendMessage", secrets, settings), {"chat_id": recipient, **message})

    def acknowledge(self, message: Incoming, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Call | None:
        """`answerCallbackQuery`, without which a button goes on turning; else `sendChatAction`: "typing …"."""
        _, _, callback = message.message_id.partition(" c")
        if callback:
            return Call(_build_url("answerCallbackQuery", secrets, settings), {"callback_query_id": callback})
        return Call(_build_url("sendChatAction", secrets, settings), {"chat_id": message.sender, "action": "typing"})

    def show_choice(self, message: Incoming, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Call | None:
        """`editMessageText`, which also takes the buttons away."""
        question = message.pressed_in.get("text")
        about = {"chat_id": message.sender, "message_id": message.pressed_in.get("message_id")}
        body = {**about, "text": f"{question}{_CHOICE}{message.text}"}
        return Call(_build_url("editMessageText", secrets, settings), body) if question else None

    def read_result(self, status: int, body: Json, retry_after: int) -> CallResult:
        """The number of the message, or how long to wait. Who blocked the bot gets nothing any more."""
        answer = body if isinstance(body, Mapping) else {}
        result, parameters = answer.get("result"), answer.get("parameters")
        if status == 200 and isinstance(result, Mapping):
            return CallResult(str(result.get("message_id", "")))
        seconds = parameters.get("retry_after") if isinstance(parameters, Mapping) else None
        return CallResult(
            error=f"Telegram answered {status}: {answer.get('description') or 'without a reason'}.",
            pause=timedelta(seconds=seconds if isinstance(seconds, int) else retry_after),
            is_final=400 <= status < 500 and status != 429,
        )


def _build_url(method: str, secrets: Mapping[str, str], settings: Mapping[str, str]) -> str:
    return f"{settings.get('api_url') or 'https://api.telegram.org'}/bot{secrets['token']}/{method}"


def _read_message(update: Mapping[str, Json]) -> Incoming | None:
    """The message of an update. Returns None for other updates, and for what was written in a group or says nothing."""
    if callback := read_part(update, "callback_query"):
        pressed = ("c", callback.get("id"))
        return _build_message(read_part(callback, "message"), callback, pressed, callback.get("data"))
    if edited := read_part(update, "edited_message"):
        name, text = (edited.get("message_id"), "e", edited.get("edit_date")), _read_text(edited)
        # What has no words changes without its user, such as a location that moves.
        return _build_message(edited, edited, name, text) if text else None
    message = read_part(update, "message")
    return _build_message(message, message, (message.get("message_id"),), _read_text(message))


def _build_message(
    within: Mapping[str, Json], sent: Mapping[str, Json], name: Sequence[Json], text: Json
) -> Incoming | None:
    """`within`: the message that tells the chat; `sent`: what tells the user, which is the same but for buttons."""
    chat, (words, start), is_button = read_part(within, "chat"), _read_words(str(text or "")), within is not sent
    details = _read_details(sent, words if is_button else "", start)
    if chat.get("type") != "private" or not are_names(chat.get("id"), *name) or not (words or details.has_media):
        return None
    # A button does not tell when it was pressed.
    at = sent.get("edit_date") or sent.get("date")
    return Incoming(
        f"{chat.get('id')} {''.join(map(str, name))}",
        str(chat.get("id")),
        words,
        locale=read_name(read_part(sent, "from"), "language_code"),
        details=details,
        at=float(at) if isinstance(at, int) else None,
        pressed_in=within if is_button else {},
    )


def _read_words(text: str) -> tuple[str, str]:
    """A text, and the parameter of the link that began the chat: `/start@shop_bot spring`."""
    words = text.strip()
    if not words.startswith("/"):
        return words, ""
    command, _, rest = words.partition(" ")
    command, rest = command.partition("@")[0], rest.strip()
    return ("/start", rest) if command == "/start" else (f"{command} {rest}".strip(), "")


def _read_details(sent: Mapping[str, Json], button: str, start: str) -> MessageDetails:
    user, kind = read_part(sent, "from"), next((name for name in _ATTACHMENTS if name in sent), None)
    contact = read_part(sent, "contact")
    return MessageDetails(
        ChannelUser(read_name(user, "id"), _read_person(user), read_name(user, "username")),
        [read_attachment(kind, sent[kind])] if kind else [],
        read_location({**read_part(sent, "venue"), **read_part(sent, "location")}),
        [Contact(_read_person(contact), read_name(contact, "phone_number"), read_name(contact, "user_id"))]
        if contact
        else [],
        button=button,
        start=start,
        reply_to=read_name(read_part(sent, "reply_to_message"), "message_id"),
        is_edited="edit_date" in sent,
    )


def _read_person(value: Mapping[str, Json]) -> str:
    return " ".join(filter(None, (read_name(value, name) for name in ("first_name", "last_name"))))


def _read_text(message: Mapping[str, Json]) -> Json:
    return message.get("text") or message.get("caption")
