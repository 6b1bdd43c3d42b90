"""Store the new rows of a page that teaches phrases or adds questions with answers."""

from django.contrib import messages
from django.http import HttpRequest

from config_admin.editing.reasons import read_reason
from config_admin.editing.request_change_set import describe_new_release, record_request
from config_admin.transfer.apply_import import ImportRefused, add_document
from config_admin.transfer.document import Document


def add_from_page(request: HttpRequest, document: Document, done: str) -> list[str]:
    """Store new rows with the reason of a page, as one release or in the open draft, and tell the user.

    Returns why they are refused; then nothing is stored.
    """
    try:
        with record_request(request):
            add_document(document, author=request.user.get_username(), reason=read_reason(request))
            # The release first: it is refused where changes go to drafts.
            released = describe_new_release()
            messages.success(request, done)
            messages.success(request, released)
    except ImportRefused as refused:
        return [str(error) for error in refused.plan.errors]
    return []
