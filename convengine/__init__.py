"""ConvEngine: a conversation engine that is driven by rows which analysts edit."""
