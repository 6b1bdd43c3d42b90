"""Save checks of container rows."""

from dataclasses import replace

import pytest

from tests.config_admin.validation.shop import CONTAINER, SCHEMA, codes, list_messages


@pytest.mark.parametrize("name", ["", "a b", "é", "x" * 121])
def test_the_param_name_has_a_shape(name: str) -> None:
    assert list_messages(replace(CONTAINER, input_param_name=name)) == [
        ("PARAM_NAME", "Use only letters, digits, underscores, dots and hyphens.")
    ]


def test_a_provider_is_registered_for_the_address() -> None:
    assert list_messages(replace(CONTAINER, page_id=2)) == [
        (
            "PROVIDER_UNKNOWN",
            "No data provider is registered for page 2, section 10, container 100. Registered: 1/10/100.",
        )
    ]
    assert list_messages(CONTAINER, providers=frozenset())[0][1].endswith("Registered: none.")


def test_a_param_that_is_no_field_of_the_schema_gets_the_users_text() -> None:
    fields = replace(SCHEMA, schema_id=9, intent_code="FAQ")
    assert list_messages(CONTAINER, fields) == [
        (
            "PARAM_NOT_IN_SCHEMA",
            "faq is not a field of this intent's form. The user's message is sent instead.",
        )
    ]
    assert codes(replace(CONTAINER, input_param_name="orderNumber"), fields) == []


def test_two_rows_of_one_scope_write_the_same_key() -> None:
    other = replace(CONTAINER, id=2, container_id=100, section_id=10, page_id=1, priority=5)
    assert list_messages(replace(CONTAINER, id=3, container_id=200), other, providers=frozenset({(1, 10, 200)})) == [
        ("DUPLICATE", "Row 1 writes the same key. The later one overwrites the value.")
    ]
    assert codes(replace(CONTAINER, id=2, state_code="ANY")) == []
