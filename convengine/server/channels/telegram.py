"""Telegram: a bot that people write to (https://core.telegram.org/bots/api)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from convengine.json_value import Json
from convengine.server.channels.contract import (
    Answer,
    Arrival,
    Call,
    Incoming,
    Outcome,
    Provider,
    Received,
    check_equal,
    number_options,
    read_attachment,
    read_object,
    split_text,
)

_MOST_CHARACTERS, _MOST_BUTTONS, _MOST_BUTTON_BYTES = 4096, 20, 64
#: What is no text: the key of the message, whose value tells the size.
_ATTACHMENTS = ("photo", "voice", "audio", "video", "video_note", "document", "sticker", "location", "contact")
#: What people send without writing it.
_COMMANDS = {"/start": "hello"}


class Telegram(Provider):
    """A bot of Telegram, which answers people who write to it alone. What is written in groups is left."""

    name = "telegram"
    title = "Telegram"
    secrets = {
        "token": "The token that @BotFather gave for the bot.",
        "secret": "The secret_token that was given to setWebhook: 1 to 256 letters, digits, _ and -.",
    }

    settings = {"api_url": "The address of a Bot API server of your own. Blank: that of Telegram."}

    def receive(self, request: Received, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Arrival:
        """Verify the secret token, and read an update."""
        check_equal(
            request.headers.get("x-telegram-bot-api-secret-token", ""),
            secrets["secret"],
            "The header X-Telegram-Bot-Api-Secret-Token has another secret.",
        )
        message = _read_message(read_object(request.body))
        return Arrival((message,) if message else ())

    def render(self, answer: Answer) -> Sequence[Mapping[str, Json]]:
        """Parts of the text; the last one has the options as buttons, or as numbers where they do not fit."""
        fits = len(answer.options) <= _MOST_BUTTONS and all(
            len(label.encode()) <= _MOST_BUTTON_BYTES for label in answer.options
        )
        text = answer.text if fits else number_options(answer.text, answer.options)
        messages: list[dict[str, Json]] = [{"text": part} for part in split_text(text, _MOST_CHARACTERS)]
        if answer.options and fits:
            keyboard = [[{"text": label, "callback_data": label}] for label in answer.options]
            messages[-1]["reply_markup"] = {"inline_keyboard": keyboard}
        return messages

    def build_call(
        self, message: Mapping[str, Json], recipient: str, secrets: Mapping[str, str], settings: Mapping[str, str]
    ) -> Call:
        """`sendMessage` to the chat."""
        url = f"{settings.get('api_url') or 'https://api.telegram.org'}/bot{secrets['token']}/sendMessage"
        return Call(url, {"chat_id": recipient, **message})

    def read_outcome(self, status: int, body: Json, retry_after: int) -> Outcome:
        """The number of the message, or how long to wait. Who blocked the bot gets nothing any more."""
        answer = body if isinstance(body, Mapping) else {}
        result, parameters = answer.get("result"), answer.get("parameters")
        if status == 200 and isinstance(result, Mapping):
            return Outcome(str(result.get("message_id", "")))
        seconds = parameters.get("retry_after") if isinstance(parameters, Mapping) else None
        return Outcome(
            error=f"Telegram answered {status}: {answer.get('description') or 'without a reason'}.",
            pause=timedelta(seconds=seconds if isinstance(seconds, int) else retry_after),
            is_final=400 <= status < 500 and status != 429,
        )


def _read_message(update: Mapping[str, Json]) -> Incoming | None:
    """The message of an update. Returns None for other kinds of updates, and for what was written in a group."""
    callback = update.get("callback_query")
    if isinstance(callback, Mapping):
        return _build_message(callback.get("message"), callback, f"c{callback.get('id')}", callback.get("data"))
    edited = update.get("edited_message")
    if isinstance(edited, Mapping):
        return _build_message(
            edited, edited, f"{edited.get('message_id')}e{edited.get('edit_date')}", edited.get("text")
        )
    message = update.get("message")
    if isinstance(message, Mapping):
        return _build_message(message, message, str(message.get("message_id")), message.get("text"))
    return None


def _build_message(within: Json, sent: Mapping[str, Json], message_id: str, text: Json) -> Incoming | None:
    chat, sender = (
        part.get(key) if isinstance(part, Mapping) else None for part, key in ((within, "chat"), (sent, "from"))
    )
    if not isinstance(chat, Mapping) or chat.get("type") != "private":
        return None
    words = str(text or "").strip()
    locale = sender.get("language_code") if isinstance(sender, Mapping) else None
    return Incoming(
        f"{chat.get('id')} {message_id}",
        str(chat.get("id")),
        _COMMANDS.get(words, words),
        locale if isinstance(locale, str) else "",
        {} if words else read_attachment(sent, _ATTACHMENTS),
        _read_time(sent),
    )


def _read_time(message: Mapping[str, Json]) -> float | None:
    """When it was sent. A button says when its message was sent, which may be long ago."""
    at = message.get("edit_date") or message.get("date")
    return float(at) if isinstance(at, int) else None
