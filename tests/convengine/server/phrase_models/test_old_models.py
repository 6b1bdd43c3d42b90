from collections import Counter
from datetime import timedelta

import pytest

from config_admin.drafts.models import CeDraft
from config_admin.drafts.open_draft import open_draft
from config_admin.models import CeIntent, CeIntentClassifier
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.models import name_vector
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import ConfigurationName, named_configurations
from convengine.server.phrase_models.models import CePhraseModel, CePhraseVector
from convengine.server.phrase_models.old_models import remove_old

pytestmark = pytest.mark.django_db


def store_long_ago(configuration: str) -> str:
    """Store the classifier of a configuration as it was used two days ago; gives its name."""
    book = get_phrase_book(named_configurations().read(ConfigurationName.parse(configuration)))
    then = database_time() - timedelta(days=2)
    CePhraseModel.objects.create(name=book.model_name, weights=b"learned", used_at=then)
    vectors = [CePhraseVector(name=name_vector(text), vector=b"", made_at=then) for text in book.content.list_texts()]
    CePhraseVector.objects.bulk_create(vectors, ignore_conflicts=True)
    return book.model_name


def test_only_classifiers_and_vectors_of_configurations_in_use_are_kept() -> None:
    CeIntent.objects.create(intent_code="PARCEL", description="Parcels")
    phrase = CeIntentClassifier.objects.create(intent_code="PARCEL", rule_type="PHRASE", pattern="where is my parcel")
    store_long_ago("live")
    phrase.pattern = "has my parcel been sent"
    phrase.save()
    live = store_long_ago("live")
    draft = CeDraft.objects.create(title="Shorter")
    with open_draft(draft.pk, writing=True):
        CeIntentClassifier.objects.update(pattern="track it")
    edited = store_long_ago(f"draft:{draft.pk}")
    CePhraseModel.objects.create(name="run of today", weights=b"learned", used_at=database_time())

    counts = Counter[str]()
    for batch in remove_old():
        counts.update(batch)

    assert counts == {"classifiers": 1, "vectors": 1}
    assert {row.name for row in CePhraseModel.objects.all()} == {live, edited, "run of today"}
    assert not CePhraseVector.objects.filter(name=name_vector("where is my parcel")).exists()
    assert CePhraseVector.objects.filter(name=name_vector("has my parcel been sent")).exists()
    assert not [*remove_old()]
