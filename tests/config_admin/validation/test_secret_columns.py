"""Secrets that came into rows past the save checks do not leave with exports and answers."""

import io
import zipfile
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.transfer.files import CSV, JSON, XLSX, YAML, export_configuration
from config_admin.validation.secret_columns import mask_row
from tests.api import make_key
from tests.config_admin.builders import make

SECRETS = ("wonder-land", "abcdefghijklmnop", "plain-word")
HTTP = {
    "url_template": "/forward?to=https://ada:wonder-land@x.example/",
    "headers_json": {"X-Note": "Bearer abcdefghijklmnop", "Accept": "text/plain"},
    "query_json": {"api_key": "plain-word", "page": "{{page}}"},
}


@pytest.mark.django_db
def test_no_export_and_no_answer_has_a_stored_secret() -> None:
    make(m.CeMcpHttpTool, tool=make(m.CeMcpTool, tool_code="t", tool_group="HTTP_API"), **HTTP)
    table, headers = "ce_mcp_http_tool", {"Authorization": f"Api-Key {make_key(scopes=['config'])}"}

    book = zipfile.ZipFile(io.BytesIO(export_configuration(tables=[table], form=XLSX)))
    texts = [export_configuration(tables=[table], form=form).decode() for form in (YAML, JSON, CSV)]
    texts.append("".join(book.read(name).decode() for name in book.namelist()))
    for path in (f"/api/v1/config/{table}", f"/api/v1/config/bundle?table={table}"):
        texts.append(Client().get(path, headers=headers).content.decode())

    for text in texts:
        assert "***" in text
        assert [secret for secret in SECRETS if secret in text] == []


@pytest.mark.parametrize("group", ["config_admin", "qa"])
def test_no_page_shows_a_stored_secret(somebody: Callable[..., Client], group: str) -> None:
    row = make(m.CeMcpHttpTool, tool=make(m.CeMcpTool, tool_code="t", tool_group="HTTP_API"), **HTTP)
    client, name = somebody("ada", group), "admin:config_admin_cemcphttptool_"
    pages = [reverse(f"{name}{page}", args=[row.pk]) for page in ("change", "history")]
    pages.append(reverse(f"{name}changelist"))

    for url in pages:
        text = client.get(url).content.decode()
        assert "***" in text, url
        assert [secret for secret in SECRETS if secret in text] == [], url


def test_a_form_that_shows_a_masked_secret_does_not_replace_it(ada: Client) -> None:
    row = make(m.CeMcpHttpTool, tool=make(m.CeMcpTool, tool_code="t", tool_group="HTTP_API"), **HTTP)
    url = reverse("admin:config_admin_cemcphttptool_change", args=[row.pk])
    form = ada.get(url).context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    sent = {name: value for name, value in values.items() if value is not None and value is not False}

    answer = ada.post(url, {**sent, "reason": "x"})

    assert set(answer.context["adminform"].form.errors) >= {"url_template", "headers_json", "query_json"}
    row.refresh_from_db()
    assert row.url_template == HTTP["url_template"]


def test_references_and_other_values_stay() -> None:
    server = {"headers_json": {"Authorization": "Bearer ${SHOP}"}, "env_json": {"KEY_TOKEN": "x"}, "args_json": ["-v"]}

    assert mask_row("ce_mcp_server", server) == {**server, "env_json": {"KEY_TOKEN": "***"}}
    assert mask_row("ce_rule", {"url": "https://a:b@c"}) == {"url": "https://a:b@c"}
