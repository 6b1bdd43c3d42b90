"""The declared events, and the schema that is made from them."""

import json

import pytest
from jsonschema import Draft202012Validator

from convengine.server.deployment.folders import find_shipped
from convengine.server.webhooks.events import EVENTS, build_schema
from tests.test_docs import ROOT


def test_the_shipped_schema_is_made_from_the_declarations() -> None:
    shipped = find_shipped("static") / "convengine/schemas/webhook.schema.json"
    assert json.loads(shipped.read_text()) == build_schema()


@pytest.mark.parametrize("name", EVENTS)
def test_each_example_fits_its_schema_and_the_manual_names_each_member(name: str) -> None:
    event = EVENTS[name]
    schema = build_schema()
    (example,) = schema["$defs"][name]["examples"]
    Draft202012Validator(schema).validate({"type": name, "timestamp": "2026-11-26T09:30:00Z", "data": example})

    manual = (ROOT / "docs/webhooks.md").read_text()
    assert f"| `{name}` |" in manual
    assert [member for member in event.members if f"`{member}`" not in manual] == []
