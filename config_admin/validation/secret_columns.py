"""Secrets in rows: no save check lets them in, but SQL, scripts and older versions may have stored them.

Pages, and what leaves the installation, show `***` in their place.
"""

from collections.abc import Mapping

from config_admin.validation.common import is_secret
from convengine.engine.turn import rows
from convengine.json_value import Json
from convengine.server.deployment.secrets import MASK

#: The columns that may hold secrets, by table.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    rows.HttpTool.table: ("url_template", "headers_json", "query_json", "body_template"),
    rows.McpServer.table: ("url", "headers_json", "command", "env_json", "args_json"),
}


def mask_row(table: str, row: Mapping[str, Json]) -> dict[str, Json]:
    return {name: mask_value(table, name, value) for name, value in row.items()}


def mask_value(table: str, name: str, value: Json) -> Json:
    return _mask(name, value) if name in COLUMNS.get(table, ()) else value


def _mask(name: str, value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _mask(str(key), item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mask("", item) for item in value]
    return MASK if is_secret(name, value) else value
