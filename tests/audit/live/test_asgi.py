import pytest
from django.test import override_settings

from audit.live import asgi
from audit.live.asgi import StreamRequest
from audit.live.messages import StreamCursor
from convengine.engine.errors import TooManyStreams


@pytest.mark.parametrize(("is_key", "limit"), [(True, 3), (False, 2)])
@override_settings(CONVENGINE={"MAX_STREAMS_PER_KEY": 3, "MAX_STREAMS_PER_PERSON": 2})
def test_a_caller_has_its_own_share_of_the_streams(is_key: bool, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    greedy = StreamRequest("c", StreamCursor(0, 0), caller="greedy", is_key=is_key)
    monkeypatch.setattr(asgi, "_streams_per_caller", {"greedy": limit - 1, "other": 0})
    asgi._check_limits(greedy)
    monkeypatch.setattr(asgi, "_streams_per_caller", {"greedy": limit, "other": 0})

    with pytest.raises(TooManyStreams, match="API key" if is_key else "page"):
        asgi._check_limits(greedy)
    asgi._check_limits(StreamRequest("c", StreamCursor(0, 0), caller="other", is_key=is_key))
