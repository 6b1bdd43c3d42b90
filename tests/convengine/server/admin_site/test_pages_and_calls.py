"""What a page changes, a call of the API or a command changes, too. What has none yet is a list, which only shrinks."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.core.management import get_commands
from django.urls import get_resolver

from convengine.server.admin_site.pages import Page, PagesAdmin
from convengine.server.api.base_view import _CALLS

#: Pages that show something, or prepare what another page does. Runs that change no data are among them.
SHOWN = frozenset(
    {
        *("compare", "coverage", "effect", "export", "faq_template", "find", "forms", "map"),
        *("map_of", "models", "not_understood", "preview", "ratings", "reports", "result", "rows", "times"),
        *("tools", "transfer_export", "try", "week", "workspace"),
        *("judge_of_form", "simulate", "simulate_of_form", "try_it_of_form", "what_if_of_form"),
        *("flow_talk", "start_talk"),
        # They change what their user sees.
        *("enter", "leave"),
    }
)
#: The call or the command that changes the same, by pages. A page of several models has its model.
CALLS = {
    "CeAnswerDocument.document_import": "POST config/import",
    "CeAnswerDocument.document_sections": "POST config/import",
    "CeAlert.silence": "POST alerts/<str:alert_id>/silence",
    "CeAlert.unsilence": "DELETE alerts/<str:alert_id>/silence",
    "CeAudit.erase": "audit_erase",
    "CeAudit.inbox": "POST inbox/<int:group_id>/decision",
    "CeAudit.what_if": "POST what-if",
    "CeAudit.what_if_cancel": "POST what-if/<str:what_if_id>/cancel",
    "CeConfig.effective": "POST config/import",
    "CeDraft.come_over": "come_over",
    "CeDraft.discard": "DELETE config/drafts/<int:draft_id>",
    "CeDraft.cancel": "DELETE config/drafts/<int:draft_id>/schedule",
    "CeDraft.publish": "POST config/drafts/<int:draft_id>/publish",
    "CeDraft.review": "POST config/drafts/<int:draft_id>/approve",
    "CeDraft.schedule": "POST config/drafts/<int:draft_id>/schedule",
    "CeDraft.send": "POST config/drafts/<int:draft_id>/send",
    "CeGradualRelease.all": "POST config/gradual/all",
    "CeGradualRelease.audience": "PUT config/gradual",
    "CeGradualRelease.stop": "POST config/gradual/stop",
    "CeIntent.delete_all": "DELETE config/topics/<str:topic_code>",
    "CeIntent.duplicate": "POST config/topics/<str:topic_code>/duplicate",
    "CeIntent.flow": "PUT config/flows/<str:flow_code>",
    "CeIntent.rename": "POST config/topics/<str:topic_code>/rename",
    "CeIntent.start": "POST config/flows",
    "CeIntent.switch": "POST config/topics/<str:topic_code>/switch",
    "CeIntentClassifier.teach": "POST config/import",
    "CeJob.run": "jobs",
    "CeMcpUserFeedback.give": "POST conversation/feedback",
    "CeResponse.languages": "POST config/import",
    "CeRelease.roll_back": "POST config/releases/<int:config_version>/restore",
    "CeRelease.take_back": "POST config/releases/<int:config_version>/undo",
    "CeRelease.transfer": "POST config/import",
    "CeTestCase.again": "POST config/test-runs",
    "CeTestCase.import": "POST config/tests",
    "CeTestCase.run": "POST config/test-runs",
    "CeTestCase.understanding": "evaluate",
    "CeTestRun.again": "POST config/test-runs",
    "CeTestRun.cancel": "DELETE config/test-runs/<int:run_id>",
}
#: Pages without one. Never add to them: give the page a call or a command.
WITHOUT = frozenset(
    {
        *("CeAlertRule.silence", "CeAlertRule.unsilence"),
        *("CeAudit.sample", "CeTestCase.evaluation_cancel"),
        *("CeChannel.test", "CeChannelMessage.again", "CeWebhook.again", "CeWebhookDelivery.again"),
        *("CeWebhook.secret", "CeWebhook.test"),
        *("CeDraft.drop", "CeDraft.move", "CeDraft.settle"),
        *("CeIntent.faq", "CePendingActionExecution.settle", "CeResponse.words", "CeRule.health"),
    }
)
MOST_WITHOUT = 17


def list_pages() -> Iterator[tuple[str, Page]]:
    """The pages that may change something, by model and name; by the name alone where all tables have one."""
    _ = get_resolver().url_patterns
    for model, model_admin in admin.site._registry.items():
        if isinstance(model_admin, PagesAdmin):
            for known in model_admin.list_pages():
                if list(known.methods) != ["GET"] and known.name not in SHOWN:
                    yield (known.name if known.name in CALLS else f"{model.__name__}.{known.name}"), known


def test_every_page_that_changes_something_has_a_call_or_a_command() -> None:
    assert {name for name, _ in list_pages()} - CALLS.keys() == WITHOUT


def test_the_list_of_pages_without_one_only_shrinks() -> None:
    assert len(WITHOUT) <= MOST_WITHOUT


@pytest.mark.parametrize("page", CALLS)
def test_the_page_and_the_call_of_a_line_exist(page: str) -> None:
    method, _, address = CALLS[page].rpartition(" ")

    assert page in {name for name, _ in list_pages()}
    if not method:
        assert address in get_commands()
    else:
        assert any(call.address == address and hasattr(call, method.lower()) for call in _CALLS)
