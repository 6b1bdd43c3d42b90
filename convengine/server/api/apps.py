"""The turn API and its keys."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "convengine.server.api"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_api"
    verbose_name = "API"

    def ready(self) -> None:
        from corsheaders.signals import check_request_enabled

        from convengine.server.api.conversation_token import is_of_a_chat

        # Pages of every origin may call with a conversation token, which says which of them it is for.
        check_request_enabled.connect(is_of_a_chat)
