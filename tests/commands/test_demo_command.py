"""The demo: the story from beginning to end, and only its own files are ever taken away."""

import pytest

from cogmap.cli import main
from cogmap.experiments import demos
from cogmap.tasks.learning import learn


@pytest.fixture
def small(monkeypatch):
    """A story told in seconds; what is learned in them is not the point."""

    def learn_little(walks, out, **options):
        little = {"num_codes": 50, "width": 32, "bottleneck_from": 0, "steps": 5}
        return learn(walks, out, **options | little)

    monkeypatch.setattr(demos, "learn", learn_little)
    for name, value in {"HEIGHT": 4, "WIDTH": 5, "ROOM_WALKS": (12, 6), "STEPS": 40}.items():
        monkeypatch.setattr(demos, name, value)


def test_the_story_leaves_everything_to_go_on_with(small, tmp_path, capsys):
    out = tmp_path / "demo"
    assert main(["demo", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    for stage in range(1, 6):
        assert f"[{stage}/5]" in told
    assert "TDB(S=3, M=1), in the paper" in told
    assert f"  cogmap plan {out}/runs/room --walks {out}/test.npz --from 3:50 --to 3:350 --avoid 1" in told
    for name in (
        "room.npz",
        "test.truth.npz",
        "runs/room/map.npz",
        "runs/room_one_step/scores.json",
        "report.html",
    ):
        assert (out / name).is_file()


def test_an_earlier_demo_is_cleared_away_and_nothing_else(tmp_path):
    for name in (
        "demo.json",
        "room.npz",
        "runs/room/map.npz",
        "runs/mine/map.npz",
        "figures/map.svg",
        "notes.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    demos.make_room_for(tmp_path)
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert left == ["demo.json", "notes.txt", "runs/mine/map.npz"]


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_place_of_someone_else_is_left_alone(tmp_path, capsys, kind):
    out = tmp_path / "mine"
    if kind == "folder":
        out.mkdir()
        (out / "report.html").write_text("mine")
    else:
        out.write_text("mine")
    assert main(["demo", "--out", str(out)]) == 2
    assert capsys.readouterr().err == (
        f"cogmap: the demo folder must be new, empty or made by an earlier demo, {out} is not: give another --out\n"
    )
    assert (out / "report.html" if kind == "folder" else out).read_text() == "mine"


def test_steps_must_be_above_zero_before_anything_is_written(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "demo"), "--steps", "0"]) == 2
    assert capsys.readouterr().err == "cogmap: `--steps` must be at least 1, got 0\n"
    assert not (tmp_path / "demo").exists()
