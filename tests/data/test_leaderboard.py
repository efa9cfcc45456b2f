import json

import numpy as np
import pytest
from biasscope.core.errors import DataError
from biasscope.data.leaderboard import read_leaderboard
from hypothesis import given
from hypothesis import strategies as st


def written(tmp_path, *rows):
    path = tmp_path / "board.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def battle(a, b, winner, **more):
    return {"model_a": a, "model_b": b, "winner": winner, **more}


def test_every_way_of_saying_who_won(tmp_path):
    rows = [battle("x", "y", said) for said in ("model_a", "A", "x", "model_b", "b", "y", "tie", "tie (bothbad)")]
    board = read_leaderboard(written(tmp_path, *rows, battle("y", "x", "model_a", count=10, judge="other columns")))
    assert (board.models, board.battles) == (("x", "y"), 18)
    np.testing.assert_array_equal(board.wins, [[0, 4], [14, 0]])


def test_csv_with_counts(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("model_a,model_b,winner,count\nm,n,tie,3\nm,n,n,\n")
    np.testing.assert_array_equal(read_leaderboard(path).wins, [[0, 1.5], [2.5, 0]])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (battle("x", "y", "z"), "line 1: winner is 'z'"),
        (battle("x", "y", None), "line 1: winner is None"),
        (battle("x", "x", "tie"), "a model does not meet itself"),
        (battle("", "y", "tie"), "model_a is ''"),
        (battle("x", 3, "tie"), "model_b is 3"),
        (battle("x", "y", "tie", count=0), "count is 0"),
        (battle("x", "y", "tie", count=1.5), "count is 1.5"),
        (battle("x", "y", "tie", count=True), "count is True"),
    ],
)
def test_bad_rows_name_the_line(tmp_path, row, said):
    with pytest.raises(DataError, match=said):
        read_leaderboard(written(tmp_path, row))


def test_an_empty_file(tmp_path):
    with pytest.raises(DataError, match="holds no result"):
        read_leaderboard(written(tmp_path))


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("stu"), st.sampled_from(["a", "b", "tie"]))))
def test_every_battle_is_worth_one_win(tmp_path_factory, battles):
    path = written(tmp_path_factory.mktemp("board"), battle("p", "s", "tie"), *(battle(*b) for b in battles))
    board = read_leaderboard(path)
    assert board.wins.sum() == pytest.approx(board.battles) == len(battles) + 1
    assert not np.diag(board.wins).any()
