"""While a person has the conversation, the bot stores messages and decides nothing."""
