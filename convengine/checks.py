"""System checks: what is wrong with the wiring is said at start-up, with an id and a hint (style 17)."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags
from django.core.checks import register as register_check

from convengine import conf
from convengine.errors import ConvEngineError, PipelineConstraintViolation


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
    """The steps can be put in an order that keeps what they declare (ORD-10)."""
    from convengine import wiring

    try:
        wiring.steps()
    except PipelineConstraintViolation as error:
        return [Error(f"{error.code}: {error.message}", hint="See pipeline/order.py.", id="convengine.E002")]
    return []


def check_paths(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Every dotted path of the settings leads somewhere."""
    found: list[CheckMessage] = []
    for key in ("SNAPSHOT", "AUDIT_WRITER", "REPLAY", "RERUN", "FIRED", "RATED", "LIVE", "STREAMS", "RELEASES"):
        try:
            conf.load(key)
        except ImportError as error:
            found.append(Error(f"settings.CONVENGINE[{key!r}] cannot be imported: {error}.", id="convengine.E003"))
    return found


def check_connections(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """The named connections of HTTP tools can be read."""
    from convengine.executors.http_connections import ConnectionInvalid, connections

    try:
        connections(conf.get("HTTP_CONNECTIONS"))
    except ConnectionInvalid as error:
        return [Error(str(error), hint="See CE_HTTP_CONNECTIONS in docs/deployment.md.", id="convengine.E006")]
    return []


def check_extensions(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """What the deployment registers in code can be registered: names are free, classes have their methods."""
    from convengine import wiring

    try:
        wiring.load_extensions()
    except Exception as error:
        # Whatever goes wrong in a module of the deployment, it is said here instead of on the first turn.
        code = f"{error.code}: " if isinstance(error, ConvEngineError) else ""
        hint = "See settings.CONVENGINE['EXTENSIONS'] (CE_EXTENSIONS)."
        return [Error(f"{code}{str(error) or type(error).__name__}", hint=hint, id="convengine.E004")]
    return []


def check_models(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """The connections to models can be used as far as one can see without asking them."""
    from convengine import wiring
    from convengine.llm.connections import ConnectionInvalid

    try:
        wiring.models()
    except ConnectionInvalid as error:
        return [Error(str(error), hint="See CE_LLM_… in docs/deployment.md.", id="convengine.E005")]
    return []
