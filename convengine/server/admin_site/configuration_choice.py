"""The configuration that a page works on: what it offers, whether the user may read it, what it begins with."""

from typing import NamedTuple

from django.http import HttpRequest

from convengine.server.admin_site.missing_rights import require_right
from convengine.server.interfaces.configuration import ConfigurationName, named_configurations

#: The right to read a kind of configuration; live needs none.
READ_RIGHTS = {"draft": "config_admin.view_cedraft", "release": "config_admin.view_cerelease"}


class ConfigurationChoice(NamedTuple):
    name: str
    title: str


def get_read_right(name: str) -> str:
    """The right to read a configuration, in every spelling that names it; blank for none."""
    return READ_RIGHTS.get(name.partition(":")[0].strip().lower(), "")


def may_read(request: HttpRequest, name: str) -> bool:
    """True for a user who may read configurations of the kind of `name`."""
    right = get_read_right(name)
    return not right or request.user.has_perm(right)


def require_readable(request: HttpRequest, name: str) -> None:
    """Raises RightMissing for a user who may not read configurations of the kind of `name`."""
    if right := get_read_right(name):
        require_right(request, right)


def list_choices(request: HttpRequest, chosen: str = "") -> list[ConfigurationChoice]:
    """What the user may read, the draft of the session first; and what is chosen, as long as it exists."""
    offered = [ConfigurationChoice(str(name), title) for name, title in named_configurations().list_choices()]
    if chosen and chosen not in {choice.name for choice in offered} and (title := describe(chosen)):
        # By its usual name alone: what is stored of it is compared with that.
        offered.append(ConfigurationChoice(str(ConfigurationName.parse(chosen)), title))
    current = get_current_name(request)
    readable = [choice for choice in offered if may_read(request, choice.name)]
    return sorted(readable, key=lambda choice: choice.name != current)


def get_current_name(request: HttpRequest) -> str:
    """The draft that the session works in, or live."""
    draft = getattr(request, "ce_draft", None)
    return f"draft:{draft.pk}" if draft else "live"


def describe(name: str) -> str:
    """What a configuration is called; blank for one that does not exist."""
    try:
        return named_configurations().describe(ConfigurationName.parse(name))
    except (LookupError, ValueError):
        return ""


def read_name(text: str) -> ConfigurationName:
    """A configuration by name, which exists. Raises ValueError with a sentence."""
    name = ConfigurationName.parse(text)
    if not describe(text):
        raise ValueError(f"The configuration {text} does not exist, or its draft has ended.")
    return name


def read_name_for(request: HttpRequest, text: str) -> ConfigurationName:
    """Read a name for a user. Raises RightMissing if the user may not read it, and ValueError with a sentence."""
    require_readable(request, str(ConfigurationName.parse(text)))
    return read_name(text)
