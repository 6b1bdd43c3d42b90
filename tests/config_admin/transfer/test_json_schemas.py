"""Editors complete and check bundles, forms and scenario files by schemas that follow from the declarations."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from jsonschema import Draft202012Validator

from config_admin.transfer.bundle import SCHEMA
from config_admin.transfer.files import YAML, export_configuration
from config_admin.transfer.json_schemas import build_schemas, write_schema
from convengine.engine.forms.extension_keys import FIELD_KEYS, FORM_KEYS
from tests.config_admin.transfer.test_apply_import import HAND_WRITTEN

ROOT = Path(settings.BASE_DIR)
SCHEMAS = build_schemas()


def problems(name: str, document: Any) -> list[str]:
    errors = Draft202012Validator(SCHEMAS[f"{name}.schema.json"]).iter_errors(document)
    return [f"{error.json_path}: {error.message}" for error in errors]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_installation_serves_the_schemas(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    file = finders.find(f"convengine/schemas/{name}")
    mend = "run convengine manage config_schemas static/convengine/schemas"
    assert file, mend
    assert Path(file).read_text() == write_schema(SCHEMAS[name]), f"{name} is out of date: {mend}"


def test_the_command_writes_what_exports_name(tmp_path: Path) -> None:
    call_command("config_schemas", tmp_path / "schemas")
    assert json.loads((tmp_path / SCHEMA).read_text()) == SCHEMAS["bundle.schema.json"]


@pytest.mark.usefixtures("bank")
def test_exports_fit_the_schema_and_name_it() -> None:
    text = export_configuration(form=YAML).decode()
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA}\n$schema: {SCHEMA}\n")
    assert problems("bundle", yaml.safe_load(text)) == []


def test_a_bundle_that_was_written_by_hand_fits() -> None:
    document = yaml.safe_load(HAND_WRITTEN)
    assert problems("bundle", document) == []
    assert problems("bundle", document["tables"]) == []


@pytest.mark.parametrize(
    ("table", "row", "problem"),
    [
        ("ce_rules", {}, "'ce_rules' was unexpected"),
        ("ce_policy", {"patern": "x"}, "'patern' was unexpected"),
        ("ce_policy", {"rule_type": "CONTAINS", "response_text": "x"}, "'pattern' is a required property"),
        ("ce_policy", {"rule_type": "MAYBE"}, "'MAYBE' is not one of"),
        ("ce_policy", {"priority": -1}, "-1 is less than the minimum of 0"),
        ("ce_intent", {"intent_code": "a b"}, "does not match"),
        ("ce_output_schema", {"json_schema": {"type": "object"}}, "'properties' is a required property"),
        (
            "ce_output_schema",
            {"json_schema": {"type": "object", "properties": {"a": {"x-asks": "Which?"}}}},
            "properties.a: False schema does not allow 'Which?'",
        ),
        ("ce_output_schema", {"json_schema": {"type": "object", "properties": {}, "x-on-no": "STOP"}}, "'STOP'"),
    ],
)
def test_mistakes_are_found(table: str, row: dict[str, Any], problem: str) -> None:
    found = problems("bundle", {table: [row]})
    assert any(problem in each for each in found), found


@pytest.mark.parametrize("file", sorted((ROOT / "tests/scenarios").rglob("*.yaml"))[:60], ids=lambda file: file.stem)
def test_scenario_files_fit(file: Path) -> None:
    assert problems("scenario", yaml.safe_load(file.read_text())) == []


def test_every_key_of_forms_that_the_engine_reads_is_declared() -> None:
    read = {
        key
        for file in (ROOT / "convengine/engine").rglob("*.py")
        for key in re.findall(r'"(x-[a-z-]+)"', file.read_text())
    }
    assert read == FORM_KEYS.keys() | FIELD_KEYS.keys()
