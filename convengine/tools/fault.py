"""Why a tool gave no result: a stable code and a text (pipeline-2 3.3, 16.2)."""

from collections.abc import Mapping
from typing import Any

Json = Any
#: Every code that the executors of the product give, and what it says. Handlers and tasks may have codes of their own.
FAULTS: Mapping[str, str] = {
    "BODY_TOO_LARGE": "The answer of an HTTP call is larger than is read.",
    "CIRCUIT_OPEN": "What stands behind the tool failed too often, and is left alone for a while.",
    "COLLECTION_REFUSED": "The tool may not search that collection of documents.",
    "CONNECTION_UNKNOWN": "This installation has no HTTP connection of that name.",
    "DATABASE_UNKNOWN": "This installation has no database of that name for tools.",
    "DB_ERROR": "The database refused the statement; the message is its own.",
    "DB_TIMEOUT": "The statement took longer than it may, and was ended.",
    "DB_UNREACHABLE": "The database cannot be opened.",
    "DIALECT_MISMATCH": "The statement is written for another kind of database than the one it is to run on.",
    "EXPRESSION_INVALID": "The expression cannot be read, or has no value.",
    "FILES_NOT_CONFIGURED": "This installation shows no files.",
    "FILE_NOT_FOUND": "There is no such file.",
    "FILE_NOT_TEXT": "The file is no text.",
    "FILE_REFUSED": "The path leads out of the folder of files, or to what is not shown.",
    "HEADER_REFUSED": "A tool may not set this header, or not to this value.",
    "HOST_REFUSED": "The address is not among the hosts of the connection.",
    "HOST_UNKNOWN": "The name of the host cannot be resolved.",
    "HTTP_ANSWER": "The answer is encoded in a way that nobody asked for.",
    "HTTP_IO": "The connection failed on the way.",
    "HTTP_STATUS": "The other side answered with an error; the message has its status.",
    "HTTP_TIMEOUT": "The other side took longer than it may.",
    "IDENTIFIER_REFUSED": "A name that is filled in as an identifier is not in its list.",
    "INVALID_ARGS": "The arguments are not what the tool takes; the message says which.",
    "MAPPING_FAILED": "The answer came, but nothing could be made of it as the row says.",
    "NOTIFICATION_FAILED": "The message was not sent.",
    "NO_CALL": "Nothing says which HTTP call the tool makes.",
    "NO_EXECUTOR": "This installation has nothing that runs tools of this group.",
    "NO_SQL": "Nothing says which statement the tool runs.",
    "NO_TASK": "No task of this name is registered.",
    "PATH_REFUSED": "An argument would lead the path elsewhere.",
    "RECIPIENT_REFUSED": "Tools may not write to this recipient.",
    "REDIRECT_REFUSED": "The other side sent the call elsewhere; that is not followed.",
    "RESULT_TOO_DEEP": "The result is nested deeper than is kept.",
    "SAFE_MODE_REQUIRED": "This installation runs read-only statements only.",
    "SQL_NOT_READONLY": "The statement is not one query that only reads; the message says why.",
    "TASK_FAILED": "The task failed, or said so.",
    "UNKNOWN_TOOL": "No tool has this code, or its server does not have it.",
}


class ToolFault(Exception):
    """What an executor raises; the caller turns it into a ToolAnswer, never into a failed turn.

    `told` goes to the audit as it does for a success (`ToolAnswer.told`).
    """

    def __init__(self, code: str, message: str, told: Mapping[str, Json] | None = None) -> None:
        self.code = code
        self.message = message
        self.told = dict(told or {})
        super().__init__(f"{code}: {message}")
