"""What a model writes besides its answer: its thoughts, tokens of its template, calls of tools that nobody offered."""

import re
from collections.abc import Iterator

_THOUGHT = r"(?:\w+:)?(?:think|thinking|thoughts?|reasoning)"
_OPEN = rf"(?:<{_THOUGHT}(?:\s[^<>]*)?>|\[THINK\]|◁think▷|<\|channel>)"
_CLOSE = rf"(?:</{_THOUGHT}\s*>|\[/THINK\]|◁/think▷|<channel\|>)"
#: Some services leave out the first mark, and an answer that is cut off has no last one.
_THOUGHTS = re.compile(rf"\A(?:(?!{_OPEN}).)*?{_CLOSE}|{_OPEN}.*?(?:{_CLOSE}|\Z)", re.DOTALL | re.IGNORECASE)
_CALLS = re.compile(
    r"<(tool_calls?|function_calls?)\b[^<>]*>.*?(?:</\1\s*>|\Z)"
    r"|<｜tool▁calls▁begin｜>.*?(?:<｜tool▁calls▁end｜>|\Z)"
    r"|(?:\[TOOL_CALLS\]|<\|python_tag\|>).*\Z",
    re.DOTALL,
)
#: The parts of an answer in channels: only the final one is for the user.
_CHANNEL, _MESSAGE, _FINAL = "<|channel|>", "<|message|>", "final"
#: After these a model goes on with what somebody else might say.
_ENDS = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|call)\|>|<｜end▁of▁sentence｜>|<eos>|<end_of_turn>"
)
#: Who speaks, as templates of chats say it.
_SPEAKER = re.compile(
    r"(?:<\|(?:im_start|start|start_header_id)\|>|<start_of_turn>)\s*(?:assistant|model)?(?:<\|end_header_id\|>)?"
)
_TOKENS = re.compile(r"<[|｜][^<>|｜\s]{1,40}[|｜]>|<(?:bos|pad|unk)>|\[/?INST\]|<</?SYS>>|\A\s*<s>|</s>\s*\Z")


def clean_answer(text: str) -> str:
    """The answer in a model's text; blank if it has only thoughts or calls."""
    rest = _CALLS.sub("", _strip_thoughts(_choose_channel(text.strip("\ufeff\u200b"))))
    answer = next((part for part in _list_parts(rest) if part), "")
    return text if answer == text.strip() else answer


def _choose_channel(text: str) -> str:
    """The final part of an answer in channels; the text without channels as it is."""
    _, *channels = text.split(_CHANNEL)
    if not channels:
        return text
    final = [part.partition(_MESSAGE)[2] for part in channels if part.lstrip().startswith(_FINAL)]
    return final[-1] if final else ""


def _strip_thoughts(text: str) -> str:
    while (shorter := _THOUGHTS.sub("", text)) != text:
        text = shorter
    return text


def _list_parts(text: str) -> Iterator[str]:
    for part in _ENDS.split(text):
        yield _TOKENS.sub("", _SPEAKER.sub("", part)).strip()
