"""The workspaces of the deployment: those of its API keys, by which every conversation gets its own."""

from convengine.server.api.models import CeApiKey

DEFAULT = "default"


def list_workspaces() -> list[str]:
    """The names of the deployment's workspaces in order, with the default one always; one query."""
    return sorted({DEFAULT, *CeApiKey.objects.order_by().values_list("workspace_id", flat=True).distinct()})
