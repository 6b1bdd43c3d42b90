"""Names that templates may use."""

import json

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from convengine.engine.turn.live_settings import CATALOGUE, Setting
from convengine.engine.turn.rows import Config
from tests.cases import for_each
from tests.config_admin.validation.shop import list_messages

_AS_TEXT = ("prompt", "template", "regex", "json", "text")


@for_each("setting", CATALOGUE.values())
def test_every_shipped_text_pattern_and_prompt_would_pass_the_checks_of_a_row(setting: Setting[object]) -> None:
    default = setting.default
    if setting.kind.name not in _AS_TEXT or setting.name == "IntentResolutionStep/STICKY_INTENT":
        return
    text = json.dumps(default) if setting.kind.name == "json" else str(default)
    row = Config(config_id=70, config_type=setting.type, config_key=setting.key, config_value=text)
    assert list_messages(row) == []
