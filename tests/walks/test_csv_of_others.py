"""Tables as other programs write them: read where the meaning is clear, otherwise the line and what was expected."""

import json

import numpy as np
import pytest
from walk_files import save_text

from cogmap.errors import BadWalks
from cogmap.walks.store import load_walks, save_walks

PLAIN = "walk,step,observation,action\na,0,red,go\na,1,blue,stop\na,2,red,\nb,0,blue,go\nb,1,red,\n"


def same(tmp_path, text, name="other.csv"):
    """Whether a text reads as the plain one does."""
    plain, other = (
        load_walks(save_text(tmp_path, "w.csv", PLAIN)),
        load_walks(save_text(tmp_path, name, text)),
    )
    assert other.observation_labels == plain.observation_labels
    assert other.action_labels == plain.action_labels
    for field in ("observations", "actions", "lengths"):
        np.testing.assert_array_equal(getattr(other, field), getattr(plain, field))


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", ", "),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("walk,step,observation,action", "Episode, Time ,OBS,Action"),
        PLAIN.replace("walk,step,observation,action", "Lauf,Schritt,Beobachtung,Aktion"),
        PLAIN.replace("walk,step,observation,action", "parcours,étape,observation,action"),
        PLAIN.replace("walk,step,observation,action", "эпизод,шаг,наблюдение,действие"),
        PLAIN.replace("walk,step,observation,action", "回合,时间,观察,动作"),
        PLAIN.replace("walk,step,observation,action", "visitor,created_at,page,event"),
        PLAIN.replace(",", "|"),
        PLAIN.replace("a,2,red,\n", "a,2,red,stop\n"),  # an action on the last step leads nowhere
        PLAIN.replace("b,", "a,"),  # two walks with one name: its steps start again
        PLAIN.replace(",2,", ",3,").replace(",1,", ",2,").replace(",0,", ",1,"),  # counted from 1
        PLAIN.replace(",0,", ",2024-05-01 10:00,")
        .replace(",1,", ",2024-05-01 10:01,")
        .replace(",2,", ",2024-05-02,"),
        PLAIN.replace(",0,", ",01.05.2024 10:00,")
        .replace(",1,", ",31.05.2024 10:00,")
        .replace(",2,", ",01.06.2024 09:00,"),
        PLAIN.replace(",0,", ",9:58:01,").replace(",1,", ",09:58:02,").replace(",2,", ",10:00:00,"),
        PLAIN.replace(",0,", ",5/1/2024 9:59 AM,")
        .replace(",1,", ",5/31/2024 1:00 PM,")
        .replace(",2,", ",5/31/2024 2:00 PM,"),
        PLAIN.replace(",0,", ",1714550000,").replace(",1,", ",1714550007,").replace(",2,", ",1714550009,"),
        PLAIN.replace(",", ";").replace(";0;", ";0,0;").replace(";1;", ";0,5;").replace(";2;", ";1,25;"),
    ],
)
def test_the_same_walks(tmp_path, text):
    same(tmp_path, text)


def test_columns_in_another_order_with_one_that_is_not_read(tmp_path):
    same(
        tmp_path,
        "action,time,walk,observation,step\ngo,0.9,a,red,0\nstop,0.8,a,blue,1\n,0.8,a,red,2\ngo,1,b,blue,0\n,1,b,red,1\n",
    )


def test_without_walk_and_step_all_rows_are_one_walk(tmp_path):
    walks = load_walks(save_text(tmp_path, "w.csv", "observation,action\nred,go\nblue,stop\nred,\n"))
    assert walks.lengths.tolist() == [3]


def test_whole_numbers_of_a_spreadsheet(tmp_path):
    text = "walk;step;observation;action\n0;0;2,0;1.0\n0;1;1,0;\n"
    walks = load_walks(save_text(tmp_path, "w.csv", text))
    assert walks.observations.tolist() == [[2, 1]]
    assert walks.actions.tolist() == [[1]]


def test_a_less_clear_name_counts_only_where_no_clear_one_is(tmp_path):
    header = "walk,step,state,observation,event,action"
    rows = [row.split(",") for row in PLAIN.splitlines()[1:]]
    text = "\n".join([header, *(f"{w},{s},x,{o},y,{a}" for w, s, o, a in rows)])
    same(tmp_path, text + "\n")


