"""Why a tool gave no result: a stable code and a text."""

from collections.abc import Mapping

from convengine.json_value import Json

#: All codes of the product's executors, with their text. Handlers and tasks may have codes of their own.
FAULTS: Mapping[str, str] = {
    "ANSWER_UNREADABLE": "The answer is cut off, is a page, or has another structure than the tool expects.",
    "BODY_TOO_LARGE": "The answer of an HTTP call is too large.",
    "CIRCUIT_OPEN": "The system behind the tool failed too often and is not called for some time.",
    "COLLECTION_REFUSED": "The tool may not search that collection of documents.",
    "CONNECTION_UNKNOWN": "This installation has no HTTP connection of that name.",
    "DATABASE_UNKNOWN": "This installation has no database of that name for tools.",
    "DB_ERROR": "The database rejected the statement. The message is from the database.",
    "DB_TIMEOUT": "The statement took too long and was cancelled.",
    "DB_UNREACHABLE": "The database cannot be opened.",
    "DIALECT_MISMATCH": "The statement is written for another type of database.",
    "EXPRESSION_INVALID": "The expression is not valid or has no result.",
    "FILES_NOT_CONFIGURED": "File access is not configured.",
    "FILE_NOT_FOUND": "The file does not exist.",
    "FILE_NOT_TEXT": "The file is not a text file.",
    "FILE_REFUSED": "The path is outside the allowed folder.",
    "HEADER_REFUSED": "A tool is not allowed to set this header or value.",
    "REQUEST_INVALID": "The request cannot be sent: check the method, the headers and the address of the tool.",
    "HOST_REFUSED": "The host is not allowed by the connection.",
    "HOST_UNKNOWN": "The host name cannot be resolved.",
    "HTTP_ANSWER": "The answer has an unsupported encoding.",
    "HTTP_IO": "The connection failed.",
    "HTTP_STATUS": "The other system answered with an error. The message has its status.",
    "HTTP_TIMEOUT": "The other system took too long.",
    "IDENTIFIER_REFUSED": "An identifier is not in its list of allowed values.",
    "INVALID_ARGS": "The arguments are not valid for the tool. The message says which.",
    "MAPPING_FAILED": "The answer could not be converted as configured.",
    "NOTIFICATION_FAILED": "The message was not sent.",
    "NO_CALL": "The tool has no HTTP call.",
    "NO_EXECUTOR": "This installation cannot run tools of this group.",
    "NO_SQL": "The tool has no statement.",
    "NO_TASK": "No task of this name is registered.",
    "OVERLOADED": "Too many turns wait for tools already. The tool was not called.",
    "PATH_REFUSED": "An argument would change the path of the request.",
    "PROVIDER_REFUSED": "The provider of a channel did not take a message. The text is from the provider.",
    "PROVIDER_UNKNOWN": "This installation has no channels of that kind.",
    "RECIPIENT_REFUSED": "Tools are not allowed to contact this recipient.",
    "REDIRECT_REFUSED": "The other system answered with a redirect. Redirects are not followed.",
    "RESULT_TOO_DEEP": "The result is nested too deeply.",
    "SAFE_MODE_REQUIRED": "This installation only allows statements that read.",
    "SECRET_MISSING": "This installation has no secret of that name. The message has the variable to set.",
    "SQL_NOT_READONLY": "The statement must be one query that only reads. The message says why.",
    "TASK_FAILED": "The task failed.",
    "PROCESS_DIED": "Processes that worked on it ended three times, so it is not tried again.",
    "RESULT_NOT_STORED": "The database refuses the result.",
    "TOOL_RESULT_INCOMPLETE": "The result lacks what the answer of the state prints. The message says what.",
    "UNKNOWN_TOOL": "No tool has this code.",
}


class ToolFault(Exception):
    """Raised by an executor; the caller turns it into a ToolAnswer, never into a failed turn.

    `stage_payloads` go to the audit as for a success (`ToolAnswer.stage_payloads`).
    """

    #: The status of an HTTP answer; None without one.
    status: int | None = None
    #: What its header `Retry-After` says.
    retry_after: str | None = None
    #: Its body.
    body: bytes = b""

    def __init__(self, code: str, message: str, stage_payloads: Mapping[str, Json] | None = None) -> None:
        self.code = code
        self.message = message
        self.stage_payloads = dict(stage_payloads or {})
        super().__init__(f"{code}: {message}")
