"""The stored tests, as erasing a person reads them: `config_admin` implements it."""

import uuid
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Protocol

from convengine.server.deployment import conf


class StoredTests(Protocol):
    """The tests that were made of conversations."""

    def list_titles(self, conversations: Collection[uuid.UUID], /) -> Sequence[str]:
        """The titles of the tests that were made of these conversations."""

    def erase_tests(self, conversation_id: uuid.UUID, by: str, /) -> Sequence[int]:
        """Erase the tests of a conversation; returns their numbers. Needs an open transaction."""

    def find_tests_with(self, texts: Collection[str], /) -> Sequence[int]:
        """The tests that have one of these texts in their document, folder, tags or titles."""


stored_tests: Callable[[], StoredTests] = partial(conf.load, "STORED_TESTS")
