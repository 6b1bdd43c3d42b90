"""The kinds of channels of this deployment, and the secrets of a channel."""

import re
from collections.abc import Mapping

from convengine.engine.tools.fault import ToolFault
from convengine.server.channels.contract import Provider
from convengine.server.channels.models import CeChannel
from convengine.server.deployment import conf

_REFERENCE = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")


def list_providers() -> dict[str, Provider]:
    """The kinds of channels by name: `CHANNEL_PROVIDERS` of the settings."""
    return {kind.name: kind() for kind in conf.load_all("CHANNEL_PROVIDERS")}


def find_provider(channel: CeChannel) -> Provider:
    """The kind of a channel. Raises ToolFault for one that this deployment does not have."""
    provider = list_providers().get(channel.provider)
    if provider is None:
        raise ToolFault("PROVIDER_UNKNOWN", f"This installation has no channels of the kind {channel.provider}.")
    return provider


def read_secrets(channel: CeChannel) -> Mapping[str, str]:
    """The secrets of a channel. Raises ToolFault for one that the deployment does not have."""
    return {name: _read_secret(name, str(text)) for name, text in channel.secrets.items()}


def _read_secret(name: str, text: str) -> str:
    match, known = _REFERENCE.fullmatch(text.strip()), conf.get("CHANNEL_SECRETS")
    if match is None:
        raise ToolFault("SECRET_UNNAMED", f"{name} is no name of a secret. Write it like ${{SHOP_BOT}}.")
    if match[1] not in known:
        raise ToolFault(
            "SECRET_MISSING", f"{name} names ${{{match[1]}}}: an operator must set CE_CHANNEL_SECRET_{match[1]}."
        )
    return str(known[match[1]])
