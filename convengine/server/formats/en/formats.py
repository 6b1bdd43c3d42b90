"""English pages."""

DATETIME_FORMAT = "j M Y, H:i:s"
