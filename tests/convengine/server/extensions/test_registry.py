from typing import Any

import pytest

from convengine.engine.errors import (
    InvalidContainerInterceptor,
    InvalidContainerTransformer,
    InvalidMemoryStore,
    InvalidResponseTransformer,
)
from convengine.server.extensions import registry as module
from convengine.server.extensions.registry import (
    Registry,
    container_interceptor,
    container_transformer,
    memory_store,
    register_finder,
    response_transformer,
    transformer_for,
)


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    fresh = Registry()
    monkeypatch.setattr(module, "registry", fresh)
    return fresh


class Transforms:
    def transform(self, *args: Any) -> Any:
        return args


class Nothing:
    pass


class Store:
    def read(self, session: Any) -> str | None:
        return None

    def write(self, session: Any, summary: str) -> None:
        pass


@pytest.mark.parametrize(
    ("register", "error", "code"),
    [
        (container_interceptor(), InvalidContainerInterceptor, "INVALID_CONTAINER_INTERCEPTOR"),
        (container_transformer("ANY", "ANY"), InvalidContainerTransformer, "INVALID_CONTAINER_TRANSFORMER"),
        (response_transformer("ANY", "ANY"), InvalidResponseTransformer, "INVALID_RESPONSE_TRANSFORMER"),
        (memory_store("notes"), InvalidMemoryStore, "INVALID_MEMORY_STORE"),
    ],
)
def test_a_class_without_the_method_is_refused_at_once(register: Any, error: Any, code: str) -> None:
    with pytest.raises(error, match="Nothing") as refused:
        register(Nothing)

    assert refused.value.code == code


@pytest.mark.parametrize(
    ("register", "error"),
    [
        (container_transformer, InvalidContainerTransformer),
        (response_transformer, InvalidResponseTransformer),
    ],
)
def test_two_transformers_of_one_place_are_refused_at_once(register: Any, error: Any) -> None:
    register("LOAN", "*")(Transforms)

    with pytest.raises(error, match="both registered for LOAN/ANY"):
        register(" loan", "any")(Transforms)


def test_the_stages_of_response_transformers_do_not_meet(registry: Registry) -> None:
    response_transformer("LOAN", "ANY")(Transforms)
    response_transformer("LOAN", "ANY", stage="FINAL")(Transforms)

    assert [len(transformers) for transformers in registry.response_transformers.values()] == [1, 1]
    with pytest.raises(InvalidResponseTransformer, match="LLM or FINAL"):
        response_transformer("LOAN", "ANY", stage="LATER")(Transforms)


def test_a_memory_store_has_a_name_of_its_own(registry: Registry) -> None:
    memory_store("notes")(Store)

    assert list(registry.memory_stores) == ["notes"]
    with pytest.raises(InvalidMemoryStore, match="already"):
        memory_store("notes")(Store)


def test_the_most_specific_transformer_applies(registry: Registry) -> None:
    for intent, state in (("ANY", "ANY"), ("LOAN", "ANY"), ("ANY", "CONFIRM")):
        container_transformer(intent, state)(Transforms)

    transformer = transformer_for(registry.container_transformers, "loan", "confirm")
    assert transformer is not None
    assert (transformer.intent_code, transformer.state_code) == ("LOAN", "ANY")
    assert transformer_for(registry.container_transformers[1:], "FAQ", "IDLE") is None


def test_a_kind_has_one_finder_and_free_text_has_none(registry: Registry) -> None:
    register_finder("Vehicle-Plate", list)

    assert list(registry.finders) == ["vehicle_plate"]
    with pytest.raises(ValueError, match="already registered"):
        register_finder("vehicle_plate", list)
    with pytest.raises(ValueError, match="No finder reads values of the kind 'text'"):
        register_finder("text", list)


def test_a_blank_place_is_refused() -> None:
    with pytest.raises(ValueError, match="blank"):
        container_transformer(" ", "ANY")(Transforms)
