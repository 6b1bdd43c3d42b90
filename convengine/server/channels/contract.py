"""What a channel of messages is: it reads requests of a provider, and says answers within the provider's limits.

Everything else is the same for all: requests are answered at once, a repeated message has one turn, messages of a
sender are answered in their order, and answers are sent again after faults (docs/channels.md).
"""

import hashlib
import hmac
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import ClassVar

from convengine.engine.text.compare import shorten, storable
from convengine.engine.turn.codec import load_mended
from convengine.json_value import Json
from convengine.server.channels.details import MessageDetails

#: The longest name of a person or a message.
LONGEST_NAME = 400


class RequestRefused(Exception):
    """The request is not from the provider, or cannot be read: the text says why, for the log and for people."""


@dataclass(frozen=True)
class Received:
    """A request as it came. Names of headers are lower-case."""

    method: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    #: Seconds since 1970.
    now: float


@dataclass(frozen=True)
class Incoming:
    """A message of a user."""

    #: The provider's name of the message: the same when it is sent again.
    message_id: str
    #: Whom to answer. Where a channel has threads, with the thread.
    sender: str
    #: What the user wrote, also below a picture, or the label of the option that the user chose. Blank without a word.
    text: str
    #: The language of the user, such as `de`, if the provider knows it.
    locale: str = ""
    #: What else is known of it, such as who wrote it, and files.
    details: MessageDetails = field(default_factory=MessageDetails)
    #: When it was sent, in seconds since 1970, if the provider says so. What is too old is left.
    at: float | None = None
    #: It is for the bot only if the bot has a conversation there already.
    needs_conversation: bool = False
    #: The message whose button was pressed, as the provider has it.
    pressed_in: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Receipt:
    """What became of a message that was sent."""

    #: The provider's name of the message.
    message_id: str
    #: `delivered`, `read` or `failed`.
    state: str
    error: str = ""
    #: The provider no longer takes such a message to the user.
    is_too_late: bool = False


@dataclass(frozen=True)
class Arrival:
    """What is in a request."""

    messages: Sequence[Incoming] = ()
    receipts: Sequence[Receipt] = ()
    #: What the provider wants to read at once, such as a challenge; else nothing.
    reply: str = ""


@dataclass(frozen=True)
class Answer:
    """What a user is to read, and may choose."""

    text: str
    #: The labels of options; each can be sent as the next message.
    options: Sequence[str] = ()


@dataclass(frozen=True)
class Call:
    """A POST to the provider."""

    url: str
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CallResult:
    """What the provider said to a call."""

    #: The provider's name of the message. Blank if it was not taken.
    message_id: str = ""
    error: str = ""
    #: The next attempt waits so long at least.
    pause: timedelta = timedelta()
    #: No further attempt can help.
    is_final: bool = False
    #: The provider no longer takes such a message to the user.
    is_too_late: bool = False


class Unit(Enum):
    """What a provider counts in a text: the word for it, and an encoding with its bytes for one."""

    CHARACTERS = "characters", "utf-32-le", 4
    UTF_16 = "UTF-16 code units", "utf-16-le", 2
    BYTES = "bytes", "utf-8", 1

    def measure(self, text: str) -> int:
        """How long a text is."""
        _, encoding, width = self.value
        return len(text.encode(encoding, "replace")) // width

    def cut(self, text: str, most: int) -> str:
        """The beginning of a text that is at most so long."""
        _, encoding, width = self.value
        return text.encode(encoding, "replace")[: most * width].decode(encoding, "ignore")


@dataclass(frozen=True)
class OptionForm:
    """A way to show options, such as `buttons`, and how many of them fit into it."""

    name: str
    most: int
    #: The longest label.
    longest: int
    unit: Unit = Unit.CHARACTERS

    def find_misfit(self, options: Sequence[str]) -> str:
        """Why these options do not fit, in words. Blank if they do."""
        if len(options) > self.most:
            return f"at most {self.most} of {len(options)} options fit as {self.name}"
        long = [label for label in options if self.unit.measure(label) > self.longest]
        return f"“{shorten(long[0], 40)}” is longer than {self.longest} {self.unit.value[0]}" if long else ""


@dataclass(frozen=True)
class Arrangement:
    """An answer as a channel shows it. The last text has the options."""

    texts: Sequence[str]
    options: Sequence[str] = ()
    form: OptionForm | None = None
    #: What is shown otherwise than it was written, and why.
    notes: Sequence[str] = ()


