"""Lists call rows by what people read, show a pattern beside it, and say what is still being made."""

from typing import Any

import pytest
from django.urls import reverse

from config_admin.models import CeIntent, CeIntentClassifier
from config_admin.tables.intents_admin import name_pattern, show_pattern
from convengine.engine.understanding.phrases import models
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import configuration
from convengine.server.phrase_models.models import CePhraseModel
from tests.builders import make_classifier


@pytest.mark.parametrize(
    ("values", "name", "pattern"),
    [
        ({"pattern": r"\border\b", "rule_type": "REGEX"}, "“order”", r"\border\b"),
        ({"pattern": "order", "rule_type": "REGEX", "description": "about orders"}, "about orders", "order"),
        ({"pattern": "where is it", "rule_type": "PHRASE"}, "where is it", ""),
        ({"pattern": r"\s", "rule_type": "REGEX"}, r"\s", ""),
        ({"pattern": "", "rule_type": "REGEX"}, "-", ""),
    ],
)
def test_a_row_is_called_by_its_description_or_its_texts(values: dict[str, Any], name: str, pattern: str) -> None:
    row = make_classifier("LOAN", values.pop("pattern"), **values)

    assert name_pattern(row) == name
    assert show_pattern(row) == pattern


@pytest.mark.django_db
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
