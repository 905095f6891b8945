"""One browser for each process of tests, one server for the run that most of them look at."""

import os
from dataclasses import replace

import pytest
from chromium import BROWSER, DRIVER, started
from report_material import merged_map
from served_runs import ROOM, write_run
from serving import serving

from cogmap.maps.store import save_map


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """The browser; without one the tests are skipped, or fail where COGMAP_BROWSER=required."""
    if BROWSER is None or DRIVER is None:
        missing = (
            "needs chromium and chromedriver: scripts/install_browser.sh installs them as root on Debian"
        )
        if os.environ.get("COGMAP_BROWSER") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    with started(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="session")
def room_run(tmp_path_factory):
    """A run whose paper's map merges places that look alike."""
    run, walks = write_run(tmp_path_factory.mktemp("served"))
    save_map(run / "map.paper.npz", replace(merged_map(ROOM)[0], kind="paper"))
    return run, walks


@pytest.fixture(scope="session")
def address(room_run):
    with serving(*room_run) as server:
        yield server.address


@pytest.fixture
def page(browser, address):
    """The explorer, just opened."""
    browser.open(address)
    browser.wait_for_map(48)
    return browser
