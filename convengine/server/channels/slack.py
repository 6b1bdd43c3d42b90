"""Slack: an app that people write to, alone or by its name in a channel (https://docs.slack.dev)."""

import html
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from urllib.parse import parse_qs

from convengine.json_value import Json
from convengine.server.channels.contract import (
    Arrival,
    Call,
    CallResult,
    Incoming,
    OptionForm,
    Provider,
    Received,
    RequestRefused,
    are_names,
    check_equal,
    read_attachment,
    read_object,
    read_objects,
    read_part,
    sign,
)

#: How old a request may be, in seconds.
_OLDEST = 300
#: Messages of users: also with a file, and those in a thread that are shown in its channel, too.
_SUBTYPES = (None, "file_share", "thread_broadcast")
#: Errors that pass.
_PASSING = frozenset(
    {"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"}
)
#: A link, or the name of somebody: `<mailto:ada@example.com|ada@example.com>`.
_LINK = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")


class Slack(Provider):
    """An app of Slack. A thread in which the app is named is a conversation, and so are direct messages."""

    name = "slack"
    title = "Slack"
    secrets = {
        "token": "The bot token, which begins with xoxb-; it needs chat:write, im:history and app_mentions:read.",
        "signing_secret": "The signing secret of the app.",
    }
    settings = {"api_url?": "Another address of the API, such as that of a proxy."}
    hosts = frozenset({"slack.com"})
    #: One in a second to each place, and some hundred in a minute to all.
    per_second = 5
    longest_text = longest_question = 3000
    option_forms = (OptionForm("buttons", 25, 75),)

    def receive(self, request: Received, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Arrival:
        """Verify and read an event, the choice of a button, or the check of the address."""
        _verify(request, secrets["signing_secret"])
        if request.body.startswith(b"payload="):
            form = parse_qs(request.body.decode("utf-8", "replace"))
            chosen = _read_choice(read_object(form.get("payload", [""])[0].encode()))
            return Arrival((chosen,) if chosen else ())
        body = read_object(request.body)
        if body.get("type") == "url_verification":
            return Arrival(reply=str(body.get("challenge", "")))
        own = {str(each.get("user_id")) for each in read_objects(body.get("authorizations"))}
        message = _read_event(read_part(body, "event"), own)
        return Arrival((message,) if message else ())

    def write(self, text: str, options: Sequence[str], form: OptionForm | None) -> Mapping[str, Json]:
        """The text; with options, the text and the buttons as blocks. No text can call a person or a channel."""
        escaped = html.escape(text, quote=False)
        if form is None:
            return {"text": escaped}
        buttons = [
            {"type": "button", "action_id": f"option-{number}", "value": label, "text": _write_plain(label)}
            for number, label in enumerate(options)
        ]
        blocks = [{"type": "section", "text": _write_plain(text)}, {"type": "actions", "elements": buttons}]
        return {"text": escaped, "blocks": blocks}

    def build_call(
        self, message: Mapping[str, Json], recipient: str, secrets: Mapping[str, str], settings: Mapping[str, str]
    ) -> Call:
        """`chat.postMessage` to the channel, in its thread."""
        channel, _, thread = recipient.partition(" ")
        url = f"{settings.get('api_url') or 'https://slack.com/api'}/chat.postMessage"
        body = {"channel": channel, **({"thread_ts": thread} if thread else {}), **message}
        return Call(url, body, {"Authorization": f"Bearer {secrets['token']}"})

    def read_result(self, status: int, body: Json, retry_after: int) -> CallResult:
        """The time stamp of the message, which is its name, or what is wrong with it."""
        answer = body if isinstance(body, Mapping) else {}
        if status == 200 and answer.get("ok") is True:
            return CallResult(str(answer.get("ts", "")))
        code = answer.get("error")
        passes = status >= 500 or status == 429 or code in _PASSING
        text = f"Slack answered {status}: {code or 'without a reason'}."
        return CallResult(error=text, pause=timedelta(seconds=retry_after), is_final=not passes)


def _verify(request: Received, signing_secret: str) -> None:
    """Raises RequestRefused for another signature, and for an old request."""
    sent_at = request.headers.get("x-slack-request-timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", sent_at) or abs(request.now - int(sent_at)) > _OLDEST:
        raise RequestRefused("The request is older than five minutes, or does not say how old it is.")
    expected = f"v0={sign(signing_secret, b'v0:%s:%s' % (sent_at.encode(), request.body))}"
    refusal = "The header X-Slack-Signature does not match the body and signing_secret."
    check_equal(request.headers.get("x-slack-signature", ""), expected, refusal)


def _read_event(event: Mapping[str, Json], own: Collection[str]) -> Incoming | None:
    """A message to the app, whose users are `own`. Returns None for anything else, and for what a bot wrote.

    Slack tells a mention twice, as a mention and as a message of its channel: both have one name.
    """
    is_direct, is_mention = event.get("channel_type") == "im", event.get("type") == "app_mention"
    thread = event.get("thread_ts") or (event.get("ts") if is_mention else None)
    addressed, words = _read_words(event)
    needs_conversation = not (is_direct or is_mention)
    is_for_another = needs_conversation and addressed not in {"", *own}
    if is_for_another or not (is_direct or thread) or not _is_of_user(event):
        return None
    channel = str(event.get("channel"))
    return Incoming(
        f"{channel} {event.get('ts')}",
        _name_sender(channel, thread),
        words,
        attachment=_read_file(event, words),
        needs_conversation=needs_conversation,
    )


def _is_of_user(event: Mapping[str, Json]) -> bool:
    """Whether somebody wrote it: no bot, and no change of an older message. It says where and when."""
    is_message, at = event.get("type") in ("message", "app_mention"), event.get("ts")
    is_named = are_names(event.get("channel"), at, event.get("thread_ts") or at)
    return is_message and is_named and not event.get("bot_id") and event.get("subtype") in _SUBTYPES


def _read_words(event: Mapping[str, Json]) -> tuple[str, str]:
    """Whom a message addresses, whose name stands first, and what it says: `<@U012> hours`."""
    words, name = str(event.get("text") or "").strip(), ""
    if words.startswith("<@"):
        name, _, words = words.removeprefix("<@").partition(">")
    # Slack writes &, < and > as entities.
    return name, html.unescape(_LINK.sub(lambda link: link[2] or link[1], words)).strip()


def _read_file(event: Mapping[str, Json], words: str) -> dict[str, Json]:
    files = read_objects(event.get("files"))
    return read_attachment({"file": files[0]} if files else {}, ("file",), words)


def _read_choice(payload: Mapping[str, Json]) -> Incoming | None:
    """The choice of a button. Returns None for other actions."""
    actions, message = read_objects(payload.get("actions")), read_part(payload, "message")
    if payload.get("type") != "block_actions" or not actions:
        return None
    channel, at = read_part(payload, "channel").get("id"), actions[0].get("action_ts")
    if not are_names(channel, at, message.get("thread_ts") or at):
        return None
    sender = _name_sender(channel, message.get("thread_ts"))
    return Incoming(f"{sender} {at}", sender, str(actions[0].get("value") or ""))


def _name_sender(channel: Json, thread: Json) -> str:
    """Where to answer: a channel, with the thread in it."""
    return f"{channel} {thread}" if thread else str(channel)


def _write_plain(text: str) -> dict[str, Json]:
    return {"type": "plain_text", "text": text}
