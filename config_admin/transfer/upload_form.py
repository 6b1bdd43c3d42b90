"""The form of a file that is uploaded once: pages that ask before they use it send it back packed."""

import base64
import binascii
import zlib
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from convengine.server.deployment import conf


class UploadForm(forms.Form):
    """A new file, or the packed one that the page has."""

    #: What to choose, and what to do about a file that is too large.
    file_missing: ClassVar[str]
    too_large: ClassVar[str]

    file = forms.FileField(required=False)
    name = forms.CharField(required=False)
    packed = forms.CharField(required=False, strip=False)

    def clean(self) -> dict[str, Any]:
        """The file as bytes under `data`."""
        cleaned: dict[str, Any] = super().clean() or {}
        limit = conf.get("MAX_IMPORT_BYTES")
        if sent := cleaned.get("file"):
            cleaned["name"], cleaned["data"] = sent.name, sent.read(limit + 1)
        elif cleaned.get("packed"):
            try:
                packed = base64.b64decode(cleaned["packed"], validate=True)
                # At most one byte more than the limit.
                cleaned["data"] = zlib.decompressobj().decompress(packed, limit + 1)
            except (binascii.Error, ValueError, zlib.error):
                raise ValidationError("The uploaded file is no longer available. Choose it again.") from None
        elif "file" not in self.errors:
            self.add_error("file", self.file_missing)
        if len(cleaned.get("data", b"")) > limit:
            self.add_error("file", f"The file is larger than {limit} bytes. {self.too_large}")
        return cleaned

    def pack(self) -> dict[str, str]:
        """The file for the hidden inputs of the page."""
        given = self.cleaned_data
        return {"packed": base64.b64encode(zlib.compress(given["data"])).decode(), "name": given["name"]}
