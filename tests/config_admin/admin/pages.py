"""The admin as a person uses it: pages opened, forms filled in and sent."""

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.releases.change_set import change_set
from tests.config_admin.builders import make


def address(model: Any, page: str = "changelist", *args: Any) -> str:
    """The address of a page of a table."""
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def form_of(response: Any) -> Any:
    """The form of a page."""
    return response.context["adminform"].form


def sent_by(form: Any, **changes: Any) -> dict[str, Any]:
    """What a browser sends for a form, with some fields filled in differently."""
    data: dict[str, Any] = {"_confirmed": form.warning_keys}
    if form.meeting:
        data |= re.findall(r'name="(\w+)" value="([^"]*)"', form.meeting.inputs)
    for field in form:
        value = field.value()
        if value not in (None, False):
            data[field.html_name] = value
    data |= changes
    if not data.get("reason") and "reason" not in changes:
        data["reason"] = "Because"
    return {name: value for name, value in data.items() if value is not None}


def fill(client: Client, url: str, **changes: Any) -> Any:
    """Open a form, fill it in, send it."""
    return client.post(url, sent_by(form_of(client.get(url)), **changes))


def send_again(client: Client, response: Any, **changes: Any) -> Any:
    """Send the form of an answer once more."""
    return client.post(response.request["PATH_INFO"], sent_by(form_of(response), **changes))


def read_message(response: Any, client: Client) -> str:
    """What the page after a redirect says."""
    page = client.get(response["Location"])
    return " ".join(str(message) for message in page.context["messages"])


def newest() -> m.CeRelease:
    """The newest release."""
    return m.CeRelease.objects.order_by("-config_version")[0]


def a_response(**values: Any) -> m.CeResponse:
    """A stored answer that no check minds."""
    with change_set():
        row: m.CeResponse = make(m.CeResponse, **({"intent_code": "UNKNOWN", "state_code": "IDLE"} | values))
    return row
