"""System checks: problems of the wiring, each with an id and a hint (style 17)."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags
from django.core.checks import register as register_check

from convengine.engine.errors import ConvEngineError, PipelineConstraintViolation
from convengine.server.deployment import conf


def register() -> None:
    """Register the checks; called once, when the app is ready."""
    register_check(check_keys)
    register_check(check_pipeline)
    register_check(check_paths, Tags.compatibility)
    register_check(check_extensions)
    register_check(check_connections)
    register_check(check_models)


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
    for key in ("SNAPSHOT", "RELEASE_HISTORY", "AUDIT_WRITER", "TURN_READER", "ACCESS_LOG", "LIVE_STREAMS"):
        try:
            conf.load(key)
        except ImportError as error:
            problems.append(Error(f"settings.CONVENGINE[{key!r}] cannot be imported: {error}.", id="convengine.E003"))
    return problems


def check_connections(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """The named connections of HTTP tools are valid."""
    from convengine.server.executors.http_connections import ConnectionInvalid, connections

    try:
        connections(conf.get("HTTP_CONNECTIONS"))
    except ConnectionInvalid as error:
        return [Error(str(error), hint="See CE_HTTP_CONNECTIONS in docs/deployment.md.", id="convengine.E006")]
    return []


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
    from convengine.server.model_clients.connections import ConnectionInvalid

    try:
        wiring.models()
    except ConnectionInvalid as error:
        return [Error(str(error), hint="See CE_LLM_… in docs/deployment.md.", id="convengine.E005")]
    return []
