"""Where conversations happen: channels of messages such as Telegram."""
