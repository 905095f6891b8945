"""Debian's chromium, driven as a reader would use it: real clicks, keys and fingers, everything it says noted."""

import json
import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
PATIENCE = 20  # seconds, on a machine that does other things too
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --window-size=1360,860"
)


@contextmanager
def started(profile, *flags):
    """A browser of its own profile, ended on the way out."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in [*_FLAGS.split(), *flags, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield Page(driver)
    finally:
        driver.quit()


class Page:
    """One tab. `said` and `asked_for` empty the browser's logs: call them once, at the end."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, address, width=1360, height=860, dark=False, touch=False):
        """Open an address as for the first time, on a screen of this size."""
        self.driver.get("about:blank")
        self.command("Storage.clearDataForOrigin", origin="*", storageTypes="all")
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=touch,
        )
        self.command("Emulation.setTouchEmulationEnabled", enabled=touch)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.command("Emulation.setEmulatedMedia", features=[scheme, still])
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(address)

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def text(self, selector):
        return self.find(selector).text

    def click(self, selector):
        self.find(selector).click()

    def press(self, *keys):
        """Keys for whatever has the focus."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def wait(self, condition, what, patience=PATIENCE):
        """Until `condition()` is true; its value. `what` it was is said when it never is."""
        ends = time.monotonic() + patience
        while time.monotonic() < ends:
            value = condition()
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"not within {patience} s: {what}; the browser says {self.said()}")

    def wait_for_map(self, nodes):
        script = "return document.getElementById('map')?.mapView?.scene?.count"
        self.wait(lambda: self.run(script) == nodes, f"a map of {nodes} nodes")
        self.driver.execute_async_script(  # at rest: a finger on a page that still paints is taken for no tap
            "const done = arguments[arguments.length - 1];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)));"
        )

    def place_of(self, node):
        """Where a node is, in pixels of the window, scrolled into sight."""
        return self.run(
            "const host = document.getElementById('map'); host.scrollIntoView({block: 'nearest'});"
            "const box = host.getBoundingClientRect(); const [x, y] = host.mapView.placeOf(arguments[0]);"
            "return [Math.round(box.left + x), Math.round(box.top + y)];",
            node,
        )

    def click_node(self, node):
        x, y = self.place_of(node)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = "none" if kind == "mouseMoved" else "left"
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def tap_node(self, node):
        x, y = self.place_of(node)
        self.command("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def steps(self):
        """The plan's steps as (action, observation)."""
        rows = self.run(
            "return [...document.querySelectorAll('#steps li')]"
            ".map((item) => [item.querySelector('.action').textContent, item.querySelector('.seen').textContent])"
        )
        return [tuple(row) for row in rows]

    def violations(self):
        """What axe finds wrong, a line each."""
        self.run(AXE.read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document, {resultTypes: ['violations']}).then((result) => done(result.violations));"
        )
        return [
            f"{one['id']}: {one['help']}: {node['target']} {node.get('failureSummary', '')}"
            for one in found
            for node in one["nodes"]
        ]

    def said(self):
        """Warnings and errors in the console since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]

    def asked_for(self):
        """Every address that was requested since the page was opened."""
        told = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [one for one in told if one["method"] == "Network.requestWillBeSent"]
        return [one["params"]["request"]["url"] for one in sent]

    def hosts(self):
        return {urlsplit(address).netloc for address in self.asked_for() if address.startswith("http")}

    def picture(self, name):
        """A screenshot to be looked at, if COGMAP_SCREENSHOTS names a folder."""
        folder = os.environ.get("COGMAP_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(Path(folder) / f"{name}.png"))
