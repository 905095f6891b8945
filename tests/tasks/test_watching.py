"""While a map is searched for: its progress, and Ctrl-C."""

import os
import signal
from collections.abc import Callable

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.search.shortest import find_states
from cogmap.signals import Terminated
from cogmap.tasks.watching import watched
from cogmap.training.progress import PlainLines, Silent
from cogmap.walks.sample import sample_walks


class Told(Silent):
    """Keeps what it was told, and does something then."""

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        self.lines: list[str] = []
        self.ended, self._then = False, then

    def now(self, line: str) -> None:
        self.lines.append(line)
        self._then()

    def now_end(self) -> None:
        self.ended = True


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_takes_the_shortest_map_so_far() -> None:
    walks, truth = sample_walks(AliasedRoom(4, 5, 3, seed=0), 40, 100, np.random.default_rng(0))
    guess = truth.positions % 7 * walks.num_observations + walks.observations
    whole, cut = Told(), Told(interrupt)
    with watched(whole, 600.0) as watch:
        best = find_states(walks, [guess], watch=watch)
    assert not watch.interrupted
    with watched(cut, 600.0) as watch:
        found = find_states(walks, [guess], watch=watch)
    assert watch.interrupted
    assert cut.ended
    assert len(cut.lines) == 1 < len(whole.lines)
    assert found.num_states > 0
    assert found.length > best.length
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler


def test_a_second_ctrl_c_and_sigterm_end_it_all() -> None:
    told = Told()
    with watched(told, 1.0):
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        with pytest.raises(Terminated):
            os.kill(os.getpid(), signal.SIGTERM)
    assert told.ended


def test_the_line_says_how_many_places_there_are_and_how_long_it_may_take() -> None:
    told = Told()
    with watched(told, 600.0) as watch:
        assert watch(31)
    assert told.lines == ["searching the map: 31 places, 0 of at most 600 s; Ctrl-C takes what there is"]


def test_plain_lines_tell_of_long_work_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    time = 100.0
    lines = PlainLines(lambda: time)
    for second in range(40):
        time = 100.0 + second
        lines.now(f"after {second}")
    lines.now_end()
    time += 60
    lines.now("other work begins")
    assert capsys.readouterr().out.splitlines() == ["after 15", "after 30"]
