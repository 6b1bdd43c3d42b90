"""What the configuration's views share: the release as an entity tag, and writes only if nothing changed since."""

import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from config_admin.releases.active import snapshots
from config_admin.releases.head import lock_head
from config_admin.releases.queries import NoSuchRelease
from convengine.engine.errors import PreconditionFailed, RequestInvalid
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.api.base_view import ApiView

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` of an earlier answer. The answer is 304 without a body if nothing changed.",
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    {"type": "string", "pattern": r'^"\d{1,9}(-[0-9a-f]{8})?"$'},
    OpenApiParameter.HEADER,
    description="The `ETag` of the answer that was edited. 412 if it changed since; nothing is stored then.",
)
_TAG = re.compile(r'^"(\d{1,9})(?:-[0-9a-f]{8})?"$')


class ReleaseView(ApiView):
    """A view of the configuration, for keys with the scope `config`. Its answers have entity tags."""

    scope = "config"

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """The answer with its `ETag`, or 304 for a caller who has it."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if request.method not in ("GET", "HEAD") or response.status_code != 200 or response.streaming:
            return response
        if not getattr(response, "is_rendered", True):
            response.render()
        tag = f'"{snapshots.current().config_version}-{zlib.crc32(response.content):08x}"'
        known = request.headers.get("If-None-Match", "").split(",")
        # It compares weakly.
        if tag in [each.strip().removeprefix("W/") for each in known]:
            response = HttpResponse(status=304)
        response.headers["ETag"] = tag
        return response


@contextmanager
def require_unchanged(request: Request, read: Callable[[Snapshot], object]) -> Iterator[None]:
    """Let no other write come between the check of `If-Match` and the write inside. `read` gives what is compared.

    Raises PreconditionFailed, and RequestInvalid for a tag that no answer has.
    """
    tag = request.headers.get("If-Match")
    if tag is None:
        yield
        return
    match = _TAG.match(tag)
    if match is None:
        raise RequestInvalid(fields={"If-Match": [f"{tag!r} is not valid. Send the ETag of an answer."]})
    with transaction.atomic():
        lock_head()
        try:
            before = snapshots.at(int(match[1]))
        except NoSuchRelease:
            raise PreconditionFailed() from None
        current = snapshots.current()
        if before.config_version != current.config_version and read(before) != read(current):
            raise PreconditionFailed(f"It changed since release {before.config_version}. Read it again.")
        yield
