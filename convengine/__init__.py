"""ConvEngine: a conversation engine that is driven by rows which analysts edit."""

#: `make release` writes it; the package takes its version from here.
__version__ = "0.10.0"
