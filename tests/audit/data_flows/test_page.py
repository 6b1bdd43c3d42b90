"""The page of kept and sent data: it says what is configured, and what an ability adds later is on it."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from audit.data_flows.destinations import list_outlets
from audit.data_flows.page import list_limited_data, list_retentions, list_unlimited_data, map_table_titles
from audit.models import CeAlertRule
from audit.search import text_index
from config_admin.manual import prose
from config_admin.models import CeConfig, CeMcpHttpTool, CeMcpServer, CeMcpTool
from convengine.engine.turn.live_settings import CATALOGUE
from convengine.server import wiring
from convengine.server.admin_site import layout
from convengine.server.channels.models import CeChannel
from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import configuration
from convengine.server.webhooks.models import CeWebhook
from tests.sign_in import sign_in_superuser

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
PAGE = "/admin/audit/ceaccesslog/data/"
#: What opens connections, by the beginnings of what modules import.
SENDERS = re.compile(
    r"httpx2|httpcore2|openai|mcp\b|redis|celery|kombu|smtplib|subprocess|socket|psycopg|opentelemetry|urllib\.request"
    r"|http\.client|requests|urllib3|allauth\.socialaccount"
    r"|django\.core\.mail|convengine\.server\.outgoing\.(loop|transport)|convengine\.server\.deployment\.redis_client"
)
#: Modules that open connections for those of an outlet, or only to this machine, or on a person's command line.
NO_OUTLETS = (
    "convengine.server.outgoing", "convengine.server.startup", "convengine.server.deployment.folders",
    "convengine.server.deployment.supervisor", "convengine.server.probes", "convengine.server.turns.acquire",
    "convengine.server.mcp_server", "convengine.files.apart", "convengine.cli", "convengine.client",
    "config_admin.commands",
)  # fmt: skip

#: Jobs that remove only what a person asked them to.
REMOVE_ON_REQUEST = {"finish_erasing"}


def read_page() -> str:
    text: str = sign_in_superuser().get(PAGE).content.decode()
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", text))


def configure(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something of everything."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:hidden@traces.example:4318/hidden")
    settings.CONVENGINE = {
        **settings.CONVENGINE,
        "MODELS": {"main": {"base_url": "https://models.example/v1", "api_key": "hidden", "models": ["small"]}},
        "HTTP_CONNECTIONS": {"orders": {"base_url": "https://orders.example/v1", "hosts": ["stock.example"]}},
        "TOOL_DATABASES": {"shop": "postgresql://reader:hidden@shop.example:5433/shop"},
        "BROKER_URL": "redis://:hidden@broker.example:6379/0",
        "NOTIFICATION_RECIPIENTS": ["@desk.example"],
        "ANCHOR_FILE": "/mnt/elsewhere/heads.anchor",
        "METRICS_TOKEN": "hidden",
    }
    monkeypatch.setattr(wiring, "models", wiring.models.__wrapped__)
    tool = CeMcpTool.objects.create(tool_code="orders.find", tool_group="HTTP_API", intent_code="ANY", state_code="ANY")
    CeMcpHttpTool.objects.create(tool=tool, connection_name="orders", method="GET", url_template="/orders")
    CeMcpServer.objects.create(name="files", transport="HTTP", url="https://mcp.example/hidden", enabled=False)
    CeWebhook.objects.create(name="crm", url="https://crm.example/hidden", events=[], secret="hidden")
    CeChannel.objects.create(name="shop", provider="telegram", is_enabled=False)
    rule = CeAlertRule.objects.create(title="Errors", measure="errors", bound=1, addresses=["on-call@desk.example"])
    rule.users.add(User.objects.create_user("ben"))


def test_without_configuration_only_three_outlets_have_destinations() -> None:
    snapshot = configuration().current()
    used = {outlet.title for outlet in list_outlets(snapshot) if outlet.destinations}

    assert used == {"E-mail", "Import of documents", "Database"}
    assert read_page().count("Nowhere") == len(list(list_outlets(snapshot))) - len(used)


def test_every_destination_is_named_without_its_secrets(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(settings, monkeypatch)
    text = read_page()

    for expected in (
        *("small: models.example ", "orders, 1 tool: orders.example, stock.example ", "shop: shop.example:5433 "),
        *("files: mcp.example (off)", "crm: crm.example ", "shop: api.telegram.org (off)"),
        *("Errors: ben, on-call@desk.example ", "for tools: @desk.example ", "broker: broker.example:6379 "),
        *("OTEL_EXPORTER_OTLP_ENDPOINT: traces.example:4318 ", "/metrics: readers with the token"),
        "file: /mnt/elsewhere/heads.anchor ",
    ):
        assert re.sub(r":? +", " ", expected).strip() in re.sub(r":? +", " ", text), expected
    assert "hidden" not in text


def test_the_number_of_queries_does_not_grow(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(settings, monkeypatch)
    client = sign_in_superuser()

    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(PAGE)
        assert not [each["sql"] for each in queries if "COUNT(" in each["sql"].upper()]
        return len(queries)

    client.get(PAGE)
    few = count_queries()
    for number in range(20):
        CeWebhook.objects.create(name=f"w{number}", url="https://a.example", events=[], secret="x")
        CeChannel.objects.create(name=f"c{number}", provider="telegram")
        rule = CeAlertRule.objects.create(title=f"Rule {number}", measure="errors", bound=1)
        rule.users.add(User.objects.create_user(f"user{number}"))
    assert count_queries() == few


def test_retention_is_that_of_the_settings_in_force(settings: Any) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key="RETENTION_DAYS", config_value="365")
    settings.CONVENGINE = {**settings.CONVENGINE, "IDEMPOTENCY_HOURS": 5}
    limited = {
        (rule.time, rule.setting): names for rule, names in list_limited_data(configuration().current(), "/settings/")
    }

    turns = limited["365 days", "Retention of turns (days)"]
    assert {"Conversations", "Turns", "Memory", "Webhook deliveries", "Turns: events and recordings"} <= set(turns)
    assert limited["5 hours", "CE_IDEMPOTENCY_HOURS"] == ["Stored answers", "Queued messages"]
    assert limited["no limit", "Retention of the access log (days)"] == ["Access log"]
    kept = {name for _, names in list_unlimited_data() for name in names}
    assert {"Users", "Rules", "Releases", "history of changed rows", "API keys"} <= kept
    assert not kept & {"Turns", "Access log", "Stored answers"}


def test_every_table_of_the_database_is_on_the_page() -> None:
    limited = {name for _, names in list_limited_data(configuration().current(), "") for name in names}
    shown = limited | {name for _, names in list_unlimited_data() for name in names}
    titles = {model: title for model, (_, title) in map_table_titles().items()}

    assert set(titles) == {model for model in apps.get_models() if model._meta.managed}
    assert set(titles.values()) <= shown


def test_every_setting_of_a_retention_is_used_by_a_job() -> None:
    settings = {name for name, setting in CATALOGUE.items() if name[1].endswith("RETENTION_DAYS")}
    used = {(each.period.type.upper(), each.period.key) for each in list_retentions() if hasattr(each.period, "key")}

    assert used == settings


def test_every_job_that_removes_data_declares_it() -> None:
    removing = re.compile(r"\.delete\(|\.purge\(|remove_in_batches\(|\b_remove_\w+\(")
    jobs = [(job, inspect.getmodule(job.work)) for job in conf.load_all("JOBS")]
    telling = {module for job, module in jobs if job.removes}
    silent = {job.name for job, module in jobs if module not in telling and removing.search(inspect.getsource(module))}

    assert silent == REMOVE_ON_REQUEST


@pytest.mark.parametrize("job", [job for job in conf.load_all("JOBS") if job.removes], ids=lambda job: job.name)
def test_a_job_queries_the_tables_that_it_declares(job: Any) -> None:
    for setting in CATALOGUE.values():
        if setting.key.endswith("RETENTION_DAYS"):
            CeConfig.objects.create(config_type=setting.type, config_key=setting.key, config_value="1")
    with CaptureQueriesContext(connection) as queries:
        list(job.work())
    statements = " ".join(each["sql"] for each in queries)

    if job.name == "turn_words" and not text_index.is_available():
        assert statements == ""
        return
    named = {apps.get_model(label)._meta.db_table for each in job.removes for label in each.tables}
    assert {table for table in named if not re.search(rf"\b{table}\b", statements)} == set()


def list_modules() -> Iterator[tuple[str, str]]:
    for app in ("convengine", "config_admin", "audit"):
        for path in (ROOT / app).rglob("*.py"):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts), path.read_text("utf-8")


def list_imports(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_every_module_that_opens_connections_belongs_to_an_outlet() -> None:
    modules = [module for outlet in list_outlets(configuration().current()) for module in outlet.modules]
    senders = {name for name, source in list_modules() if any(map(SENDERS.match, list_imports(source)))}

    assert [name for name in sorted(senders) if not name.startswith((*modules, *NO_OUTLETS))] == []
    assert [each for each in (*modules, *NO_OUTLETS) if not any(name.startswith(each) for name in senders)] == []


def test_every_outlet_leads_to_its_switch() -> None:
    titles = {entry.title for section in layout.list_sections() for entry in section.entries}
    chapters = {chapter.slug for _, listed in prose.contents() for chapter in listed}

    for outlet in list_outlets(configuration().current()):
        assert outlet.chapter in chapters
        assert outlet.page in {*titles, ""}
        assert outlet.page or outlet.variables


def test_users_who_may_not_see_the_access_log_may_not_see_the_page(client: Client) -> None:
    client.force_login(User.objects.create_user("ben", is_staff=True))

    assert client.get(PAGE).status_code == 403
