from django.test import Client, RequestFactory

from config_admin.editing.links import workspace_url
from config_admin.editing.workspace_return import find_return_url, popup_url


def test_the_address_of_a_workspace_says_whose_it_is() -> None:
    assert workspace_url("CANCEL_ADDRESS") == "/admin/config_admin/ceintent/CANCEL_ADDRESS/workspace/"


def test_the_way_back_is_the_workspace_that_the_form_was_opened_from() -> None:
    requests = RequestFactory()

    assert find_return_url(requests.get("/x?workspace=REFUND")) == workspace_url("REFUND")
    assert find_return_url(requests.get("/x?workspace=//elsewhere.example")).startswith("/admin/config_admin/ceintent/")
    assert find_return_url(requests.get("/x")) == ""


def test_only_a_form_that_is_meant_for_it_stands_in_a_frame(ada: Client) -> None:
    add = "/admin/config_admin/ceresponse/add/"

    assert ada.get(popup_url(f"{add}?workspace=REFUND"))["X-Frame-Options"] == "SAMEORIGIN"
    assert ada.get(add)["X-Frame-Options"] == "DENY"
