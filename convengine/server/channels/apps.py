"""Channels, their messages and their pages."""

from typing import Any

from django.apps import AppConfig


class ChannelsConfig(AppConfig):
    name = "convengine.server.channels"
    default_auto_field = "django.db.models.BigAutoField"
    label = "ce_channels"
    verbose_name = "Channels"

    def ready(self) -> None:
        """Answers to messages of channels go back there."""
        from convengine.server.queued.models import answer_listeners
        from convengine.server.sessions.models import external_answer_listeners

        answer_listeners.append(_send_answer)
        external_answer_listeners.append(_send_words_of_person)


# What sends an answer is imported with the first one: most commands send none.
def _send_answer(*answer: Any) -> None:
    from convengine.server.channels.answers import send_answer

    send_answer(*answer)


def _send_words_of_person(*words: Any) -> None:
    from convengine.server.channels.answers import send_words_of_person

    send_words_of_person(*words)