def test_json_lines_that_are_steps(tmp_path):
    rows = [row.split(",") for row in PLAIN.splitlines()[1:]]
    lines = [{"session": w, "t": int(s), "page": o, "event": a or None, "status": 200} for w, s, o, a in rows]
    same(tmp_path, "".join(json.dumps(line) + "\n" for line in lines), "w.jsonl")


def test_an_empty_action_in_json_lines_of_steps_gives_its_line(tmp_path):
    lines = ['{"observation": "a", "action": "go"}', "", '{"observation": "b"}', '{"observation": "b"}', ""]
    with pytest.raises(BadWalks, match=r"line 3: the action must not be empty before a walk's last step"):
        load_walks(save_text(tmp_path, "w.jsonl", "\n".join(lines)))


def test_words_and_numbers_mixed_in_json_lines_give_the_line(tmp_path):
    text = '{"observations": ["a", "b"], "actions": [0]}\n\n{"observations": ["a", 1], "actions": [0]}\n'
    with pytest.raises(
        BadWalks, match=r"line 3: `observations` must be all integers or all strings, got 1 and 'a'"
    ):
        load_walks(save_text(tmp_path, "w.jsonl", text))


def test_unicode_text_of_a_spreadsheet(tmp_path):
    (tmp_path / "x.csv").write_bytes(PLAIN.replace(",", "\t").encode("utf-16"))
    assert load_walks(tmp_path / "x.csv").observation_labels == ("blue", "red")


def test_tabs_in_a_tsv(tmp_path):
    same(tmp_path, PLAIN.replace(",", "\t"), "w.tsv")


def test_json_lines_with_a_byte_order_mark(tmp_path):
    text = '\ufeff{"observations": ["a", "b"], "actions": ["go"]}\n'
    assert load_walks(save_text(tmp_path, "w.jsonl", text)).observation_labels == ("a", "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "walk,step,observation,action\n0,0,21,5,go\n",
            "line 2: a row must have 4 cells, as the header, got 5: a number with a decimal comma must be in quotes",
        ),
        (
            "walk;step;observation;action\n0;0;21,5;go\n0;1;20,5;\n",
            "line 2: the observation must be an integer .* got '21,5': measured numbers are `features`",
        ),
        ("a,b,c,d\n0,0,1,0\n", "line 1: the header must be 'walk,step,observation,action', in any order"),
        ("walk,step,battery,action\n0,0,1,0\n", "in any order, got .*: there is no observation"),
        ("walk,step,obs,view,action\n0,0,1,1,0\n", "one column for the observation, got 'obs' and 'view'"),
        (
            "walk,step,observation,action\na,2024-05-02,x,go\na,2024-05-01,y,\n",
            "line 3: the times of a walk must not go back, got '2024-05-01' after '2024-05-02'",
        ),
        (
            "walk,step,observation,action\na,1,x,go\na,0,y,go\na,2,y,\n",
            "line 3: the steps of a walk must be .* in order, or times, in walk 'a' step 0 comes after step 1",
        ),
        (
            "walk,step,observation,action\na,2024-05-02,x,go\na,soon,y,\n",
            "line 3: the step must be an integer or a time, got 'soon'",
        ),
    ],
)
def test_the_line_and_what_was_expected(tmp_path, text, message):
    with pytest.raises(BadWalks, match=message):
        load_walks(save_text(tmp_path, "w.csv", text))


def test_the_last_action_of_a_line_may_be_null(tmp_path):
    same(
        tmp_path,
        '{"observations": ["red", "blue", "red"], "actions": ["go", "stop", null]}\n'
        '{"observations": ["blue", "red"], "actions": ["go", null]}\n',
        "w.jsonl",
    )
    text = '{"observations": ["red", "blue", "red"], "actions": [null, "stop", null]}\n'
    with pytest.raises(BadWalks, match="line 1: `actions` must hold integers or strings, got null"):
        load_walks(save_text(tmp_path, "gap.jsonl", text))


def test_a_word_that_begins_with_a_space_keeps_it(tmp_path):
    walks = load_walks(save_text(tmp_path, "w.jsonl", '{"observations": [" a", "a"], "actions": ["go"]}\n'))
    save_walks(tmp_path / "w.csv", walks)
    assert load_walks(tmp_path / "w.csv").observation_labels == (" a", "a")
