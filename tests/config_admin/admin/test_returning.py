from django.test import RequestFactory

from config_admin.admin.returning import way_back, workspace_url


def test_the_address_of_a_workspace_says_whose_it_is() -> None:
    assert workspace_url("CANCEL_ADDRESS") == "/admin/config_admin/ceintent/CANCEL_ADDRESS/workspace/"


def test_the_way_back_is_the_workspace_that_the_form_was_opened_from() -> None:
    requests = RequestFactory()

    assert way_back(requests.get("/x?workspace=REFUND")) == workspace_url("REFUND")
    assert way_back(requests.get("/x?workspace=//elsewhere.example")).startswith("/admin/config_admin/ceintent/")
    assert way_back(requests.get("/x")) == ""
