"""What this process has installed, for the save checks."""

from functools import cache

from config_admin.validation.world import World
from convengine.engine.rules.conditions.rule import custom_matchers
from convengine.engine.rules.vocabulary import list_actions
from convengine.engine.turn.enums import resolve_group
from convengine.server import wiring
from convengine.server.deployment import conf
from convengine.server.executors.port import BUILT_IN
from convengine.server.extensions.registry import registry
from convengine.server.interfaces.turn_reports import turn_reports
from convengine.server.mcp_client.servers import read_policy
from convengine.server.threads.known_preferences import list_known_preferences

#: How many turns with gaps in their answers are read.
_GAPS_READ = 100


def describe_installation() -> World:
    """The installation: what modules registered, and what is configured."""
    wiring.load_extensions()
    policy = read_policy()
    return World(
        tasks={name: tuple(entry.methods) for name, entry in registry.tasks.items()},
        providers=frozenset(registry.providers),
        executors=frozenset(
            {resolve_group(entry.group) for entry in registry.tools.values()}
            | registry.tool_groups.keys()
            | BUILT_IN.keys()
        ),
        tool_handlers=frozenset(registry.tools),
        stdio_commands=policy.commands,
        server_hosts=policy.hosts,
        models=wiring.models().names,
        embedding_models=wiring.models().all_names,
        preferences=cache(lambda: list_known_preferences(None)),
        empty_values=lambda: turn_reports().list_empty_values(_GAPS_READ),
        model_configured=wiring.model().configured,
        finders=frozenset(registry.finders),
        mappers=frozenset(registry.http_mappers),
        http_connections=frozenset(conf.get("HTTP_CONNECTIONS")),
        tool_databases=frozenset(conf.get("TOOL_DATABASES")),
        unsafe_sql_allowed=conf.get("UNSAFE_SQL_TOOLS"),
        is_deployed=conf.get("IS_DEPLOYED"),
        rule_types=frozenset(custom_matchers()),
        rule_actions=frozenset(name for name, action in list_actions().items() if action.custom),
    )
