"""What a model writes besides its answer: its thoughts, tokens of its template, calls of tools that nobody offered."""

import re

_THOUGHT = r"(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad)"
_OPEN = (
    rf"(?:<(?:\w+:)?{_THOUGHT}(?:\s[^<>]*)?(?<!/)>|\[THINK\]|◁{_THOUGHT}▷|<\|channel>"
    rf"|<\|(?:(?:begin|start)_of_)?{_THOUGHT}(?:_(?:begin|start))?\|>)"
)
_CLOSE = (
    rf"(?:</(?:\w+:)?{_THOUGHT}\s*>|\[/THINK\]|◁/{_THOUGHT}▷|<channel\|>"
    rf"|<\|(?:/|end_of_){_THOUGHT}\|>|<\|{_THOUGHT}_end\|>)"
)
_THOUGHT_MARKS = re.compile(rf"(?P<open>{_OPEN})|{_CLOSE}", re.IGNORECASE)
_CALL = r"tool[_▁]calls?(?:[_▁]section)?"
_CALLS = re.compile(
    r"<(tool_calls?|tool_responses?|tool_code|function_calls?|function(?==))\b[^<>]*>.*?(?:</\1\s*>|\Z)"
    rf"|<[|｜]{_CALL}[_▁]begin[|｜]>.*?(?:<[|｜]{_CALL}[_▁]end[|｜]>|\Z)"
    r"|<\|tool_call>.*?(?:<tool_call\|>|\Z)"
    r"|(?:\[TOOL_CALLS\]|<\|(?:python_tag|tool_calls?)\|>).*\Z",
    re.DOTALL,
)
#: The parts of an answer in channels: only the final one is for the user.
_CHANNEL, _MESSAGE, _FINAL = "<|channel|>", "<|message|>", "final"
_TURN = r"(?:<\|(?:im_start|start|start_header_id|start_of_role)\|>|<start_of_turn>)\s*"
#: After these a model goes on with what somebody else might say.
_ENDS = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|call|user|human)\|>"
    rf"|<｜(?:end▁of▁sentence|User)｜>|<eos>|<end_of_turn>|{_TURN}(?:user|human|system|tool)\b"
)
#: Who speaks, as templates of chats say it.
_SPEAKER = re.compile(rf"{_TURN}(?:assistant|model)?(?:<\|end_(?:header_id|of_role)\|>)?")
_TOKENS = re.compile(
    rf"<[|｜][^<>|｜\s]{{1,40}}[|｜]>|<(?:bos|pad|unk|{_THOUGHT}\s*/)>|\[/?INST\]|<</?SYS>>|\A\s*<s>|</s>\s*\Z"
)
#: A frame around the whole answer, as models of thoughts learn it.
_FRAME = re.compile(r"\A<(answer|final|response|output|solution)>(.*)</\1>\Z", re.DOTALL | re.IGNORECASE)


def clean_answer(text: str) -> str:
    """The answer in a model's text; blank if it has only thoughts or calls."""
    rest = _CALLS.sub("", _strip_thoughts(_choose_channel(text.strip("\ufeff\u200b"))))
    parts = (_TOKENS.sub("", _SPEAKER.sub("", part)).strip() for part in _ENDS.split(rest))
    answer = next(filter(None, (_FRAME.sub(r"\2", part).strip() for part in parts)), "")
    return text if answer == text.strip() else answer


def _choose_channel(text: str) -> str:
    """The final part of an answer in channels; the text without channels as it is."""
    _, *channels = text.split(_CHANNEL)
    if not channels:
        return text
    final = [part.partition(_MESSAGE)[2] for part in channels if part.lstrip().startswith(_FINAL)]
    return final[-1] if final else ""


def _strip_thoughts(text: str) -> str:
    """The text without thoughts.

    Some services leave out the first mark, and an answer that is cut off has no last one.
    """
    parts, end, is_thinking = list[str](), 0, False
    for mark in _THOUGHT_MARKS.finditer(text):
        if mark["open"]:
            parts += [] if is_thinking else [text[end : mark.start()]]
            is_thinking = True
        else:
            parts = parts if is_thinking else []
            end, is_thinking = mark.end(), False
    return "".join(parts) if is_thinking else "".join((*parts, text[end:]))
