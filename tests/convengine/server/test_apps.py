"""The server as a Django app."""

import gc

from django.apps import apps


def test_garbage_is_collected_as_soon_as_the_server_is_loaded() -> None:
    gc.disable()
    try:
        apps.get_app_config("convengine").ready()
        assert gc.isenabled()
    finally:
        gc.enable()
