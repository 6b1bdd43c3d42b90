from typing import Any

import pytest
from django.urls import reverse

from config_admin.models import CeIntent, CeIntentClassifier
from convengine.engine.understanding.phrases import models
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import configuration
from convengine.server.phrase_models.models import CePhraseModel

pytestmark = pytest.mark.django_db


def test_the_page_of_phrases_says_while_the_classifier_of_very_many_is_made(
    admin_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    CeIntent.objects.create(intent_code="PARCEL", description="Parcels")
    CeIntentClassifier.objects.create(intent_code="PARCEL", rule_type="PHRASE", pattern="which way did my parcel go")
    monkeypatch.setattr(models, "_MOST_AT_ONCE", 0)
    page, sentence = reverse("admin:config_admin_ceintentclassifier_changelist"), b"is being made in the background"

    assert sentence in admin_client.get(page).content

    name = get_phrase_book(configuration().current()).model_name
    CePhraseModel.objects.create(name=name, weights=b"learned", used_at=database_time())
    assert sentence not in admin_client.get(page).content
    monkeypatch.undo()
    assert sentence not in admin_client.get(page).content
