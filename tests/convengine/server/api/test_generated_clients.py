"""Clients that others generate from the OpenAPI document compile in strict mode."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from drf_spectacular.generators import SchemaGenerator

pytestmark = pytest.mark.nightly

NODE_PACKAGES = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3")
PYTHON_GENERATOR = "openapi-python-client==0.29.1"
UV = str(Path(sys.executable).parent / "uv")
#: The generator knows no other types of text.
GENERATOR_CONFIG = """
content_type_overrides:
  application/yaml: text/html
  application/x-ndjson: text/html
  text/csv: text/html
  text/event-stream: text/html
  application/vnd.openxmlformats-officedocument.spreadsheetml.sheet: application/octet-stream
"""
USE_TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

const client = createClient<paths>({ baseUrl: "http://localhost", headers: { Authorization: "Bearer key" } });

export async function talk(message: string): Promise<string> {
  const { data, error } = await client.POST("/api/v1/conversation/message", { body: { message } });
  if (error) return `${error.errorCode}: ${error.message}`;
  const answer: components["schemas"]["TurnResponse"] = data;
  return answer.intent;
}
"""
USE_PYTHON = """
from conv_engine_client import AuthenticatedClient
from conv_engine_client.api.turns import create_turn
from conv_engine_client.models import Failure, TurnRequest, TurnResponse


def talk(message: str) -> str:
    client = AuthenticatedClient(base_url="http://localhost", token="key")
    answer = create_turn.sync(client=client, body=TurnRequest(message=message))
    if isinstance(answer, Failure):
        return f"{answer.error_code}: {answer.message}"
    return answer.intent if isinstance(answer, TurnResponse) else ""
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(SchemaGenerator().get_schema(request=None, public=True), default=str))
    return path


def run(folder: Path, *command: str) -> str:
    """Run a command; gives what it wrote. Fails with that if it fails."""
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{' '.join(command)}\n{ended.stdout}{ended.stderr}"
    return ended.stdout + ended.stderr


def test_typescript_compiles_in_strict_mode(document: Path, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("Node is not installed.")
    if subprocess.run(["npm", "ping", "--silent"], capture_output=True, check=False).returncode:
        pytest.skip("The npm registry cannot be reached.")
    run(tmp_path, "npm", "install", "--no-audit", "--no-fund", "--silent", *NODE_PACKAGES)
    run(tmp_path, "npx", "openapi-typescript", str(document), "-o", "api.ts")
    (tmp_path / "use.ts").write_text(USE_TYPESCRIPT)

    modules = ("--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022")
    run(tmp_path, "npx", "tsc", "--strict", "--noEmit", *modules, "api.ts", "use.ts")


def test_python_compiles_in_strict_mode(document: Path, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(GENERATOR_CONFIG)
    client = tmp_path / "client"

    generate = ("openapi-python-client", "generate", "--path", str(document), "--config", "config.yaml")
    output = run(tmp_path, UV, "tool", "run", "--from", PYTHON_GENERATOR, *generate, "--output-path", str(client))
    (client / "use.py").write_text(USE_PYTHON)
    packages = ("httpx", "attrs", "python-dateutil", "types-python-dateutil")
    needed = [word for name in packages for word in ("--with", name)]
    run(client, UV, "tool", "run", *needed, "mypy", "--strict", "conv_engine_client", "use.py")

    # The generator warns of what it leaves out.
    assert "WARNING" not in output
