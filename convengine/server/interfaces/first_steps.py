"""The first steps of a new analyst, as the pages where they are done note them: `config_admin` implements it."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from convengine.server.deployment import conf


class FirstSteps(Protocol):
    """Notes which first steps a user has done."""

    def note_talk(self, user: Any, /) -> None:
        """The user sent the bot a message."""

    def note_question(self, user: Any, /) -> None:
        """The user opened a turn, which says why."""


first_steps: Callable[[], FirstSteps] = partial(conf.load, "FIRST_STEPS")
