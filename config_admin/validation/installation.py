"""What this process has installed, as the save checks ask for it."""

from config_admin.validation.world import World
from convengine import wiring
from convengine.executors import mcp_server
from convengine.extensions.registry import registry
from convengine.rules.conditions import custom_matchers
from convengine.rules.vocabulary import actions
from convengine.tools.request import group_of


def installed() -> World:
    """The world of this deployment: what its extension modules registered."""
    wiring.load_extensions()
    policy = mcp_server.policy()
    return World(
        tasks={name: tuple(entry.methods) for name, entry in registry.tasks.items()},
        providers=frozenset(registry.providers),
        executors=frozenset(group_of(entry.group) for entry in registry.tools.values()),
        tool_handlers=frozenset(registry.tools),
        stdio_commands=policy.commands,
        server_hosts=policy.hosts,
        models=wiring.models().names,
        model_configured=wiring.model().configured,
        rule_types=frozenset(custom_matchers()),
        rule_actions=frozenset(name for name, action in actions().items() if action.custom),
    )
