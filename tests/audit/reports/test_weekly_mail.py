"""The weekly page by mail: to named people only, each alone, and off by default."""

from smtplib import SMTPRecipientsRefused
from typing import Any

import pytest
from django.core import mail
from django.core.mail import EmailMessage

from audit.reports.weekly_mail import send_weekly_page
from tests.audit.reports.counts import count_turns

pytestmark = pytest.mark.django_db


def test_without_recipients_nothing_is_sent() -> None:
    assert list(send_weekly_page()) == []
    assert mail.outbox == []


def test_each_recipient_gets_the_page(settings: Any) -> None:
    addresses = ["ana@example.com", "ben@example.com"]
    settings.CONVENGINE = {**settings.CONVENGINE, "WEEKLY_PAGE_RECIPIENTS": addresses}
    count_turns(300, 20, days=9, release=1)
    count_turns(300, 80, days=2, release=2)

    assert list(send_weekly_page()) == [{"sent": 1}, {"sent": 1}]

    assert [message.to for message in mail.outbox] == [[address] for address in addresses]
    assert "Not understood: 26.7\xa0%, 6.7\xa0% in the week before. It got worse." in mail.outbox[0].body
    ((name, content, kind),) = mail.outbox[0].attachments
    assert (name, kind) == ("week.html", "text/html")
    assert "The week to" in str(content)


def test_a_recipient_that_fails_holds_nobody_up_and_nobody_gets_it_twice(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = ["ana@example.com", "gone@example.com", "ben@example.com"]
    settings.CONVENGINE = {**settings.CONVENGINE, "WEEKLY_PAGE_RECIPIENTS": addresses}
    refused = {"gone@example.com"}
    sent: list[str] = []

    def send(message: EmailMessage) -> None:
        if refused.intersection(message.to):
            raise SMTPRecipientsRefused({message.to[0]: (550, b"no such user")})
        sent.extend(message.to)

    monkeypatch.setattr(EmailMessage, "send", send)
    assert list(send_weekly_page()) == [{"sent": 1}, {"failed": 1}, {"sent": 1}]
    assert sent == ["ana@example.com", "ben@example.com"]

    refused.update(addresses)
    with pytest.raises(SMTPRecipientsRefused):
        list(send_weekly_page())
