import json

import gymnasium
import numpy as np
import pytest

from cogmap.environments import AliasedRoom, maze_from_text
from cogmap.errors import BadOutput, BadWalks
from cogmap.records import Walks
from cogmap.walks.record import view_label
from cogmap.walks.sample import sample_walks

minari = pytest.importorskip("minari")
from minari.data_collector import EpisodeBuffer  # noqa: E402
from minari.dataset.minari_storage import MinariStorage  # noqa: E402

from cogmap.walks.minari import read_minari, write_minari  # noqa: E402


def same(first, second):
    names = ("num_observations", "num_actions", "observation_labels", "action_labels")
    assert [getattr(first, name) for name in names] == [getattr(second, name) for name in names]
    for name in ("observations", "actions", "lengths"):
        assert np.array_equal(getattr(first, name), getattr(second, name))


def test_what_is_written_is_read_back(tmp_path):
    walks, _ = sample_walks(maze_from_text("aab\nb#v\naba"), 5, 20, np.random.default_rng(0))
    write_minari(walks, tmp_path / "deep" / "maze-v0")
    same(read_minari(tmp_path / "deep" / "maze-v0"), walks)


def test_lengths_may_differ(tmp_path):
    walks = Walks([[0, 1, 2], [2, 1, 0]], [[0, 1], [1, 0]], [3, 2], 3, 2)
    write_minari(walks, tmp_path / "any name")
    same(read_minari(tmp_path / "any name"), walks)


def test_minari_itself_reads_it(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    walks, _ = sample_walks(AliasedRoom(6, 8), 3, 10, np.random.default_rng(0))
    write_minari(walks, tmp_path / "room-v0")
    dataset = minari.load_dataset("room-v0")
    assert (dataset.total_episodes, dataset.total_steps) == (3, 27)
    for walk, episode in enumerate(dataset.iterate_episodes()):
        assert np.array_equal(episode.observations, walks.observations[walk])
        assert np.array_equal(episode.actions, walks.actions[walk])
        assert episode.truncations.tolist() == [False] * 8 + [True]


@pytest.fixture
def rich(tmp_path):
    """A dataset as others make them: dictionaries of arrays and text, actions from 3 on."""
    storage = MinariStorage.new(
        tmp_path / "rich",
        observation_space=gymnasium.spaces.Dict(
            {"grid": gymnasium.spaces.Box(0, 9, (2,), np.int64), "word": gymnasium.spaces.Text(5)}
        ),
        action_space=gymnasium.spaces.Discrete(2, start=3),
    )
    views = {"grid": np.array([[0, 1], [2, 3], [0, 1]]), "word": ["go", "go", "go"]}
    buffer = EpisodeBuffer(
        observations=views,
        actions=np.array([3, 4]),
        rewards=[0.0, 1.0],
        terminations=[False, True],
        truncations=[False, False],
    )
    storage.update_episodes([buffer])
    storage.update_metadata({"dataset_id": "rich-v0", "minari_version": minari.__version__})
    return tmp_path / "rich"


def test_other_views_become_categorical(rich):
    walks = read_minari(rich)
    assert walks.actions.tolist() == [[0, 1]]
    assert walks.num_observations == 2
    seen = [walks.observation_labels[number] for number in walks.observations[0]]
    first, second = ({"grid": np.array(grid), "word": "go"} for grid in ([0, 1], [2, 3]))
    assert seen == [view_label(first), view_label(second), view_label(first)]
    known = ("other", *walks.observation_labels)
    assert read_minari(rich, observation_labels=known).observations[0].min() == 1


def _edit(path, change):
    file = path / "metadata.json"
    metadata = json.loads(file.read_text())
    change(metadata)
    file.write_text(json.dumps(metadata))


def test_a_dataset_without_spaces_is_refused_before_anything_is_made(rich):
    def change(metadata):
        del metadata["observation_space"]
        metadata["env_spec"] = json.dumps({"id": "Evil-v0", "entry_point": "os:abort"})

    _edit(rich, change)
    with pytest.raises(BadWalks, match="whose metadata contains its spaces"):
        read_minari(rich)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda metadata: metadata.update(total_episodes=2), "must hold all episodes"),
        (lambda metadata: metadata.update(data_format="unheard of"), "must be a Minari dataset"),
        (lambda metadata: metadata.update(action_space="{}"), "must be a Minari dataset"),
    ],
)
def test_damaged_metadata(rich, change, message):
    _edit(rich, change)
    with pytest.raises(BadWalks, match=message):
        read_minari(rich)


def test_damaged_data(rich):
    data = rich / "main_data.hdf5"
    data.write_bytes(data.read_bytes()[:100])
    with pytest.raises(BadWalks, match="must hold all episodes"):
        read_minari(rich)
    data.unlink()
    with pytest.raises(BadWalks, match="must be a Minari dataset"):
        read_minari(rich)


def test_continuous_actions_are_refused(tmp_path):
    box = gymnasium.spaces.Box(0, 1, (1,))
    MinariStorage.new(tmp_path / "box", observation_space=box, action_space=box)
    with pytest.raises(BadWalks, match=r"must have discrete actions, .* has Box"):
        read_minari(tmp_path / "box")


def test_bad_paths(tmp_path):
    with pytest.raises(BadWalks, match=r"cannot read .*nowhere.*No such file"):
        read_minari(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    walks = Walks([[0, 1]], [[0]], [2], 2, 1)
    with pytest.raises(BadOutput, match=r"must be written to a new folder, .*file exists"):
        write_minari(walks, tmp_path / "file")
    with pytest.raises(BadOutput, match=r"cannot write .*Not a directory|cannot write .*File exists"):
        write_minari(walks, tmp_path / "file" / "below")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]  # nothing half-written is left
