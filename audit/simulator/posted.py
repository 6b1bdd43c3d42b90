"""What the page of the simulator sends: the lines so far, the stubs, and what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.http import HttpRequest, QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.files.json_text import read_json
from convengine.server.deployment import conf

#: The names of the inputs; those of a form that is tried have others.
PREFIX = "try-"
MAX_LINES = 50
#: How long the name of a channel may be, as in the API.
_CHANNEL = 64


def find_message_problem(text: str) -> str:
    """Why a text cannot be sent as a message, or blank."""
    limit = conf.get("MAX_MESSAGE_BYTES")
    if not text.strip():
        return "The message is empty. Enter a message."
    return f"The message is longer than {limit} bytes. Enter a shorter message." if len(text.encode()) > limit else ""


class SentMessage(NamedTuple):
    """A message of the conversation, with its input parameters as JSON; blank for none."""

    message: str
    params: str = ""

    def read_params(self) -> Mapping[str, Any]:
        """The input parameters. Raises ValueError for a text that is no JSON object."""
        params = read_json(self.params) if self.params.strip() else {}
        if not isinstance(params, dict):
            raise ValueError(self.params)
        return params


@dataclass(frozen=True)
class Posted:
    """The page as it was sent."""

    data: QueryDict

    @classmethod
    def of(cls, request: HttpRequest) -> "Posted":
        """What a request sends; nothing for one that opens the page."""
        return cls(request.POST if request.method == "POST" else request.GET)

    def get(self, name: str) -> str:
        """The text of an input, or blank."""
        return str(self.data.get(f"{PREFIX}{name}", ""))

    def has(self, name: str) -> bool:
        """True for a pressed button, and for a ticked box."""
        return f"{PREFIX}{name}" in self.data

    def read_number(self, name: str) -> int | None:
        """The value of a button that stands for a line or a call."""
        return parse_whole_number(self.get(name), 99_999)

    @property
    def message(self) -> str:
        return self.get("message")

    @property
    def channel(self) -> str:
        return self.get("channel").strip()[:_CHANNEL] or PLAIN_CHANNEL

    @property
    def real_sections(self) -> frozenset[str]:
        """What is really called, by sections of stubs."""
        return frozenset(self.data.getlist(f"{PREFIX}real"))

    def read_lines(self) -> tuple[list[SentMessage], str]:
        """The lines to play, and why the new message is not among them, or blank."""
        if self.has("new"):
            return [], ""
        messages = self.data.getlist(f"{PREFIX}line")[:MAX_LINES]
        params = self.data.getlist(f"{PREFIX}line-params")
        lines = [
            SentMessage(message, text)
            for message, text in zip(messages, [*params, *[""] * len(messages)], strict=False)
        ]
        cut = self.read_number("cut")
        if cut is not None:
            return lines[: max(cut - 1, 0)], ""
        if not self.has("send"):
            return lines, ""
        if problem := self._find_problem(lines):
            return lines, problem
        return [*lines, SentMessage(self.message, self.get("params").strip())], ""

    def _find_problem(self, lines: Sequence[SentMessage]) -> str:
        if not self.message.strip():
            return "The message is empty. Enter a message."
        if len(self.message.encode()) > conf.get("MAX_MESSAGE_BYTES"):
            return f"The message is longer than {conf.get('MAX_MESSAGE_BYTES')} bytes. Enter a shorter message."
        if len(lines) >= MAX_LINES:
            return f"A simulated conversation has at most {MAX_LINES} messages. Start a new one."
        if len(self.get("params").encode()) > conf.get("MAX_INPUT_PARAMS_BYTES"):
            return f"The input parameters are longer than {conf.get('MAX_INPUT_PARAMS_BYTES')} bytes. Enter fewer."
        try:
            SentMessage("", self.get("params")).read_params()
        except ValueError:
            return 'The input parameters are not a JSON object. Enter one such as {"tier": "gold"}, or nothing.'
        return ""

    def read_start(self) -> datetime:
        """The time of the first message: the chosen one, else when it was first sent. Raises ValueError."""
        if text := self.get("at"):
            chosen = parse_datetime(text)
            if chosen is None or not 1970 <= chosen.year < 2200:
                raise ValueError(text)
            return timezone.make_aware(chosen) if timezone.is_naive(chosen) else chosen
        try:
            began = None if self.has("new") else parse_datetime(self.get("began"))
        except ValueError:
            began = None
        is_known = began and timezone.is_aware(began) and 1970 <= began.year < 2200
        return began if began and is_known else timezone.now().replace(microsecond=0)

    def list_other_fields(self) -> list[tuple[str, str]]:
        return [
            (name, value)
            for name, values in self.data.lists()
            if not name.startswith(PREFIX) and name != "csrfmiddlewaretoken"
            for value in values
        ]
