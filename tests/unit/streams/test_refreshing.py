"""Requests to look at documentation on their way: whatever their address is, they can be sent."""

from datetime import UTC, datetime

import pytest

from schemas.knowledge import RefreshRequest
from streams.refreshing import refresh_of


@pytest.mark.parametrize(
    ("url", "key"),
    [("https://a.example/x", "a.example"), ("http://[bad/", "flask"), ("symbol:flask:run", "flask")],
)
def test_a_request_is_keyed_by_its_host_or_its_project(url: str, key: str) -> None:
    now = datetime(2026, 3, 2, tzinfo=UTC)
    request = RefreshRequest(url=url, source="", project="flask", reason="asked", requested_at=now)

    assert refresh_of(request, "/test").key == key
