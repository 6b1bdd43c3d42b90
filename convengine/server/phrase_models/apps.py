"""The stored classifiers of phrases."""

from django.apps import AppConfig


class PhraseModelsConfig(AppConfig):
    name = "convengine.server.phrase_models"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_phrase_models"
    verbose_name = "Classifiers of phrases"

    def ready(self) -> None:
        """Share classifiers through the database."""
        from convengine.engine.understanding.phrases.models import use_store
        from convengine.server.phrase_models.store import DatabaseStore

        use_store(DatabaseStore())
