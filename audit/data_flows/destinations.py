"""The outlets by which data leaves the machine, with the modules that send it and the configured destinations."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from audit.models import CeAlertRule
from convengine.engine.rules.conditions.time_points import describe_count
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.server import wiring
from convengine.server.channels.models import CeChannel
from convengine.server.channels.providers import list_providers
from convengine.server.deployment import conf
from convengine.server.executors.http_connections import connections
from convengine.server.observability.tracing import ENDPOINTS, is_wanted
from convengine.server.webhooks.models import CeWebhook


class Destination(NamedTuple):
    name: str
    addresses: Sequence[str]
    is_on: bool = True

    @property
    def address_list(self) -> str:
        return ", ".join(filter(None, self.addresses)) or "nobody"


class Outlet(NamedTuple):
    """A way by which data leaves the machine."""

    title: str
    #: What it sends.
    data: str
    #: The prefixes of the modules that send it. A test finds modules that send data and belong to no outlet.
    modules: Sequence[str]
    #: The chapter of the manual, the variables that configure it, and the sidebar page with its rows.
    chapter: str
    variables: Sequence[str]
    page: str
    destinations: Sequence[Destination]


def list_outlets(snapshot: Snapshot) -> Sequence[Outlet]:
    """All outlets, including those without a destination."""
    return *_list_conversation_outlets(snapshot), *_list_operation_outlets()


def _list_conversation_outlets(snapshot: Snapshot) -> Iterator[Outlet]:
    yield Outlet(
        "Models", "Prompts: what users wrote, earlier turns, and data that steps add. Embeddings: messages, phrases.",
        ("convengine.server.model_clients", "convengine.server.phrase_models"), "models", ["CE_LLM_…"], "",
        [Destination(", ".join(each.models), [_read_host(each.base_url)]) for each in wiring.models().all],
    )  # fmt: skip
    tools = [tool.connection_name for tool in snapshot.enabled_rows(rows.HttpTool)]
    yield Outlet(
        "HTTP connections", "What tools, tasks and data sources send, such as values that users gave.",
        ["convengine.server.executors.http_client"], "deployment", ["CE_HTTP_CONNECTIONS"], "HTTP tools",
        [
            Destination(f"{name}, {describe_count(tools.count(name), 'tool')}", [each.base.netloc, *sorted(each.hosts)])
            for name, each in connections(conf.get("HTTP_CONNECTIONS")).items()
        ],
    )  # fmt: skip
    yield Outlet(
        "Databases of tools", "Values in the SQL statements of tools.",
        ["convengine.server.executors.db"], "tools", ["CE_TOOL_DATABASE_URLS"], "Database tools",
        _list_hosts(conf.get("TOOL_DATABASES")),
    )  # fmt: skip
    enabled = snapshot.enabled_rows(rows.McpServer)
    yield Outlet(
        "MCP servers", "Arguments of tool calls.",
        ["convengine.server.mcp_client"], "extending", ["CE_MCP_…"], "MCP servers",
        [
            Destination(each.name, [_read_host(each.url) if each.url else str(each.command)], each in enabled)
            for each in snapshot.rows(rows.McpServer)
        ],
    )  # fmt: skip
    yield Outlet(
        "Webhooks", "The events that the webhook names, masked as in the record.",
        ["convengine.server.webhooks"], "webhooks", [], "Webhooks",
        [Destination(row.name, [_read_host(row.url)], row.is_enabled) for row in CeWebhook.objects.order_by("name")],
    )  # fmt: skip
    hosts, channels = {name: each.hosts for name, each in list_providers().items()}, CeChannel.objects.order_by("name")
    allowed = conf.get("CHANNEL_HOSTS")
    yield Outlet(
        "Channels", "Answers to users, through the provider of the channel.",
        ["convengine.server.channels"], "channels", ["CE_CHANNEL_HOSTS"], "Channels",
        [Destination(row.name, [*hosts.get(row.provider, ()), *allowed], row.is_enabled) for row in channels],
    )  # fmt: skip


def _list_operation_outlets() -> Iterator[Outlet]:
    yield Outlet(
        "Alerts", "Names and numbers of reports; nothing that users wrote.",
        ["audit.alerts"], "reports", ["CE_NOTIFICATION_…"], "Alert rules",
        [
            Destination(rule.title, [*map(str, rule.users.all()), *rule.addresses, rule.webhook], rule.is_enabled)
            for rule in CeAlertRule.objects.prefetch_related("users").order_by("title")
        ],
    )  # fmt: skip
    server, allowed = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}", conf.get("NOTIFICATION_RECIPIENTS")
    yield Outlet(
        "E-mail", "Messages of tools and alerts, and notes about drafts to review.",
        ["convengine.server.executors.notification", "config_admin.drafts.review"], "deployment", ["CE_EMAIL_…"], "",
        [Destination("mail server", [server]), Destination("for tools", allowed)],
    )  # fmt: skip
    yield Outlet(
        "Import of documents", "A request without data, when an analyst enters an address.",
        ["config_admin.tables.fetch_document"], "authoring", ["CE_DOCUMENT_PRIVATE_HOSTS"], "Answer documents",
        [Destination("entered address", ["public hosts", *conf.get("DOCUMENT_PRIVATE_HOSTS")])],
    )  # fmt: skip
    provider = conf.get("SIGN_IN")
    yield Outlet(
        "Sign-in", "Requests for the user who signs in, and for the user's groups. The browser goes there, too.",
        ["convengine.server.sign_in"], "sign_in", ["CE_OIDC_ISSUER", "CE_SAML_METADATA"], "",
        _list_hosts({provider["label"]: provider["metadata"] or provider["issuer"]} if provider.get("issuer") else {}),
    )  # fmt: skip
    traces = {name: os.environ.get(name, "") for name in ENDPOINTS if is_wanted(os.environ)}
    metrics = [Destination("/metrics", ["readers with the token"])] if conf.get("METRICS_TOKEN") else []
    yield Outlet(
        "Monitoring", "Names, times, errors and IDs of turns, steps and calls; nothing that users wrote.",
        ["convengine.server.observability"], "observability", ["OTEL_EXPORTER_OTLP_ENDPOINT", "CE_METRICS_TOKEN"], "",
        [*_list_hosts(traces), *metrics],
    )  # fmt: skip
    yield Outlet(
        "Broker and bus", "Names of jobs, IDs of conversations, and progress texts.",
        ("convengine.server.jobs", "convengine.server.queued", "convengine.server.deployment.redis", "audit.live"),
        "operations", ["CE_BROKER_URL", "CE_BUS_URL"], "Background jobs",
        _list_hosts({"broker": conf.get("BROKER_URL"), "bus": conf.get("BUS_URL")}),
    )  # fmt: skip
    yield Outlet(
        "Database", "All stored data.",
        ["convengine.server.database"], "deployment", ["DATABASE_URL", "CE_REPLICA_URL"], "",
        [Destination(name, [each.get("HOST") or "this machine"]) for name, each in settings.DATABASES.items()],
    )  # fmt: skip
    anchors = {"file": conf.get("ANCHOR_FILE"), "command": conf.get("ANCHOR_COMMAND")}
    yield Outlet(
        "Anchors", "Hashes of the record.",
        ["audit.integrity.ledger"], "trust", ["CE_ANCHOR_FILE", "CE_ANCHOR_COMMAND"], "Ledger",
        [Destination(name, [value]) for name, value in anchors.items() if value],
    )  # fmt: skip
    yield Outlet(
        "Extensions", "Unknown: ask the authors of this code.",
        (), "extending", ["CE_EXTENSIONS"], "",
        [Destination(name, ["unknown"]) for name in (*conf.get("EXTENSIONS"), *conf.get("STEPS"))],
    )  # fmt: skip


def _list_hosts(addresses: dict[str, str]) -> list[Destination]:
    return [Destination(name, [_read_host(address)]) for name, address in addresses.items() if address]


def _read_host(address: str) -> str:
    """The host and the port of a URL. They leave out its path and its login, which may be secret."""
    return urlsplit(address.partition(";")[0]).netloc.rpartition("@")[2] or "this machine"
