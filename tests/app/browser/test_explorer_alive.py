"""The explorer while things change: a run that trains, a map that is replaced, a server that goes and comes back."""

import numpy as np
from served_runs import ROOM, ROWS, found_map, write_config, write_rows, write_run
from serving import serving

from cogmap.evaluation.concepts import NodeConcepts
from cogmap.maps.store import save_map


def test_a_map_appears_while_the_run_trains_without_a_reload(browser, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    write_config(run)
    with serving(run) as server:
        browser.open(server.address)
        browser.wait(lambda: browser.text("#state-words") == "Waiting for the first steps", "the state")
        assert browser.text("#empty .big") == "No map yet"
        browser.click("#tab-replay")
        assert browser.text("#replay-none").startswith("There are no walks to replay")
        browser.click("#tab-run")
        browser.run("window.opened = true")
        write_rows(run, ROWS)
        browser.wait(
            lambda: "Training · step 200 of 6,000 · 90.0% predicted" in browser.text("#state-words"),
            "progress",
        )
        browser.wait(lambda: browser.all("#curves .chart"), "curves")
        browser.picture("training")
        save_map(run / "map.npz", found_map())
        browser.wait_for_map(48)
        assert not browser.find("#empty").is_displayed()
        browser.click("#tab-plan")
        browser.click_node(0)
        browser.click_node(47)
        assert len(browser.steps()) == 12
        assert browser.run("return window.opened")
        assert browser.said() == []


def test_a_server_that_is_gone_is_reported_and_nothing_is_lost_when_it_is_back(browser, tmp_path):
    with serving(*write_run(tmp_path)) as server:
        browser.open(server.address)
        browser.wait_for_map(48)
        browser.click("#tab-walk")
        browser.click("#walk-begin")
        browser.wait(lambda: browser.text("#walk-seen"), "an observation")
        browser.click("#pad .right")
        browser.wait(lambda: len(browser.all("#walk-steps li")) == 2, "a step")
        before = [item.text for item in browser.all("#walk-steps li")]
        server.kill()
        browser.click("#pad .down")
        browser.wait(lambda: "does not answer" in browser.text("#banner"), "the banner")
        browser.picture("gone")
        browser.click_node(0)  # opens the plan, which needs no server
        browser.click_node(47)
        assert len(browser.steps()) == 12
        server.start()
        browser.wait(lambda: not browser.find("#banner").is_displayed(), "the banner to go")
        browser.click("#tab-walk")
        browser.wait(lambda: len(browser.all("#walk-steps li")) == 3, "the step that was waiting")
        after = [item.text.split("\n")[:3] for item in browser.all("#walk-steps li")]
        assert after[1:] == [item.split("\n")[:3] for item in before]
        browser.click("#pad .left")
        browser.wait(lambda: len(browser.all("#walk-steps li")) == 4, "a step after it")


def test_a_replaced_map_clears_the_ends_that_mean_nothing_on_it(browser, tmp_path):
    run, walks = write_run(tmp_path)
    with serving(run, walks) as server:
        browser.open(server.address)
        browser.wait_for_map(48)
        browser.click_node(0)
        browser.click_node(47)
        browser.click("#avoid button:nth-child(2)")
        smaller = found_map()
        keep = np.arange(smaller.num_edges) % 7 > 0
        save_map(run / "map.npz", replace_edges(smaller, keep))
        script = "return document.getElementById('map').mapView.map.edges.source.length"
        browser.wait(lambda: browser.run(script) == keep.sum(), "the new map")
        assert browser.text("#message") == "Choose a start."
        assert browser.find("#avoid button:nth-child(2)").get_attribute("aria-pressed") == "true"


def replace_edges(found, keep):
    from dataclasses import replace

    from cogmap.records import EDGE_FIELDS

    kept = {name: getattr(found, name) for name in EDGE_FIELDS}
    return replace(found, **{name: value[keep] for name, value in kept.items() if value is not None})


def test_views_are_shown_at_nodes_and_concepts_colour_them(browser, tmp_path):
    run, walks = write_run(tmp_path)
    views = np.random.default_rng(0).integers(0, 255, (5, 16, 16, 3), dtype=np.uint8)
    np.savez(run / "views.npz", views=views, view_of_node=np.arange(48) % 5)
    concept = (np.arange(48) % 2).astype(np.int32)
    NodeConcepts(("town", "country"), concept, 0.9, 0.9, 0.8, 0.8).save(run / "concepts.json")
    with serving(run, walks) as server:
        browser.open(server.address)
        browser.wait_for_map(48)
        x, y = browser.place_of(7)
        browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        browser.wait(lambda: browser.find("#card").is_displayed(), "the node's card")
        assert browser.text("#card h3") == f"Node 7: {ROOM.observation_labels[ROOM.observation[7]]}"
        assert "country" in browser.text("#card .note")
        loaded = "const picture = document.querySelector('#card img'); return picture.complete && picture.naturalWidth"
        assert browser.wait(lambda: browser.run(loaded), "the view") == 16
        browser.click("#show-concepts")
        colours = browser.run("return [...new Set(document.getElementById('map').mapView.map.nodeColours)]")
        assert len(colours) == 2
        for _ in range(4):
            browser.click("[data-view=in]")
        browser.wait(
            lambda: any("/api/view/" in address for address in browser.asked_for()), "views on the map"
        )
        browser.picture("views_and_concepts")
        assert browser.said() == []