class Provider(ABC):
    """A kind of channel. One object serves all channels of the kind, so it gets the secrets and settings of each."""

    name: ClassVar[str]
    title: ClassVar[str]
    #: The secrets that it needs, each with a sentence for the form.
    secrets: ClassVar[Mapping[str, str]]
    #: Other things that it needs to know. A key with ? may be missing.
    settings: ClassVar[Mapping[str, str]] = {}
    #: The hosts that it calls. A deployment allows others by CHANNEL_HOSTS.
    hosts: ClassVar[frozenset[str]]
    #: Messages that a channel sends in a second; more wait.
    per_second: ClassVar[float]
    #: The longest text of a message, and of one that has options in one of `option_forms`.
    longest_text: ClassVar[int]
    longest_question: ClassVar[int]
    #: What these two count.
    unit: ClassVar[Unit] = Unit.CHARACTERS
    #: How options are shown, the best first. Where none has room, they are numbered lines of the text.
    option_forms: ClassVar[Sequence[OptionForm]] = ()

    @abstractmethod
    def receive(self, request: Received, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Arrival:
        """Verify and read a request. Raises RequestRefused."""

    @abstractmethod
    def write(self, text: str, options: Sequence[str], form: OptionForm | None) -> Mapping[str, Json]:
        """A message with a text, and with options in this form if there is one."""

    @abstractmethod
    def build_call(
        self, message: Mapping[str, Json], recipient: str, secrets: Mapping[str, str], settings: Mapping[str, str]
    ) -> Call:
        """The call that sends a message."""

    @abstractmethod
    def read_result(self, status: int, body: Json, retry_after: int) -> CallResult:
        """What the provider's answer means; `retry_after`: the seconds of that header, or 0."""

    def acknowledge(self, message: Incoming, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Call | None:
        """The call that says at once that a message was read. It is made once, whatever comes of it."""
        return None

    def show_choice(self, message: Incoming, secrets: Mapping[str, str], settings: Mapping[str, str]) -> Call | None:
        """The call that shows, in the message whose button was pressed, what the user chose. It is made once."""
        return None

    def write_late(self, text: str, settings: Mapping[str, str]) -> Mapping[str, Json] | None:
        """The message that says a text to a user to whom the provider takes no other one any more."""
        return None

    def arrange(self, answer: Answer) -> Arrangement:
        """An answer within the limits of the provider."""
        options = list(dict.fromkeys(answer.options))
        if not options:
            return self._split(answer.text, self.longest_text)
        reason = ""
        for form in self.option_forms:
            misfit = form.find_misfit(options)
            if not misfit:
                notes = [f"The options are shown as {form.name}{reason}."] if reason else []
                return replace(self._split(answer.text, self.longest_question, notes), options=options, form=form)
            reason = f", because {misfit}"
        notes = [f"The options are numbered lines of the text{reason}."]
        lines = [f"{number}. {label}" for number, label in enumerate(options, start=1)]
        return self._split("\n".join([answer.text, "", *lines]).strip(), self.longest_text, notes)

    def render(self, answer: Answer) -> Sequence[Mapping[str, Json]]:
        """The messages that say an answer, in their order."""
        arranged = self.arrange(answer)
        *first, last = arranged.texts
        return [*(self.write(text, (), None) for text in first), self.write(last, arranged.options, arranged.form)]

    def _split(self, text: str, most: int, notes: Sequence[str] = ()) -> Arrangement:
        texts = split_text(text, most, self.unit)
        parted = [f"The text is sent in {len(texts)} messages."] if len(texts) > 1 else []
        return Arrangement(texts, notes=[*notes, *parted])


def check_equal(sent: str, expected: str, refusal: str) -> None:
    """Raises RequestRefused with this text for another secret or signature. Takes as long for all."""
    if not hmac.compare_digest(sent.encode(), expected.encode()):
        raise RequestRefused(refusal)


def sign(secret: str, content: bytes) -> str:
    """The HMAC-SHA256 of some content in hexadecimal digits."""
    return hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()


def read_object(body: bytes) -> Mapping[str, Json]:
    """The JSON object of a body, with U+FFFD for what is no Unicode. Raises RequestRefused for anything else."""
    try:
        value = load_mended(body)
    except ValueError as error:
        raise RequestRefused(f"The body is no JSON: {error}") from error
    if not isinstance(value, Mapping):
        raise RequestRefused("The body is no JSON object.")
    return value


def read_objects(value: Json) -> list[Mapping[str, Json]]:
    """The objects of a list; anything else is left out."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def read_part(value: Json, *names: str) -> Mapping[str, Json]:
    """Follow the names into an object. Returns an empty object if a name is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def are_names(*values: Json) -> bool:
    """Whether all are texts or whole numbers, as the names of people and messages are."""
    return all(type(value) in (str, int) and 0 < len(str(value)) <= LONGEST_NAME for value in values)


def fit_name(name: str, longest: int) -> str:
    """A name as a column stores it. A longer one is its hash, so that it is found again."""
    name = storable(name)
    return name if len(name) <= longest else hashlib.sha256(name.encode()).hexdigest()


def split_text(text: str, most: int, unit: Unit = Unit.CHARACTERS) -> list[str]:
    """A text in parts of at most `most` units, cut at the last paragraph, sentence or word that fits."""
    parts = []
    rest = text.strip()
    while unit.measure(rest) > most:
        end = len(unit.cut(rest, most))
        at = max((rest.rfind(mark, end // 2, end) + len(mark) for mark in ("\n", ". ", " ")), default=0)
        at = at if at > end // 2 else end
        parts.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return [*parts, rest] if rest or not parts else parts
