"""The three formats by example, and a second file read in the vocabulary of a first."""

import json

import numpy as np
import pytest
from walk_files import ACTIONS, COLOURS, OBSERVATIONS, save_npz, save_text
from walk_strategies import unlike

from cogmap.errors import BadWalks
from cogmap.records import Walks
from cogmap.walks.store import load_walks, save_walks


def test_npz_of_two_arrays(tmp_path):
    walks = load_walks(save_npz(tmp_path, observations=OBSERVATIONS, actions=ACTIONS))
    assert unlike(walks, Walks(OBSERVATIONS, ACTIONS, np.array([3, 3]), 3, 2)) == []


def test_npz_as_many_actions_as_observations(tmp_path):
    with_last = np.column_stack([ACTIONS, [7, 7]])
    walks = load_walks(save_npz(tmp_path, observations=OBSERVATIONS, actions=with_last))
    assert walks.actions.tolist() == ACTIONS.tolist()
    assert walks.num_actions == 2


def test_npz_states_its_vocabulary_and_ignores_what_lies_past_a_walk(tmp_path):
    observations = np.array([[0, 1, -1], [2, 0, 0]])
    lengths = np.array([2, 3])
    actions = np.array([[1, -9], [1, 1]])
    path = save_npz(
        tmp_path,
        observations=observations,
        actions=actions,
        lengths=lengths,
        num_observations=9,
        num_actions=5,
    )
    walks = load_walks(path)
    assert (walks.num_observations, walks.num_actions) == (9, 5)
    assert walks.observations.tolist() == [[0, 1, 0], [2, 0, 0]]
    assert walks.actions.tolist() == [[1, 0], [1, 1]]


def test_jsonl_of_strings_and_any_lengths(tmp_path):
    short = '{"observations": ["b", "a"], "actions": ["go"]}'
    long = '{"observations": ["c", "a", "b"], "actions": ["go", "up", "x"]}'
    walks = load_walks(save_text(tmp_path, "w.jsonl", f"{short}\n\n{long}"))
    assert walks.observation_labels == ("a", "b", "c")
    assert walks.action_labels == ("go", "up")
    assert walks.observations.tolist() == [[1, 0, 0], [2, 0, 1]]
    assert walks.actions.tolist() == [[0, 0], [0, 1]]
    assert walks.lengths.tolist() == [2, 3]


def test_csv_with_named_and_alternating_walks(tmp_path):
    rows = "x,0,red,1\ny,0,blue,0\nx,1,red,0\ny,1,red,\nx,2,blue,5\n"  # the action 5 leads nowhere
    walks = load_walks(save_text(tmp_path, "w.csv", "walk,step,observation,action\n" + rows))
    assert walks.observation_labels == ("blue", "red")
    assert walks.observations.tolist() == [[1, 1, 0], [0, 1, 0]]
    assert walks.actions.tolist() == [[1, 0], [0, 0]]
    assert walks.action_labels is None
    assert walks.num_actions == 2
    assert walks.lengths.tolist() == [3, 2]


def test_csv_from_a_spreadsheet(tmp_path):
    text = '\ufeffwalk,step,observation,action\r\n0,0,"a ""b"", c",0\r\n0,1,d,\r\n'
    walks = load_walks(save_text(tmp_path, "w.csv", text))
    assert walks.observation_labels == ('a "b", c', "d")


def test_written_csv_is_the_contract_to_the_letter(tmp_path):
    save_walks(tmp_path / "w.csv", COLOURS)
    lines = (tmp_path / "w.csv").read_text().splitlines()
    assert lines[:4] == ["walk,step,observation,action", "0,0,red,turn", "0,1,blue,go", "0,2,grey,"]


def test_written_jsonl_is_the_contract_to_the_letter(tmp_path):
    save_walks(tmp_path / "w.jsonl", COLOURS)
    first, second = (json.loads(line) for line in (tmp_path / "w.jsonl").read_text().splitlines())
    assert second == {"observations": ["grey", "red", "red"], "actions": ["turn", "turn"]}
    assert first["observations"] == ["red", "blue", "grey"]
    assert first["observation_labels"] == ["red", "blue", "grey", "black"]


def test_labels_of_a_second_file_take_the_numbers_of_the_first(tmp_path):
    text = '{"observations": ["grey", "blue"], "actions": ["go"]}'
    walks = load_walks(save_text(tmp_path, "w.jsonl", text), like=COLOURS)
    assert walks.observations.tolist() == [[2, 1]]
    assert walks.observation_labels == COLOURS.observation_labels
    assert (walks.num_observations, walks.num_actions) == (4, 2)


def test_npz_labels_in_another_order_are_matched_by_name(tmp_path):
    path = save_npz(
        tmp_path,
        observations=OBSERVATIONS,
        actions=ACTIONS,
        observation_labels=np.array(["grey", "red", "blue", "unused"]),
    )
    assert load_walks(path, like=COLOURS).observations.tolist() == [[2, 0, 1], [1, 2, 2]]


def test_bare_integers_are_places_in_the_known_vocabulary(tmp_path):
    path = save_npz(tmp_path, observations=OBSERVATIONS, actions=ACTIONS)
    walks = load_walks(path, like=COLOURS)
    assert walks.observations.tolist() == OBSERVATIONS.tolist()
    assert walks.observation_labels == COLOURS.observation_labels


def test_csv_digits_are_labels_where_the_known_labels_have_digits(tmp_path):
    digits = Walks(OBSERVATIONS, ACTIONS, np.array([3, 3]), 3, 2, observation_labels=("7", "x", "1"))
    text = "walk,step,observation,action\n0,0,1,0\n0,1,7,\n"
    assert load_walks(save_text(tmp_path, "w.csv", text), like=digits).observations.tolist() == [[2, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"observations": ["red", "mauve"], "actions": ["go"]}',
            r"w\.jsonl: label 'mauve' \(the observation of walk 0, step 1\) is not known, the labels are",
        ),
        (
            '{"observations": ["red", "red"], "actions": ["fly"]}',
            r"label 'fly' \(the action of walk 0, step 0\) is not known, the labels are 'go', 'turn'",
        ),
        (
            '{"observations": [0, 9], "actions": [0]}',
            r"`observations` must be in \[0, 4\), got 0 to 9",
        ),
    ],
)
def test_what_the_first_file_does_not_know(tmp_path, text, message):
    with pytest.raises(BadWalks, match=message):
        load_walks(save_text(tmp_path, "w.jsonl", text), like=COLOURS)


def test_labels_where_the_first_file_has_none(tmp_path):
    integers = Walks(OBSERVATIONS, ACTIONS, np.array([3, 3]), 3, 2)
    text = '{"observations": ["red", "red"], "actions": [0]}'
    with pytest.raises(
        BadWalks, match="every observation must be an integer, as in the walks to match, got the lab"
    ):
        load_walks(save_text(tmp_path, "w.jsonl", text), like=integers)
