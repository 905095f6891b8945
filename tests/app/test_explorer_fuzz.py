"""Requests that nobody thought of: no 500, and no answer but those that are described."""

import pytest
from explorer_fuzz import Requests


def test_made_up_requests_are_answered_or_refused_as_described(tmp_path):
    requests = Requests(tmp_path)
    requests.send(examples=6)
    assert requests.count > 100
    assert max(requests.statuses) < 500
    assert requests.statuses[200] > 10


@pytest.mark.learning
@pytest.mark.parametrize("quarter", range(4))
def test_ten_thousand_of_them(tmp_path, quarter):
    requests, rounds = Requests(tmp_path), 0
    while requests.count < 2500:
        requests.send(examples=40, chance=100 * quarter + rounds)
        rounds += 1
    print(f"{requests.count} requests, by status: {dict(sorted(requests.statuses.items()))}")
    assert max(requests.statuses) < 500
