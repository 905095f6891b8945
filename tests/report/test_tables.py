"""Tables: golden text, and HTML in which no user's text becomes markup."""

from cogmap.evaluation.scores import Scores
from cogmap.models.config import ModelConfig
from cogmap.report.paper_rows import ALIASED_ROOM
from cogmap.report.tables import Scored, Table, all_scores_table, score_table

OWN = Scores(
    test_accu=0.9941,
    ceiling=0.9943,
    imp_fallback=1.0,
    ratio_sp=1.0,
    norm_ged=0.0,
    norm_ged_lower=0.0,
    nodes=48,
    positions=48,
    problems=200,
)
BASELINE = Scores(
    test_accu=0.99, imp_fallback=0.055, ratio_sp=1.0, norm_ged=0.4321, norm_ged_lower=0.4, nodes=27
)
SCORED = [Scored("TDB(S=3, M=1)", "here", OWN), Scored("TDB(S=1, M=1)", "here", BASELINE)]

GOLDEN = """\
                             TestAccu (%) ↑  ImpFallback (%) ↑    RatioSP ↓      NormGED ↓  nodes
─────────────────────────────────────────────────────────────────────────────────────────────────
TDB(S=3, M=1), here                   99.41             100.00        1.000          0.000     48
TDB(S=3, M=1), in the paper    99.06 (0.01)       99.55 (0.13)  1.00 (0.00)  0.124 (0.019)      -
TDB(S=1, M=1), here                   99.00               5.50        1.000        ≤ 0.432     27
TDB(S=1, M=1), in the paper    98.94 (0.05)        6.61 (0.53)  1.00 (0.00)  0.532 (0.005)      -
ceiling                               99.43             100.00        1.000          0.000     48
TestAccu: next observations predicted; ImpFallback: the 200 planning problems here that were solved; \
RatioSP: the length of plans over that of the shortest; NormGED: how far the map is from the true one, 0 where it is \
exact. The paper's rows are means over ten 15x20 rooms, 4 observations, their spread in brackets. The ceiling of \
TestAccu is that of an exact Bayes filter that knows the world, on the same walks."""


def test_without_truth_the_table_has_only_what_a_log_can_say():
    table = score_table(
        [Scored("TDB(S=3, M=1)", "here", Scores(test_accu=0.98, explained=0.99, nodes=14))], None
    )
    assert table.columns == ("", "TestAccu (%) ↑", "by the map alone (%) ↑", "nodes")
    assert table.rows == (("TDB(S=3, M=1), here", "98.00", "99.00", "14"),)


def test_golden_text():
    assert score_table(SCORED, ALIASED_ROOM).text() == GOLDEN


def test_a_world_that_the_paper_has_not_is_not_compared_with_it():
    table = score_table(SCORED, None)
    assert [row[0] for row in table.rows] == ["TDB(S=3, M=1), here", "TDB(S=1, M=1), here", "ceiling"]
    assert "paper" not in table.caption


def test_two_maps_of_one_model_share_the_papers_row():
    both = [SCORED[0], Scored("TDB(S=3, M=1)", "here, the paper's map", BASELINE)]
    names = [row[0] for row in score_table(both, ALIASED_ROOM).rows]
    assert names == [
        "TDB(S=3, M=1), here",
        "TDB(S=3, M=1), here, the paper's map",
        "TDB(S=3, M=1), in the paper",
        "ceiling",
    ]


def test_a_model_that_the_paper_has_not_and_scores_without_truth():
    rows = score_table([Scored("TDB(S=2, M=2)", "here", Scores(test_accu=0.5))], ALIASED_ROOM).rows
    assert rows == (
        ("TDB(S=2, M=2), here", "50.00", "-", "-", "-", "-"),
        ("ceiling", "-", "100.00", "1.000", "0.000", "-"),
    )


def test_a_clone_structured_model_is_not_the_papers():
    name = ModelConfig(4, 4, 4, clone_structured=True).name
    names = [row[0] for row in score_table([Scored(name, "here", OWN)], ALIASED_ROOM).rows]
    assert names == ["TDB(S=3, M=1), clones, here", "ceiling"]


def test_every_score_by_its_printed_name():
    table = all_scores_table(SCORED)
    assert table.columns == ("", "TDB(S=3, M=1), here", "TDB(S=1, M=1), here")
    assert ("TestAccu ceiling", "99.43 %", "-") in table.rows
    assert ("nodes", "48", "27") in table.rows


def test_html_is_escaped():
    html = Table(("", "<b>"), (("<script>", 'a & "b"'),)).html()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "<td>a &amp; &quot;b&quot;</td>" in html
