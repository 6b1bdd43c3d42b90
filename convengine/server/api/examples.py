"""An example of each call, as a small help desk answers. `examples.json` has them."""

import json
from pathlib import Path
from typing import Any

_DOCUMENT = json.loads(Path(__file__).with_suffix(".json").read_text())
#: By operation: `response`, with its media `type` if that is not JSON, and `request` if it has a body.
EXAMPLES: dict[str, dict[str, Any]] = _DOCUMENT["operations"]
#: Of parameters in addresses.
PARAMETERS: dict[str, Any] = _DOCUMENT["parameters"]
