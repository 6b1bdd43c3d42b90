import pytest
from django.db import connection

from config_admin.models import CeIntent, CeResponse
from config_admin.releases.models import CeRelease
from convengine.scenarios import database
from convengine.server.api.models import CeApiKey

pytestmark = pytest.mark.dialects


@pytest.mark.django_db
def test_a_database_that_nobody_gave_to_scenarios_is_never_emptied() -> None:
    CeIntent.objects.create(intent_code="A")

    with pytest.raises(database.NotDisposable):
        database.empty_database()

    assert CeIntent.objects.exists()


@pytest.mark.django_db
def test_nothing_is_left_in_a_database_that_is_emptied_not_even_what_is_shipped() -> None:
    CeResponse.objects.get_or_create(intent_code="UNKNOWN", state_code="UNKNOWN", response_type="EXACT")
    CeApiKey.objects.create_key(name="x")

    with database.allow_emptying():
        database.empty_database()

    assert not CeResponse.objects.exists()
    assert not CeApiKey.objects.exists()
    assert not CeRelease.objects.exists()


@pytest.mark.django_db
def test_a_database_is_disposable_for_a_while_only() -> None:
    with database.allow_emptying():
        pass

    with pytest.raises(database.NotDisposable):
        database.empty_database()


@pytest.mark.django_db(transaction=True)
def test_a_scratch_database_is_another_one_and_the_installations_stays_untouched() -> None:
    CeIntent.objects.create(intent_code="MINE")
    here = connection.settings_dict["NAME"]

    with database.use_scratch_database():
        assert connection.vendor == "sqlite"
        assert connection.settings_dict["NAME"] != here
        assert not CeIntent.objects.exists()
        database.empty_database()
        CeIntent.objects.create(intent_code="OTHER")

    assert connection.settings_dict["NAME"] == here
    assert list(CeIntent.objects.values_list("intent_code", flat=True)) == ["MINE"]
