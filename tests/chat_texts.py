"""The texts of the web chat, read from its script."""

import json
import re
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "static/convengine/chat.js"


def read_texts() -> dict[str, dict[str, str]]:
    """Each text by language and name."""
    blocks = re.findall(r"^ {8}([a-z]{2}): \{$(.*?)^ {8}\}", SCRIPT.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return {
        language: {name: json.loads(text) for name, text in re.findall(r'^ {12}(\w+): (".*"),$', block, re.MULTILINE)}
        for language, block in blocks
    }
