"""Mail about alerts, through the mail server of the deployment (`CE_EMAIL_HOST`)."""

from django.core.mail import EmailMessage

from audit.models import CeAlertMessage
from convengine.server.deployment import conf


def send_mail(message: CeAlertMessage) -> None:
    """Send it. Every attempt has the same Message-ID, so that mailboxes can drop a second copy."""
    sender = conf.get("NOTIFICATION_FROM")
    if not sender:
        raise RuntimeError("CE_NOTIFICATION_FROM is not set, so no mail is sent.")
    domain = sender.rpartition("@")[2].strip(" >") or "convengine"
    EmailMessage(
        " ".join(message.content["subject"].split()),
        message.content["text"],
        sender,
        [message.recipient],
        headers={"Message-ID": f"<{message.pk}@{domain}>", "Auto-Submitted": "auto-generated"},
    ).send()
