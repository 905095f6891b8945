"""`cogmap doctor`: reads the package's own requirements and says which are not there."""

import json

from cogmap.cli import main
from cogmap.report import installation


def test_json_names_what_is_here(capsys):
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["groups"]["core"]["numpy"]
    assert found["devices"][0].startswith("cpu (")
    assert {"core", "gym", "data", "views", "3d", "serve"} <= set(found["groups"])
    assert "dev" not in found["groups"]


def test_requirements_go_by_extra():
    lines = [
        "numpy>=1.26",
        'gymnasium>=1.0; extra == "gym"',
        "minari[hdf5]>=0.5; extra == 'data'",
        'cogmap[gym]; extra == "data"',
        "pytest>=8; extra == 'dev'",
    ]
    assert installation.requirements(lines) == {"core": ["numpy"], "gym": ["gymnasium"], "data": ["minari"]}


def test_what_is_missing_comes_with_the_line_that_installs_it(capsys, monkeypatch):
    monkeypatch.setattr(installation, "_version", lambda name: None if name == "minigrid" else "1.0")
    monkeypatch.setattr(installation, "opens_gl", lambda backend: backend == "osmesa")
    monkeypatch.setattr(installation.metadata, "requires", lambda name: ["numpy", "minigrid; extra == 'gym'"])
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "core: numpy 1.0" in shown
    assert "gym: minigrid MISSING" in shown
    assert 'to install what gym misses: pip install "cogmap[gym]"' in shown
    assert "MuJoCo draws with: MUJOCO_GL=osmesa" in shown
    assert "nothing is missing" not in shown


def test_a_backend_that_does_not_open():
    assert installation.opens_gl("no-such-backend") is False


def test_what_only_an_older_python_can_have_is_not_missed():
    lines = [f"labmaze>=1.0; python_version < '{version}' and extra == '3d'" for version in ("3.0", "99.0")]
    assert installation.requirements(lines[:1]) == {"core": []}
    assert installation.requirements(lines[1:]) == {"core": [], "3d": ["labmaze"]}


def test_where_nothing_draws_the_line_that_fixes_it_is_reported(capsys, monkeypatch):
    monkeypatch.setattr(installation, "opens_gl", lambda backend: False)
    monkeypatch.setattr(installation, "_version", lambda name: "1.0")
    assert main(["doctor"]) == 0
    assert "nothing that opens here; on Debian: apt-get install -y libegl1" in capsys.readouterr().out
