from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import include, path


def show_own(request: HttpRequest) -> HttpResponse:
    return HttpResponse("own")


class WithOwnAddress:
    urlpatterns = [path("livez", show_own), path("", include("convengine.urls"))]


class BelowPrefix:
    urlpatterns = [path("engine/", include("convengine.server.probes.urls"))]


def test_a_project_keeps_its_own_address() -> None:
    with override_settings(ROOT_URLCONF=WithOwnAddress):
        assert Client().get("/livez").content == b"own"


def test_probes_work_below_a_prefix() -> None:
    with override_settings(ROOT_URLCONF=BelowPrefix):
        assert Client().get("/engine/livez", headers={"Host": "10.0.0.7"}).json() == {"status": "alive"}
