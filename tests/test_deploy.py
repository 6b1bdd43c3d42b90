"""The files of `deploy/`, the Dockerfile and the compose file: their linters accept them, their variables exist.

No image is built and no unit is started. Tests of programs that are not installed (nginx, systemd) are skipped.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.urls import resolve

from convengine.commands.management.commands.serve import Command
from convengine.server.deployment import environment

ROOT = Path(__file__).resolve().parent.parent
DEPLOYED = [
    *(ROOT / name for name in ("Dockerfile", "compose.yaml")),
    *sorted(file for file in (ROOT / "deploy").rglob("*") if file.is_file() and file.suffix != ".pyc"),
]
UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))
#: A name, unless it is the beginning of several: `CE_LLM_…`, `CE_CFG__TYPE__KEY`.
_VARIABLE = re.compile(r"\bCE_[A-Z0-9]+(?:_[A-Z0-9]+)*\b(?!_)")


def find_tool(name: str) -> str:
    """The path of a program; skips the test without it."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin"])
    path = shutil.which(name, path=places)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", [*DEPLOYED, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda file: file.name)
def test_every_variable_that_a_file_names_is_read(file: Path) -> None:
    from convengine import settings  # noqa: F401 - reads all variables

    names = set(_VARIABLE.findall(file.read_text("utf-8")))
    free = ("CE_BENCH_", "CE_CFG__", "CE_CHANNEL_SECRET_", "CE_MCP_SECRET_", "CE_TEST_")

    assert {name for name in names if name not in environment._KNOWN and not name.startswith(free)} == set()


def test_the_dockerfile_is_accepted() -> None:
    run(find_tool("hadolint"), str(ROOT / "Dockerfile"), str(ROOT / "fixtures/project/Dockerfile"))


@pytest.mark.parametrize("file", ["compose.yaml", "fixtures/project/compose.yaml"])
def test_the_compose_file_is_accepted(file: str) -> None:
    run(find_tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(ROOT / file))


@pytest.mark.parametrize("file", ["compose.yaml", "fixtures/project/compose.yaml"])
def test_the_compose_file_has_no_default_password_and_each_service_its_check(file: str) -> None:
    text = (ROOT / file).read_text()
    example = ROOT / ("deploy/env.example" if file == "compose.yaml" else "fixtures/project/env.example")
    variables = re.findall(r"\$\{(\w+)([^}]*)\}", text)
    image = (ROOT / "Dockerfile").read_text() if file == "compose.yaml" else ""

    # `:?` ends `docker compose` with the sentence that follows.
    assert {rest[:2] for _, rest in variables} == {":?"}
    assert [name for name, _ in variables if not re.search(f"^#?{name}=$", example.read_text(), re.MULTILINE)] == []
    for name, service in yaml.safe_load(text)["services"].items():
        assert "healthcheck" in service or ("build" in service and "HEALTHCHECK" in image), name


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_the_units_are_accepted(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    # The programs are not installed there.
    copy.write_text(re.sub(r"/opt/convengine/current/bin/\w+", "/bin/true", unit.read_text()))
    copy.chmod(0o644)

    run(find_tool("systemd-analyze"), "verify", "--man=no", str(copy))


def test_nginx_accepts_its_file(tmp_path: Path) -> None:
    nginx, openssl = find_tool("nginx"), find_tool("openssl")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=desk.example.com"]
    run(openssl, "req", *options, "-keyout", str(key), "-out", str(certificate))
    text = (ROOT / "deploy/nginx/convengine.conf").read_text()
    text = re.sub(r"ssl_certificate .*;", f"ssl_certificate {certificate};", text)
    text = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", text)
    site, main = tmp_path / "site.conf", tmp_path / "nginx.conf"
    site.write_text(text)
    main.write_text(
        f"events {{}}\npid {tmp_path}/pid;\nerror_log {tmp_path}/error.log;\n"
        f"http {{ access_log {tmp_path}/access.log; include {site}; }}\n"
    )

    run(nginx, "-t", "-q", "-c", str(main))


def test_all_images_have_the_same_python() -> None:
    """Python 3.11 is the least; 3.13 is what is deployed."""
    files = [ROOT / "Dockerfile", *sorted((ROOT / "fixtures").glob("*/Dockerfile"))]
    versions = [re.findall(r"^FROM python:(\S+)", file.read_text(), re.MULTILINE) for file in files]

    assert [version for each in versions for version in each] == ["3.13-slim"] * 3


def test_the_commands_of_the_files_exist() -> None:
    options = {option for action in _list_options() for option in action}
    compose: Any = yaml.safe_load((ROOT / "compose.yaml").read_text())
    used = set(
        re.findall(r"--[a-z-]+", (ROOT / "deploy/systemd/convengine.service").read_text().split("ExecStart=")[1])
    )
    pods = list(yaml.safe_load_all((ROOT / "deploy/kubernetes/convengine.yaml").read_text()))
    (container,) = pods[0]["spec"]["template"]["spec"]["containers"]
    used |= {word for word in container["args"] if word.startswith("--")}
    used |= set(re.findall(r'"(--[a-z-]+)"', (ROOT / "Dockerfile").read_text().split('CMD ["serve"')[1]))

    assert {option for option in used if not option.startswith("--system")} <= options
    assert compose["services"]["app"]["build"] == {"context": "."}
    probes = {container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")}
    assert all(resolve(path) for path in probes)
    assert {port["port"] for port in pods[1]["spec"]["ports"]} == {port["containerPort"] for port in container["ports"]}


def _list_options() -> list[list[str]]:
    parser = Command().create_parser("manage.py", "serve")
    return [list(action.option_strings) for action in parser._actions]


@pytest.mark.parametrize(
    "file",
    [
        *("compose.yaml", "fixtures/project/compose.yaml"),
        *("deploy/kubernetes/convengine.yaml", "deploy/systemd/convengine.service"),
    ],
)
def test_what_stops_the_server_waits_longer_than_it_lets_turns_end(file: str) -> None:
    (seconds,) = re.findall(
        r"(?:stop_grace_period: |terminationGracePeriodSeconds: |TimeoutStopSec=)(1\d\d)", (ROOT / file).read_text()
    )

    from django.conf import settings

    assert int(seconds) > settings.CONVENGINE["STOP_SECONDS"]
