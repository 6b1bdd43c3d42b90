"""The server as a Django app. It registers checks and does nothing else at import."""

import gc
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig, apps
from django.core.exceptions import ImproperlyConfigured

if TYPE_CHECKING:
    from convengine.engine.understanding.encoder import Vector


class ConvEngineConfig(AppConfig):
    name = "convengine.server"
    default_auto_field = "django.db.models.BigAutoField"
    label = "convengine"
    verbose_name = "ConvEngine"

    def __init__(self, *args: Any) -> None:
        """Raises ImproperlyConfigured when the project uses the name of one of our apps. Later, Django says less."""
        super().__init__(*args)
        for name in ("config_admin", "audit"):
            _check_app_name(name)

    def ready(self) -> None:
        """Register what checks, cleans and embeds, find the log, and collect garbage: nearly everything is imported."""
        from django.db.backends.signals import connection_created

        from convengine.engine.understanding.phrases.encoders import use_service
        from convengine.server.database.storable_values import clean_statements
        from convengine.server.deployment.logs import use_project_logging
        from convengine.server.startup import checks

        checks.register()
        connection_created.connect(clean_statements)
        use_service(_embed)
        use_project_logging()
        if not gc.isenabled():  # by `convengine.cli` or `convengine.wsgi`; other entry points keep their ways
            gc.freeze()
            gc.enable()


def _embed(name: str, texts: Sequence[str]) -> Sequence["Vector"]:
    # What a process is built from takes long to import, and most processes ask no model.
    from convengine.server import wiring

    return wiring.embed(name, texts)


def _check_app_name(name: str) -> None:
    found_at = (find_spec(name) or find_spec(__name__)).origin  # type: ignore[union-attr]
    if Path(str(found_at)).parent.parent != Path(__file__).parents[2]:
        raise ImproperlyConfigured(
            f"The package {name!r} of ConvEngine is hidden by {found_at}. Rename the package of your project, for "
            f"example to 'shop_{name}'."
        )
    if (taken := apps.app_configs.get(name)) and taken.name != name:
        raise ImproperlyConfigured(
            f"The app {taken.name!r} has the label {name!r}, which an app of ConvEngine has, too. Give yours another "
            f'one: `label = "shop_{name}"` in its AppConfig, and name that class in INSTALLED_APPS.'
        )
