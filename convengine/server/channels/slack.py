"""Slack: an app that people write to, alone or by its name in a channel (https://docs.slack.dev)."""

import html
import re
from collections.abc import Mapping, Sequence, Set
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
    read_object,
    read_objects,
    read_part,
    sign,
)
from convengine.server.channels.details import ChannelUser, MessageDetails, read_attachment, read_name

#: How old a request may be, in seconds.
_OLDEST = 300
#: Messages of users: also with a file, and those in a thread that are shown in its channel, too.
_SUBTYPES = (None, "file_share", "thread_broadcast")
#: Errors that pass.
_PASSING = frozenset(
    {"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"}
)
#: A person or a group whom a message calls: `<@U012>`, `<!here>`.
_MENTION = re.compile(r"[ \t]?<(?:@|!(?:here|channel|everyone|subteam))([^<>|]*)[^<>]*>")
#: A link, or the name of a channel: `<mailto:ada@example.com|ada@example.com>`.
_LINK = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")


class Slack(Provider):
    """An app of Slack. A thread in which the app is named is a conversation, and so are direct messages."""

    name = "slack"
    title = "Slack"
    secrets = {
        "token": "The bot token, which begins with xoxb-; it needs chat:write, im:history and app_mentions:read.",
        "signing_secret": "The signing secret of the app.",
    }
    settings = {
        "team_id": "The ID of the workspace, such as T012AB3CD. Requests of other workspaces are refused.",
        "api_url?": "Another address of the API, such as that of a proxy.",
    }
    hosts = frozenset({"slack.com"})
    #: One in a second to each place, and some hundred in a minute to all.
    per_second = 5
    longest_text = longest_question = 3000
    option_forms = (OptionForm("buttons", 25, 75),)

    def receive(self, request: Received, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Arrival:
        """Verify and read an event, the choice of a button, or the check of the address. Commands are left."""
        _verify(request, secrets["signing_secret"])
        if not request.body.startswith(b"{"):
            form = parse_qs(request.body.decode("utf-8", "replace"))
            if "command" in form:
                return Arrival()
            payload = read_object(form.get("payload", [""])[0].encode())
            _check_team(settings, read_part(payload, "team").get("id"), read_part(payload, "message").get("team"))
            message = _read_choice(payload)
            return Arrival((message,) if message else ())
        body = read_object(request.body)
        if body.get("type") == "url_verification":
            return Arrival(reply=str(body.get("challenge", "")))
        installed = read_objects(body.get("authorizations"))
        # An event of a channel that workspaces share names the app's own one in another place.
        teams = (body.get("team_id"), body.get("context_team_id"), *(each.get("team_id") for each in installed))
        _check_team(settings, *teams)
        message = _read_event(read_part(body, "event"), {str(each.get("user_id")) for each in installed})
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
        body = {"channel": channel, **({"thread_ts": thread} if thread else {}), **message}
        return _build_call("chat.postMessage", body, secrets, settings)

    def show_choice(self, message: Incoming, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Call | None:
        """`chat.update`, with the choice in the place of the buttons."""
        question, channel = message.pressed_in, message.sender.partition(" ")[0]
        texts = [block for block in read_objects(question.get("blocks")) if block.get("type") != "actions"]
        blocks = [*texts, {"type": "section", "text": _write_plain(f"✓ {message.text}")}]
        body = {"channel": channel, "ts": question.get("ts"), "text": question.get("text"), "blocks": blocks}
        return _build_call("chat.update", body, secrets, settings) if texts else None

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


def _check_team(settings: Mapping[str, str], *sent: Json) -> None:
    """Raises RequestRefused for what happened in other workspaces."""
    team = settings.get("team_id")
    if team and team not in sent:
        names = ", ".join(sorted({str(each)[:40] for each in sent if each})) or "no workspace"
        raise RequestRefused(f"The request is of {names}, not of {team}.")


def _build_call(method: str, body: Mapping[str, Json], secrets: Mapping[str, str], settings: Mapping[str, str]) -> Call:
    url = f"{settings.get('api_url') or 'https://slack.com/api'}/{method}"
    return Call(url, body, {"Authorization": f"Bearer {secrets['token']}"})


def _read_event(event: Mapping[str, Json], own: Set[str]) -> Incoming | None:
    """A message to the app, whose users are `own`. Returns None for anything else, and for what a bot wrote.

    Slack tells a mention twice, as a mention and as a message of its channel: both have one name.
    """
    text = str(event.get("text") or "").strip()
    conversation = _find_thread(event, text, own) if _is_of_user(event) else None
    if conversation is None:
        return None
    thread, needs_conversation = conversation
    files = [read_attachment("file", file) for file in read_objects(event.get("files"))]
    # Without mentions, and with the signs that Slack writes as entities.
    words = html.unescape(_LINK.sub(lambda link: link[2] or link[1], _MENTION.sub("", text))).strip()
    return Incoming(
        f"{event.get('channel')} {event.get('ts')}",
        _name_sender(event.get("channel"), thread),
        # Who only mentions the app greets it.
        words or ("hello" if text and not files else ""),
        details=MessageDetails(ChannelUser(read_name(event, "user")), files),
        needs_conversation=needs_conversation,
    )


def _find_thread(event: Mapping[str, Json], text: str, own: Set[str]) -> tuple[str, bool] | None:
    """The thread, blank without one, and whether only a known one is the bot's. Returns None for talk of others."""
    thread = str(event.get("thread_ts") or "")
    if event.get("channel_type") == "im":
        return thread, False
    if event.get("type") == "app_mention" or not own.isdisjoint(_MENTION.findall(text)):
        return thread or str(event.get("ts")), False
    return (thread, True) if thread and not text.startswith("<@") else None


def _is_of_user(event: Mapping[str, Json]) -> bool:
    """Whether somebody wrote it: no bot, and no change of an older message. It says where and when."""
    is_message, at = event.get("type") in ("message", "app_mention"), event.get("ts")
    is_named = are_names(event.get("channel"), at, event.get("thread_ts") or at)
    return is_message and is_named and not event.get("bot_id") and event.get("subtype") in _SUBTYPES


def _read_choice(payload: Mapping[str, Json]) -> Incoming | None:
    """The choice of a button. Returns None for other actions."""
    actions, message = read_objects(payload.get("actions")), read_part(payload, "message")
    if payload.get("type") != "block_actions" or not actions:
        return None
    channel, at = read_part(payload, "channel").get("id"), actions[0].get("action_ts")
    if not are_names(channel, at, message.get("thread_ts") or at):
        return None
    sender, label = _name_sender(channel, message.get("thread_ts")), str(actions[0].get("value") or "")
    user = read_part(payload, "user")
    details = MessageDetails(
        ChannelUser(read_name(user, "id"), read_name(user, "name"), read_name(user, "username")), button=label
    )
    return Incoming(f"{sender} {at}", sender, label, details=details, pressed_in=message)


def _name_sender(channel: Json, thread: Json) -> str:
    """Where to answer: a channel, with the thread in it."""
    return f"{channel} {thread}" if thread else str(channel)


def _write_plain(text: str) -> dict[str, Json]:
    return {"type": "plain_text", "text": text}
