"""System checks: problems of the wiring, each with an id and a hint (style 17)."""

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning
from django.core.checks import register as register_check
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from convengine.engine.errors import ConvEngineError, PipelineConstraintViolation
from convengine.engine.extras import describe_missing
from convengine.server.deployment import conf, environment
from convengine.server.deployment.exact_command import SETTINGS
from convengine.server.deployment.folders import is_own_module, name_chapter

_OTHER_DATABASE = (
    "Export the configuration with the version that made the database (convengine export). Then migrate an empty "
    "database with this version, and import the file (convengine import)."
)


def register() -> None:
    """Register the checks; called once, when the app is ready."""
    register_check(check_keys, SETTINGS)
    register_check(check_pipeline)
    register_check(check_paths, Tags.compatibility)
    register_check(check_extensions, SETTINGS)
    register_check(check_connections, SETTINGS)
    register_check(check_models)
    register_check(check_migrations, Tags.database)
    register_check(check_variables, SETTINGS)
    register_check(check_project, SETTINGS)


def check_keys(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Every key of settings.CONVENGINE is read by something."""
    known = ", ".join(sorted(conf.DEFAULTS))
    return [
        Error(f"settings.CONVENGINE has an unknown key {key}.", hint=f"Known: {known}.", id="convengine.E001")
        for key in conf.unknown_keys()
    ]


def check_pipeline(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """An order of the steps exists that fulfils what they declare."""
    from convengine.server import wiring

    try:
        wiring.steps()
    except PipelineConstraintViolation as error:
        return [Error(f"{error.code}: {error.message}", hint="See pipeline/order.py.", id="convengine.E002")]
    return []


def check_paths(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Every dotted path of the settings can be imported."""
    problems: list[CheckMessage] = []
    interfaces = (
        *("SNAPSHOT", "NAMED_CONFIGURATIONS", "RELEASE_HISTORY", "CONFIGURATION_FILES", "AUDIT_WRITER", "TURN_READER"),
        *("TURN_REPORTS", "INBOX", "ACCESS_LOG", "LIVE_STREAMS", "SIMULATOR", "WHAT_IF", "STORED_TESTS"),
        *("SEALED_STATES", "ALERT_RULES"),
    )
    for key in interfaces:
        try:
            conf.load(key)
        except ImportError as error:
            problems.append(Error(f"settings.CONVENGINE[{key!r}] cannot be imported: {error}.", id="convengine.E003"))
    return problems


def check_connections(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """The named connections of HTTP tools are valid."""
    from convengine.server.executors.http_connections import HttpConnectionInvalid, connections

    try:
        connections(conf.get("HTTP_CONNECTIONS"))
    except HttpConnectionInvalid as error:
        return [
            Error(str(error), hint=f"See CE_HTTP_CONNECTIONS in {name_chapter('deployment')}.", id="convengine.E006")
        ]
    return []


def check_variables(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Every `CE_…` variable of the environment is read by something."""
    hint = f"All variables are in {name_chapter('deployment')}."
    return [Warning(sentence, hint=hint, id="convengine.W001") for sentence in environment.describe_misspelt()]


def check_project(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """The settings of the Django project allow turns to own their transactions and times."""
    problems: list[CheckMessage] = []
    database = settings.DATABASES["default"]
    if not settings.USE_TZ:
        problems.append(Error("USE_TZ must be True.", hint="Times are stored in UTC.", id="convengine.E008"))
    if database.get("ATOMIC_REQUESTS"):
        problems.append(
            Error(
                "ATOMIC_REQUESTS must be off for the default database.",
                hint="A transaction per request would roll back the record of a failed turn.",
                id="convengine.E009",
            )
        )
    if database["ENGINE"].endswith("sqlite3") and database.get("OPTIONS", {}).get("transaction_mode") != "IMMEDIATE":
        problems.append(
            Warning(
                "SQLite loses turns that come at the same time.",
                hint="Set OPTIONS = {'transaction_mode': 'IMMEDIATE'} of the database, or use PostgreSQL.",
                id="convengine.W002",
            )
        )
    return problems


def check_extensions(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """The deployment's extensions can be registered: names are free, classes have their methods."""
    from convengine.server import wiring

    try:
        wiring.load_extensions()
    except Exception as error:
        # Report any error of the deployment's modules here instead of in the first turn.
        code = f"{error.code}: " if isinstance(error, ConvEngineError) else ""
        hint = "See settings.CONVENGINE['EXTENSIONS'] (CE_EXTENSIONS)."
        return [Error(f"{code}{str(error) or type(error).__name__}", hint=hint, id="convengine.E004")]
    return []


def check_models(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """The connections to models are valid, as far as one can tell without calling them."""
    from convengine.server import wiring
    from convengine.server.model_clients.connections import ModelConnectionInvalid
    from convengine.server.model_clients.openai_model import OpenAiModel

    hint = f"See CE_LLM_… in {name_chapter('deployment')}."
    try:
        wiring.models()
    except ModelConnectionInvalid as error:
        return [Error(str(error), hint=hint, id="convengine.E005")]
    missing = describe_missing("openai") if isinstance(wiring.model(), OpenAiModel) else ""
    return [Error(f"A model is configured. {missing}", hint=hint, id="convengine.E010")] if missing else []


def check_migrations(app_configs: Any, databases: Sequence[str] | None = None, **kwargs: Any) -> Sequence[CheckMessage]:
    """The database has no migrations of ours that this version does not know. `migrate` checks it before anything else.

    Other apps may have squashed or removed theirs.
    """
    problems: list[CheckMessage] = []
    ours = {config.label for config in apps.get_app_configs() if is_own_module(config.name)}
    for alias in databases or ():
        loader = MigrationLoader(connections[alias], ignore_no_migrations=True)
        applied = sorted((loader.applied_migrations or {}).keys() - loader.graph.nodes.keys())
        unknown = [f"{app}.{name}" for app, name in applied if app in ours & loader.migrated_apps]
        if unknown:
            text = f"Another version of ConvEngine made this database: {unknown[0]} is not a migration of this version."
            problems.append(Error(text, hint=_OTHER_DATABASE, id="convengine.E007"))
    return problems
