"""Slack: an app that people write to, alone or by its name in a channel (https://docs.slack.dev)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from urllib.parse import parse_qs

from convengine.json_value import Json
from convengine.server.channels.contract import (
    Answer,
    Arrival,
    Call,
    Incoming,
    Outcome,
    Provider,
    Received,
    RequestRefused,
    check_equal,
    number_options,
    read_attachment,
    read_object,
    read_objects,
    read_part,
    sign,
    split_text,
)

_MOST_CHARACTERS, _MOST_BUTTONS, _BUTTON_CHARACTERS = 3000, 25, 75
#: How old a request may be, in seconds.
_OLDEST = 300
#: Errors that pass.
_PASSING = frozenset({"ratelimited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"})


class Slack(Provider):
    """An app of Slack. A thread in which the app is named is a conversation, and so are direct messages."""

    name = "slack"
    title = "Slack"
    secrets = {
        "token": "The bot token, which begins with xoxb-; it needs chat:write, im:history and app_mentions:read.",
        "signing_secret": "The signing secret of the app.",
    }
    settings = {"api_url": "Another address of the API. Blank: that of Slack."}

    def receive(self, request: Received, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Arrival:
        """Verify and read an event, the choice of a button, or the check of the address."""
        _verify(request, secrets["signing_secret"])
        if request.body.startswith(b"payload="):
            form = parse_qs(request.body.decode("utf-8", "replace"))
            chosen = _read_choice(read_object(form["payload"][0].encode()))
            return Arrival((chosen,) if chosen else ())
        body = read_object(request.body)
        if body.get("type") == "url_verification":
            return Arrival(reply=str(body.get("challenge", "")))
        message = _read_event(read_part(body, "event"), str(body.get("event_id")))
        return Arrival((message,) if message else ())

    def render(self, answer: Answer) -> Sequence[Mapping[str, Json]]:
        """Parts of the text; the last one has the options as buttons, or as numbers where they do not fit."""
        fits = len(answer.options) <= _MOST_BUTTONS and all(
            len(label) <= _BUTTON_CHARACTERS for label in answer.options
        )
        text = answer.text if fits else number_options(answer.text, answer.options)
        messages: list[dict[str, Json]] = [{"text": part} for part in split_text(text, _MOST_CHARACTERS)]
        if answer.options and fits:
            buttons = [
                {"type": "button", "action_id": f"option-{number}", "value": label, "text": _write_plain(label)}
                for number, label in enumerate(answer.options)
            ]
            section = {"type": "section", "text": _write_plain(str(messages[-1]["text"]))}
            messages[-1]["blocks"] = [section, {"type": "actions", "elements": buttons}]
        return messages

    def build_call(
        self, message: Mapping[str, Json], recipient: str, secrets: Mapping[str, str], settings: Mapping[str, str]
    ) -> Call:
        """`chat.postMessage` to the channel, in its thread."""
        channel, _, thread = recipient.partition(" ")
        url = f"{settings.get('api_url') or 'https://slack.com/api'}/chat.postMessage"
        body = {"channel": channel, **({"thread_ts": thread} if thread else {}), **message}
        return Call(url, body, {"Authorization": f"Bearer {secrets['token']}"})

    def read_outcome(self, status: int, body: Json, retry_after: int) -> Outcome:
        """The time stamp of the message, which is its name, or what is wrong with it."""
        answer = body if isinstance(body, Mapping) else {}
        if status == 200 and answer.get("ok") is True:
            return Outcome(str(answer.get("ts", "")))
        code = answer.get("error")
        passes = status >= 500 or status == 429 or code in _PASSING
        text = f"Slack answered {status}: {code or 'without a reason'}."
        return Outcome(error=text, pause=timedelta(seconds=retry_after), is_final=not passes)


def _verify(request: Received, signing_secret: str) -> None:
    """Raises RequestRefused for another signature, and for an old request."""
    sent_at = request.headers.get("x-slack-request-timestamp", "")
    if not sent_at.isascii() or not sent_at.isdigit() or abs(request.now - int(sent_at)) > _OLDEST:
        raise RequestRefused("The request is older than five minutes, or does not say how old it is.")
    expected = f"v0={sign(signing_secret, b'v0:%s:%s' % (sent_at.encode(), request.body))}"
    refusal = "The header X-Slack-Signature does not fit the body and signing_secret."
    check_equal(request.headers.get("x-slack-signature", ""), expected, refusal)


def _read_event(event: Mapping[str, Json], event_id: str) -> Incoming | None:
    """A message to the app. Returns None for anything else, and for what a bot wrote."""
    kind, is_direct = event.get("type"), event.get("channel_type") == "im"
    is_written = kind == "app_mention" or (kind == "message" and is_direct)
    if not is_written or event.get("bot_id") or event.get("subtype") not in (None, "file_share"):
        return None
    thread = event.get("thread_ts") or (None if is_direct else event.get("ts"))
    # The name of the app stands first: "<@U012> hours".
    words = str(event.get("text") or "").strip()
    if kind == "app_mention" and words.startswith("<@"):
        words = words.partition(">")[2].strip()
    return Incoming(event_id, _name_place(event.get("channel"), thread), words, attachment=_read_file(event, words))


def _read_file(event: Mapping[str, Json], words: str) -> dict[str, Json]:
    files = read_objects(event.get("files"))
    return {} if words else read_attachment({"file": files[0]} if files else {}, ("file",))


def _read_choice(payload: Mapping[str, Json]) -> Incoming | None:
    """The choice of a button. Returns None for other actions."""
    actions, message = read_objects(payload.get("actions")), read_part(payload, "message")
    if payload.get("type") != "block_actions" or not actions:
        return None
    channel, action = read_part(payload, "channel").get("id"), actions[0]
    place = _name_place(channel, message.get("thread_ts"))
    return Incoming(f"{place} {action.get('action_ts')}", place, str(action.get("value") or ""))


def _name_place(channel: Json, thread: Json) -> str:
    """Where to answer: a channel, with the thread in it."""
    return f"{channel} {thread}" if thread else str(channel)


def _write_plain(text: str) -> dict[str, Json]:
    return {"type": "plain_text", "text": text}
