"""Have the classifier of the live configuration ready before a turn needs it."""

from threading import Thread

import structlog
from django.db import connections

from convengine.engine.documents.index import prepare_answers
from convengine.engine.understanding.encoder import load_encoder
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.models import is_large, is_made, load_classifier
from convengine.server.interfaces.configuration import ConfigurationName, configuration, named_configurations
from convengine.server.jobs.background import Background
from convengine.server.phrase_models.models import CePhraseModel

log = structlog.get_logger(__name__)
#: How long the start of a process waits, in seconds; the classifier of very many phrases is made while turns run.
_START_SECONDS = 20


class LiveClassifier:
    """The classifier of the live configuration in a process that takes turns."""

    def __init__(self) -> None:
        self._background: Background | None = None

    def start(self) -> None:
        """Load the encoder and the classifier now, and those of later releases as soon as they are made."""
        # One release waits while another one's classifier is made: the newest counts.
        self._background = Background(threads=1, waiting=1)
        load_encoder()
        # A database that is out of reach keeps its callers waiting.
        thread = Thread(target=_load_once, name="live-classifier", daemon=True)
        thread.start()
        thread.join(_START_SECONDS)

    def refresh(self) -> None:
        """Load it again in the background, after a release."""
        if self._background:
            self._background.submit(_load)

    def finish(self) -> None:
        """Wait until those of earlier releases are loaded."""
        if self._background:
            self._background.finish()


def is_live_being_made() -> bool:
    """True while the last classifier answers, because that of the live phrases takes long to make."""
    book = get_phrase_book(named_configurations().read(ConfigurationName("live")))
    if not is_large(book.content) or is_made(book.model_name):
        return False
    return not CePhraseModel.objects.filter(name=book.model_name, weights__isnull=False).exists()


def _load_once() -> None:
    _load()
    connections.close_all()


def _load() -> None:
    try:
        snapshot = configuration().current()
        book = get_phrase_book(snapshot)
        if book.phrases:
            load_classifier(book.content, book.model_name)
        prepare_answers(snapshot)
    except Exception as fault:
        # A turn says what is wrong, if it is still so.
        log.warning("classifier of phrases not loaded", error=f"{type(fault).__name__}: {fault}".strip())


live_classifier = LiveClassifier()
