"""Where processes share what was learned of phrases, and the way of a process that shares nothing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from convengine.engine.understanding.phrases.classifier import Content


class ModelStore(Protocol):
    """What processes share: vectors and what classifiers learned, by their names."""

    def load_vectors(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """Those of the vectors that are known."""

    def save_vectors(self, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors that were not known."""

    def load(self, name: str) -> bytes | None:
        """The weights of a name. Returns None if they are not there."""

    def load_or_make(self, name: str, make: Callable[[], bytes], *, takes_long: bool = False) -> bytes:
        """The weights of a name; one process makes those that are missing, while others wait for it."""

    def train(self, content: Content) -> bytes:
        """What very many phrases teach, learned where no user is served. Raises TrainingFailed."""

    def start(self, work: Callable[[], None]) -> bool:
        """Do work that no user waits for. Returns False if there is too much of it."""


class NoStore:
    """Every process makes what it needs."""

    def load_vectors(self, names: Sequence[str]) -> Mapping[str, bytes]:
        return {}

    def save_vectors(self, vectors: Mapping[str, bytes]) -> None:
        """Keep nothing."""

    def load(self, name: str) -> bytes | None:
        return None

    def load_or_make(self, name: str, make: Callable[[], bytes], *, takes_long: bool = False) -> bytes:
        return self.load(name) or make()

    def train(self, content: Content) -> bytes:
        from convengine.engine.understanding.phrases.models import train_content

        return train_content(content, self)

    def start(self, work: Callable[[], None]) -> bool:
        work()
        return True
