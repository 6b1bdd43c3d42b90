"""The server as a Django app."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps


def test_garbage_is_collected_as_soon_as_the_server_is_loaded() -> None:
    gc.disable()
    try:
        apps.get_app_config("convengine").ready()
        assert gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("package", "remedy"),
    [
        ("shop.audit", "The app 'shop.audit' has the label 'audit', which an app of ConvEngine has, too."),
        ("config_admin", "The package 'config_admin' of ConvEngine is hidden by"),
    ],
)
def test_a_host_with_an_app_of_our_names_is_told_what_to_do(package: str, remedy: str, tmp_path: Path) -> None:
    folder = tmp_path / package.replace(".", "/")
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from django.conf import settings
import django
settings.configure(INSTALLED_APPS=[{package!r}, "convengine.server"])
django.setup()
"""

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert remedy in result.stderr.splitlines()[-1]
