"""Where news of this process's turns go: to its own readers, and over the bus to those of others."""

from audit.live.bus import LOOK, Bus
from audit.live.hub import hub
from audit.live.told import News
from convengine import conf


class Relay:
    """What this process has to tell, and to whom."""

    def __init__(self) -> None:
        self._bus: Bus | None = None
        self._started = False

    def start(self) -> None:
        """Join the bus, where the deployment has one; once a process."""
        url = conf.get("BUS_URL")
        if url and not self._started:
            self._bus = Bus(url, hub.offer, hub.look)
            hub.announce = self._bus.announce
            # What is told by the bus needs no looking for; a look now and again finds what it lost.
            hub.every = lambda: max(conf.get("STREAM_POLL_MS") / 1000, 2.0)
            self._bus.start()
        self._started = True

    @property
    def may_be_heard(self) -> bool:
        """False in a process whose turns nobody can watch while they run."""
        return self._bus is not None or hub.serves

    def watched(self, conversation_id: str) -> bool:
        """True while somebody watches a conversation."""
        return hub.watches(conversation_id) or (self._bus is not None and self._bus.watched(conversation_id))

    def tell(self, news: News) -> None:
        """Tell whoever watches. Never waits."""
        hub.offer(news)
        if self._bus and self._bus.watched(news.conversation_id):
            self._bus.tell(news)

    def look(self, conversation_id: str) -> None:
        """Have whoever watches look at the database."""
        hub.look(conversation_id)
        if self._bus and self._bus.watched(conversation_id):
            self._bus.tell(News(conversation_id, LOOK, ""))


relay = Relay()
