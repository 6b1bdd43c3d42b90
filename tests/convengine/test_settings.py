"""Settings from the environment, of a server behind a proxy that speaks HTTPS."""

import os
import re
import subprocess
import sys
from pathlib import Path

from django.conf import settings
from django.test import Client, override_settings

ROOT = Path(__file__).resolve().parents[2]


def read_example() -> dict[str, str]:
    """The variables of the manual's example."""
    page = (ROOT / "docs/deployment.md").read_text().partition("## HTTPS and proxies")[2].partition("##")[0]
    values = dict(re.findall(r"^    (CE_\w+)=(\S+)", page, re.MULTILINE))
    return {**values, "CE_SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def test_the_manual_s_example_leaves_nothing_for_the_deployment_check() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CE_")}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]

    done = subprocess.run(
        command, check=False, cwd=ROOT, env={**environment, **read_example()}, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_the_example_names_every_variable_of_https() -> None:
    wanted = {"CE_HTTPS_REDIRECT", "CE_PROXY_SSL_HEADER", "CE_SECURE_COOKIES", "CE_HSTS_SECONDS", "CE_TRUSTED_PROXIES"}

    assert wanted <= read_example().keys()


@override_settings(SECURE_SSL_REDIRECT=True, SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"))
def test_http_is_redirected_except_where_monitors_look() -> None:
    client = Client()

    assert client.get("/admin/login/").status_code == 301
    assert client.get("/admin/login/", headers={"X-Forwarded-Proto": "http"}).status_code == 301
    assert client.get("/livez").status_code != 301
    assert "^livez$" in settings.SECURE_REDIRECT_EXEMPT
