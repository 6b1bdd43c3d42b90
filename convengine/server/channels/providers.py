"""The kinds of channels of this deployment, and the secrets of a channel."""

from collections.abc import Mapping

from convengine.engine.tools.fault import ToolFault
from convengine.server.channels.contract import Provider
from convengine.server.channels.models import CeChannel
from convengine.server.deployment import conf
from convengine.server.extensions.registry import registry
from convengine.server.wiring import load_extensions


def list_providers() -> dict[str, Provider]:
    """The kinds of channels by name: `CHANNEL_PROVIDERS` of the settings, and those of `register_channel`."""
    load_extensions()
    kinds: list[type[Provider]] = [*conf.load_all("CHANNEL_PROVIDERS"), *registry.channels]
    return {kind.name: kind() for kind in kinds}


def list_used_providers() -> list[Provider]:
    """List the kinds that have channels, in the order of `list_providers`."""
    used = set(CeChannel.objects.values_list("provider", flat=True))
    return [provider for name, provider in list_providers().items() if name in used]


def find_provider(channel: CeChannel) -> Provider:
    """The kind of a channel. Raises ToolFault for one that this deployment does not have."""
    provider = list_providers().get(channel.provider)
    if provider is None:
        remedy = "An operator can add it to CHANNEL_PROVIDERS."
        raise ToolFault("PROVIDER_UNKNOWN", f"This installation has no provider {channel.provider}. {remedy}")
    return provider


def read_secrets(channel: CeChannel) -> Mapping[str, str]:
    """The secrets of a channel. Raises ToolFault for one that the deployment does not have, or has without a value."""
    known = conf.get("CHANNEL_SECRETS")
    variables = {name: channel.secrets.get(name, "…") for name in find_provider(channel).secrets}
    for name, variable in variables.items():
        if not known.get(variable):
            remedy = f"An operator must set CE_CHANNEL_SECRET_{variable}."
            raise ToolFault("SECRET_MISSING", f"The secret {variable} ({name}) is missing. {remedy}")
    return {name: str(known[variable]) for name, variable in variables.items()}
