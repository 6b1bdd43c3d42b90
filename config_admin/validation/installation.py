"""What this process has installed, as the save checks ask for it."""

from functools import cache

from config_admin.validation.world import World
from convengine import conf, wiring
from convengine.executors import mcp_server
from convengine.executors.port import BUILT_IN
from convengine.extensions.registry import registry
from convengine.llm import vectors
from convengine.rules.conditions import custom_matchers
from convengine.rules.vocabulary import actions
from convengine.sessions.installed import known
from convengine.tools.request import group_of


def installed() -> World:
    """The world of this deployment: what its modules registered, and what it was given."""
    wiring.load_extensions()
    policy = mcp_server.policy()
    return World(
        tasks={name: tuple(entry.methods) for name, entry in registry.tasks.items()},
        providers=frozenset(registry.providers),
        executors=frozenset(
            {group_of(entry.group) for entry in registry.tools.values()} | registry.tool_groups.keys() | BUILT_IN.keys()
        ),
        tool_handlers=frozenset(registry.tools),
        stdio_commands=policy.commands,
        server_hosts=policy.hosts,
        models=wiring.models().names,
        preferences=cache(lambda: known(None)),
        model_configured=wiring.model().configured,
        semantic_installed=vectors.installed(),
        mappers=frozenset(registry.http_mappers),
        http_connections=frozenset(conf.get("HTTP_CONNECTIONS")),
        tool_databases=frozenset(conf.get("TOOL_DATABASES")),
        unsafe_sql_allowed=conf.get("UNSAFE_SQL_TOOLS"),
        rule_types=frozenset(custom_matchers()),
        rule_actions=frozenset(name for name, action in actions().items() if action.custom),
    )
