"""Mail about drafts, where the deployment names a sender (`CE_NOTIFICATION_FROM`)."""

from collections.abc import Iterable
from functools import partial

from django.contrib.auth import get_user_model
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q

from config_admin.drafts.models import CeDraft
from convengine.server.deployment import conf
from convengine.server.jobs.background import background


def send_mail_about(
    draft: CeDraft, subject: str, lines: Iterable[str], names: Iterable[str], *, group: str = "", url: str = ""
) -> None:
    """Write to these users and the members of `group`, when the transaction is done. A failure is in the log.

    Only active users with an address get a mail, and nobody does without NOTIFICATION_FROM. `url`: the address of the
    draft; if it is blank, the mail says where to find it.
    """
    sender = conf.get("NOTIFICATION_FROM")
    if not sender:
        return
    users = get_user_model()
    wanted = Q(**{f"{users.USERNAME_FIELD}__in": list(names)})
    if group:
        wanted |= Q(groups__name=group)
    active = users._default_manager.filter(wanted, is_active=True)
    addresses = sorted({str(getattr(user, "email", "")) for user in active} - {""})
    text = "\n\n".join(filter(None, [*lines, url or "Open it in the admin: Releases › Drafts."]))
    for address in addresses:
        # One for each, so that nobody reads the addresses of the others.
        mail = EmailMessage(" ".join(subject.split()), text, sender, [address])
        transaction.on_commit(partial(background.submit, partial(_send, mail)))


def _send(mail: EmailMessage) -> None:
    mail.send()
