"""Stop a gradual release: a release that equals the one that everybody else runs on."""

from django.db import transaction

from config_admin.releases.audience import end_gradual_release, lock_gradual_release
from config_admin.releases.change_set import change_set
from config_admin.releases.models import CeGradualRelease, GradualStatus, Origin
from config_admin.releases.restore_rows import restore_rows
from config_admin.releases.roll_back import wanted_by_roll_back


def stop_gradual_release(author: str, reason: str = "", gradual_id: int | None = None) -> CeGradualRelease:
    """Everybody runs on what the others ran on, with their next message. Raises NotGradual, RowsBelongTogether.

    `gradual_id`: the release that the caller judged; None for the running one.
    """
    with transaction.atomic():
        row = lock_gradual_release(gradual_id)
        title = f"Gradual release {row.config_version} stopped"
        end_gradual_release(row, GradualStatus.STOPPED, author, reason)
        # Rows that were live a moment ago need no checks, and no draft.
        with change_set(Origin.ROLLBACK, author, f"{title}: {reason}" if reason else title) as change:
            change.is_stop = True
            restore_rows(wanted_by_roll_back(row.parent_version), checked=False)
    return row
