"""The configurations that a page or a command can test."""

from typing import Any, NamedTuple

from django.apps import apps
from django.http import HttpRequest

from convengine.server.admin_site.missing_rights import require_right
from convengine.server.app_interfaces import ConfigurationName, named_configurations

#: How many drafts a page offers.
_OFFERED = 50
#: The right to read a kind of configuration; live needs none.
_READ_RIGHTS = {"draft": "config_admin.view_cedraft", "release": "config_admin.view_cerelease"}


class Choice(NamedTuple):
    """A configuration to choose."""

    name: str
    title: str


def list_choices(request: HttpRequest) -> list[Choice]:
    """What is live, and the open drafts; the draft of the session first."""
    user: Any = request.user
    choices = [Choice("live", "Live")]
    if user.has_perm(_READ_RIGHTS["draft"]):
        drafts = apps.get_model("config_admin", "CeDraft").objects.filter(status="OPEN").order_by("title")[:_OFFERED]
        choices += [Choice(f"draft:{draft.pk}", f"Draft: {draft.title}") for draft in drafts]
    current = get_current_name(request)
    return sorted(choices, key=lambda choice: choice.name != current)


def get_current_name(request: HttpRequest) -> str:
    """The draft that the session works in, or live."""
    draft = getattr(request, "ce_draft", None)
    return f"draft:{draft.pk}" if draft else "live"


def read_name(text: str) -> ConfigurationName:
    """A configuration by name, which exists. Raises ValueError with a sentence."""
    name = ConfigurationName.parse(text)
    try:
        named_configurations().describe(name)
    except LookupError:
        raise ValueError(f"The configuration {text} does not exist, or its draft has ended.") from None
    return name


def read_name_for(request: HttpRequest, text: str) -> ConfigurationName:
    """The same for a user, who may read this configuration. Raises RightMissing, and ValueError with a sentence."""
    if right := _READ_RIGHTS.get(ConfigurationName.parse(text).kind):
        require_right(request, right)
    return read_name(text)
