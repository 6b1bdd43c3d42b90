"""A page that a user may not open: which right is missing, who has it, and whom to ask."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


class RightMissing(PermissionDenied):
    """The user lacks a right, as `app.codename`."""

    def __init__(self, right: str) -> None:
        super().__init__()
        self.right = right


def require_right(request: HttpRequest, right: str) -> None:
    """Raises RightMissing."""
    user: Any = request.user
    if not user.has_perm(right):
        raise RightMissing(right)
