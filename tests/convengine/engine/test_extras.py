"""Where the package of an extra is missing, an error names the extra and how to install it."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import call_command

from config_admin.contrib.original.reader import read_seed_sql
from convengine.engine import extras
from convengine.engine.turn.ports import LlmRequest
from convengine.engine.understanding.onnx_encoder import OnnxEncoder
from convengine.files.document_text import read_document
from convengine.server import wiring
from convengine.server.executors.sql_guard import Allowed, readable
from convengine.server.jobs.processes import broker
from convengine.server.mcp_client.connection import McpConnection
from convengine.server.model_clients.connections import read_connections
from convengine.server.model_clients.openai_model import OpenAiModel
from convengine.server.sign_in.settings import add_to
from convengine.server.startup.checks import check_models

Told = Callable[[], Any]


def ask_model() -> str | None:
    return make_model().complete(LlmRequest("RESPONSE_TEXT", "Be kind.", "Hello?", model="small")).error_message


def make_model() -> OpenAiModel:
    model = OpenAiModel(read_connections({"desk": {"base_url": "http://127.0.0.1:1", "models": ["small"]}}))
    # The server starts; the check below says why its turns have no model.
    model.load()
    return model


async def connect_server() -> None:
    target: Any = None
    await McpConnection(target).open(1)


def ask_for_second_factors() -> None:
    with patch.dict(os.environ, {"CE_SECOND_FACTOR": "allowed"}):
        add_to({})


def ask_for_saml() -> None:
    with patch.dict(os.environ, {"CE_SAML_ENTITY_ID": "provider", "CE_SAML_METADATA": "/provider.xml"}):
        add_to({})


#: Everything of the product that needs an extra: it raises an error, or gives its message.
SEAMS: list[tuple[str, Told]] = [
    ("openai", ask_model),
    ("mcp", lambda: asyncio.run(connect_server())),
    ("mcp", lambda: call_command("mcp_serve")),
    ("sql", lambda: readable.__wrapped__("SELECT 1 AS a", "POSTGRES", Allowed())),
    ("sql", lambda: read_seed_sql("x.sql", "INSERT INTO ce_intent (intent_code) VALUES ('A');")),
    ("embedded", broker),
    ("onnx", lambda: OnnxEncoder(Path("/nowhere"))),
    ("sign-in", ask_for_second_factors),
    ("saml", ask_for_saml),
    ("documents", lambda: read_document("rules.pdf", b"%PDF-1.7")),
]


@pytest.mark.parametrize(("extra", "tell"), SEAMS)
def test_each_use_of_a_missing_extra_says_how_to_install_it(
    extra: str, tell: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    said = f"The extra `{extra}` is not installed."
    try:
        assert said in tell()
    except ImportError:
        raise
    except Exception as error:
        assert said in str(error)  # noqa: PT017


def test_a_configured_model_without_its_extra_is_found_before_the_server_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wiring, "model", make_model)
    assert check_models(None) == []

    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    (problem,) = check_models(None)

    assert (problem.id, "pip install 'convengine[openai]'" in problem.msg) == ("convengine.E010", True)


def test_every_extra_has_a_seam() -> None:
    assert {extra for extra, _ in SEAMS} == set(extras.MODULES)
