"""What a provider tells of a message beside its text, for rules, templates and code: one input param."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from convengine.json_value import Json

#: The input param.
PARAM = "message_details"
#: The longest name, ID or address that is kept; the most files of one message; the digits of the size of none.
_LONGEST, _MOST_FILES, _LONGEST_SIZE = 400, 50, 16


@dataclass(frozen=True)
class ChannelUser:
    """Who wrote, as far as the provider says so."""

    id: str = ""
    name: str = ""
    username: str = ""


@dataclass(frozen=True)
class Attachment:
    """Something that is no text."""

    #: Such as `photo`.
    kind: str
    #: With this ID, the provider's API returns the file.
    id: str = ""
    #: Such as `image/jpeg`.
    type: str = ""
    bytes: int = 0
    #: The name of the file.
    name: str = ""


@dataclass(frozen=True)
class Location:
    """A place, in degrees."""

    latitude: float
    longitude: float
    name: str = ""
    address: str = ""


@dataclass(frozen=True)
class Contact:
    """An entry of an address book."""

    name: str = ""
    phone: str = ""
    #: What the provider calls this person.
    user_id: str = ""


@dataclass(frozen=True)
class MessageDetails:
    """What is known of a message. Blank parts are left out of the input param."""

    user: ChannelUser = ChannelUser()
    attachments: Sequence[Attachment] = ()
    location: Location | None = None
    contacts: Sequence[Contact] = ()
    #: The label of the button that the user pressed.
    button: str = ""
    #: The parameter of the link that began the chat.
    start: str = ""
    #: The provider's ID of an earlier message that it quotes.
    reply_to: str = ""
    #: It replaces an earlier message of the user.
    is_edited: bool = False

    @property
    def has_media(self) -> bool:
        """Whether it has something that is no text."""
        return bool(self.attachments or self.location or self.contacts)

    def to_param(self) -> dict[str, Json]:
        """The value of the input param."""
        param: dict[str, Json] = _drop_blanks(asdict(self))
        return param


def _drop_blanks(value: Any) -> Any:
    if isinstance(value, dict):
        inner = {name: _drop_blanks(item) for name, item in value.items()}
        # A latitude of zero is one.
        return {name: item for name, item in inner.items() if item or type(item) is float}
    return [_drop_blanks(item) for item in value] if isinstance(value, (list, tuple)) else value


def join_details(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """The details of two messages that are one for their user: with the files and contacts of both."""
    lists = {
        name: [*first.get(name, ()), *second.get(name, ())][:_MOST_FILES]
        for name in ("attachments", "contacts")
        if name in first or name in second
    }
    return {**first, **second, **lists}


def describe_media(details: Mapping[str, Any]) -> str:
    """What the record says of a message without words: `[photo, image/jpeg] [location]`. Blank without media."""
    files = []
    for file in details.get("attachments", ()):
        size = f"{file['bytes']} bytes" if "bytes" in file else ""
        files.append(", ".join(filter(None, (file.get("kind"), file.get("type"), size))))
    others = ["location"] * ("location" in details) + ["contact"] * len(details.get("contacts", ()))
    return " ".join(f"[{part}]" for part in [*files, *others])


def read_attachment(kind: str, value: Json) -> Attachment:
    """A file, under the names that providers have for its properties."""
    # A picture comes in several sizes, the largest last.
    file = value[-1] if isinstance(value, list) and value else value
    size = read_name(file, "file_size", "size")
    return Attachment(
        kind,
        read_name(file, "file_id", "id"),
        read_name(file, "mime_type", "mimetype"),
        int(size) if size.isascii() and size.isdigit() and len(size) < _LONGEST_SIZE else 0,
        read_name(file, "file_name", "filename", "name"),
    )


def read_location(value: Mapping[str, Json]) -> Location | None:
    """A place on earth. Returns None for anything else."""
    degrees: list[Json] = [value.get(name) for name in ("latitude", "longitude")]
    if not all(type(each) in (int, float) and abs(each) <= 180 for each in degrees):
        return None
    latitude, longitude = map(float, degrees)
    return Location(latitude, longitude, read_name(value, "name", "title"), read_name(value, "address"))


def read_name(value: Json, *names: str) -> str:
    """The text or whole number under the first of these names that has one. Blank without one."""
    known = [value.get(name) for name in names] if isinstance(value, Mapping) else []
    return next((str(item)[:_LONGEST] for item in known if type(item) in (str, int) and item != ""), "")
