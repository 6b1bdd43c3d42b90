"""Live settings of a test's server."""

from config_admin.models import CeConfig


def configure(name: str, value: object) -> None:
    """Set `TYPE/KEY` by a row."""
    kind, key = name.split("/")
    CeConfig.objects.create(config_type=kind, config_key=key, config_value=str(value))
