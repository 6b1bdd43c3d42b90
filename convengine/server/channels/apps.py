"""Channels, their messages and their pages."""

from django.apps import AppConfig


class ChannelsConfig(AppConfig):
    name = "convengine.server.channels"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_channels"
    verbose_name = "Channels"

    def ready(self) -> None:
        """Answers to messages of channels go back there."""
        from convengine.server.channels.answers import send_answer, send_words_of_person
        from convengine.server.queued.answer import answer_listeners
        from convengine.server.threads.external_changes import external_answer_listeners

        answer_listeners.append(send_answer)
        external_answer_listeners.append(send_words_of_person)
