from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from convengine.server.api.models import CeApiKey

pytestmark = pytest.mark.django_db


def test_the_key_alone_is_printed() -> None:
    out, err = StringIO(), StringIO()
    call_command("api_key_create", "website", "--scope", "turns", "--workspace", "shop", stdout=out, stderr=err)
    secret = out.getvalue().strip()
    key = CeApiKey.objects.get(name="website")

    assert key.is_valid(secret)
    assert (key.scopes, key.workspace_id) == (["turns"], "shop")
    assert secret not in err.getvalue()


def test_a_key_only_takes_turns_unless_its_scopes_are_named() -> None:
    call_command("api_key_create", "website", stdout=StringIO(), stderr=StringIO())

    assert CeApiKey.objects.get().scopes == ["turns"]


def test_an_unknown_scope_is_refused() -> None:
    with pytest.raises(CommandError, match="invalid choice: 'all'"):
        call_command("api_key_create", "website", "--scope", "all")


def test_a_name_that_is_too_long_is_refused() -> None:
    with pytest.raises(CommandError, match="at most 50 characters"):
        call_command("api_key_create", "w" * 51)
