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
    are_names,
    check_equal,
    read_attachment,
    read_object,
    read_part,
)

#: What is no text: the key of the message, whose value tells the size.
_ATTACHMENTS = ("photo", "voice", "audio", "video", "video_note", "document", "sticker", "location", "contact")


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
    longest_text = longest_question = 4096
    option_forms = (OptionForm("buttons", 20, 64, in_bytes=True),)

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
    """The message of an update. Returns None for other kinds of updates, and for what was written in a group."""
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
    chat, locale = read_part(within, "chat"), read_part(sent, "from").get("language_code")
    if chat.get("type") != "private" or not are_names(chat.get("id"), *name):
        return None
    words = str(text or "").strip()
    # The button that begins a chat may have a parameter: "/start shop".
    words = "/start" if words.startswith("/start ") else words
    return Incoming(
        f"{chat.get('id')} {''.join(map(str, name))}",
        str(chat.get("id")),
        words,
        locale if isinstance(locale, str) else "",
        read_attachment(sent, _ATTACHMENTS, words),
        _read_time(sent),
        str(read_part(sent, "reply_to_message").get("message_id") or ""),
    )


def _read_text(message: Mapping[str, Json]) -> Json:
    return message.get("text") or message.get("caption")


def _read_time(message: Mapping[str, Json]) -> float | None:
    """When it was sent, which a button does not tell."""
    at = message.get("edit_date") or message.get("date")
    return float(at) if isinstance(at, int) else None
