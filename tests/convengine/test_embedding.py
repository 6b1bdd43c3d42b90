from typing import Any

from django.contrib.admin.apps import AdminConfig

from convengine.embedding import APPS, BEFORE_ADMIN, LIBRARIES, add_to

PROBES = "convengine.server.probes.middleware.ProbeMiddleware"
CALLS = "convengine.server.api.middleware.ApiMiddleware"
CORS = "corsheaders.middleware.CorsMiddleware"
CLEAN = "convengine.server.api.clean_input.CleanInputMiddleware"
HISTORY = "simple_history.middleware.HistoryRequestMiddleware"
DRAFTS = "config_admin.drafts.middleware.DraftMiddleware"


class ShopAdminConfig(AdminConfig):
    """As Django says to replace the admin."""


def make_settings(*apps: str) -> dict[str, Any]:
    engine = {"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": ["own"]}
    return {"INSTALLED_APPS": list(apps), "MIDDLEWARE": ["own"], "TEMPLATES": [engine]}


def test_the_look_of_the_admin_stands_before_the_admin_and_the_rest_behind() -> None:
    settings = make_settings("shop", "django.contrib.admin", "rest_framework")

    add_to(settings)

    libraries = [app for app in LIBRARIES if app != "rest_framework"]
    expected = ["shop", *BEFORE_ADMIN, "django.contrib.admin", "rest_framework", *libraries, *APPS]
    assert settings["INSTALLED_APPS"] == expected


def test_a_project_may_have_a_configuration_of_its_own_for_the_admin() -> None:
    own = f"{__name__}.ShopAdminConfig"
    settings = make_settings("shop", own)

    add_to(settings)

    assert settings["INSTALLED_APPS"] == ["shop", *BEFORE_ADMIN, own, *LIBRARIES, *APPS]


def test_layers_of_libraries_stay_where_the_project_has_them() -> None:
    settings = {**make_settings("django.contrib.admin"), "MIDDLEWARE": [CORS, "first", HISTORY, "last"]}

    add_to(settings)

    assert settings["MIDDLEWARE"] == [PROBES, CALLS, CLEAN, CORS, "first", HISTORY, "last", DRAFTS]


def test_adding_it_twice_changes_no_apps() -> None:
    settings = make_settings("django.contrib.admin")
    add_to(settings)
    once = list(settings["INSTALLED_APPS"])
    add_to(settings)

    assert (settings["INSTALLED_APPS"], settings["MIDDLEWARE"]) == (
        once,
        [PROBES, CALLS, CLEAN, CORS, "own", HISTORY, DRAFTS],
    )


def test_what_the_project_has_itself_stays() -> None:
    settings = {**make_settings("django.contrib.admin"), "UNFOLD": {"SITE_TITLE": "Shop"}, "REST_FRAMEWORK": {"A": 1}}
    settings["SILENCED_SYSTEM_CHECKS"] = ["shop.W001"]
    add_to(settings)

    assert settings["SILENCED_SYSTEM_CHECKS"] == ["shop.W001", "models.W040"]
    assert (settings["UNFOLD"]["SITE_TITLE"], settings["REST_FRAMEWORK"]) == ("Shop", {"A": 1})
    assert settings["TEMPLATES"][0]["DIRS"][0] == "own"
    assert settings["UNFOLD"]["SIDEBAR"]["show_all_applications"] is True
