"""What the configuration offers to the other apps, checked against the types of `server.app_interfaces`; settings
name it.
"""

from config_admin.history.then_and_now import between, right_to_read, then_and_now
from config_admin.releases.diff import diff
from config_admin.snapshot.active import snapshots
from convengine.server.app_interfaces import Configuration, ReleaseHistory


class _ReleaseHistory:
    diff = staticmethod(diff)
    right_to_read = staticmethod(right_to_read)
    then_and_now = staticmethod(then_and_now)
    between = staticmethod(between)


configuration: Configuration = snapshots
release_history: ReleaseHistory = _ReleaseHistory()
