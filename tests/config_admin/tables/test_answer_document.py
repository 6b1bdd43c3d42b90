"""Save checks of answer documents."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.turn import rows
from tests.config_admin.validation.shop import codes

RULES = rows.AnswerDocument(document_id=1, title="Rules", content="# Keys\n\nKeys stay here.", sections={})


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({}, []),
        ({"title": " "}, ["FIELD_REQUIRED"]),
        ({"content": " "}, ["FIELD_REQUIRED"]),
        ({"content": "# Keys\n\n## More"}, ["DOCUMENT_EMPTY"]),
        ({"link": "javascript:alert(1)"}, ["ADDRESS_INVALID"]),
        ({"link": "/rules"}, []),
        ({"sections": []}, ["SHAPE_INVALID"]),
        ({"sections": {"Keys": {"off": True, "weight": 2, "askedAs": ["where is my key?"]}}}, []),
        ({"sections": {"Pets": {"off": True}}}, ["SECTION_UNKNOWN"]),
        ({"sections": {"Keys": {"colour": "red"}}}, ["SHAPE_INVALID"]),
        ({"sections": {"Keys": {"off": 1}}}, ["SHAPE_INVALID"]),
        ({"sections": {"Keys": {"weight": True}}}, ["SHAPE_INVALID"]),
        ({"sections": {"Keys": {"askedAs": [1]}}}, ["SHAPE_INVALID"]),
    ],
)
def test_a_document_has_text_and_settings_of_its_own_sections(changes: dict[str, Any], problems: list[str]) -> None:
    assert codes(replace(RULES, **changes)) == problems
