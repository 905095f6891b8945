"""report.html of a map: scores, pictures, a plan, and a map to plan on. One file that opens offline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cogmap.evaluation.scores import Scores
from cogmap.records import Plan, label_of
from cogmap.report.html import (
    Section,
    asset,
    command_section,
    config_section,
    folded_html,
    picture_section,
    section_html,
    table_html,
    warning_section,
    write_page,
)
from cogmap.report.material import Example, Material, example_problem
from cogmap.report.paper_rows import paper_table
from cogmap.report.pictures import (
    diagnostic_pictures,
    is_drawable,
    map_data,
    map_pictures,
    merged_picture,
    plan_picture,
)
from cogmap.report.tables import Scored, all_scores_table, score_table


def write_report(
    folder: str | Path,
    own: Material,
    baseline: Material | None = None,
    commands: Sequence[str] = (),
    before: Sequence[Section] = (),
) -> Path:
    """Write the pictures and the page that contains them. Returns the path of the page.

    baseline: a second model that plans worse, to compare with.
    commands: the command lines that reproduce this report.
    before: sections that come before all others, such as the pictures of a 3D room.
    """
    example = example_problem(own, baseline)
    plan = None if example is None or example.own is None else example.own.plan
    sections = [*before, *make_sections(own, baseline, example, commands)]
    title = f"The map that {own.name} learned"
    return write_page(folder, title, summary_sentence(own), sections, map_data(own, plan))


def make_sections(
    own: Material, baseline: Material | None, example: Example | None, commands: Sequence[str]
) -> list[Section]:
    """All sections for which there is data, in reading order."""
    scored = own.scored + (baseline.scored if baseline is not None else ())
    heading = "The map beside the truth" if own.truth and is_drawable(own.truth.world) else "The map"
    sections = [
        warning_section(own.cognitive_map.warnings),
        _scores(own, scored),
        Section(asset("explorer.html")),
        picture_section("map-figures", heading, map_pictures(own)),
        _plan(own, example),
        _baseline(baseline, example),
        _diagnostics(own),
        Section(folded_html("All scores", table_html(all_scores_table(scored)))) if scored else None,
        config_section(own.config),
        command_section(commands),
    ]
    return [section for section in sections if section is not None]


def summary_sentence(own: Material) -> str:
    """What the model learned."""
    found = own.cognitive_map
    walks = own.config.get("walks")
    source = f"From {walks} walks" if walks else "From its walks"
    text = (
        f"{source} with {found.num_observations} different observations, {own.name} learned a map of "
        f"{found.num_nodes} places, which predicts {found.explained:.2%} of held-out observations by itself"
    )
    return f"{text}{_truth(own.scored[0].scores) if own.scored else ''}."


def plan_sentence(example: Example, plan: Plan) -> str:
    """The problem, and its solution as actions in the user's words."""
    actions = ", ".join(str(label_of(plan.action_labels, action)) for action in plan.actions.tolist())
    return (
        f"Test walk {example.walk}: after its first {example.start_step + 1} observations, find a path to where "
        f"the walk will be at step {example.goal_step}. The walk takes "
        f"{example.goal_step - example.start_step} actions, the plan {len(plan)}: {actions or 'none'}."
    )


def baseline_sentence(baseline: Material, merged: int) -> str:
    """Why a model that predicts as well plans worse; or, where no node is merged, how well it does."""
    predicts = (
        f" predicts {baseline.scored[0].scores.test_accu:.2%} of the next observations"
        if baseline.scored
        else ""
    )
    if merged == 0:
        text = (
            f"{baseline.name}{predicts or ' is the baseline'}; none of its nodes stands for several places."
        )
    else:
        model = baseline.config.get("model", {})
        steps, codes = model.get("prediction_steps"), model.get("num_codes")
        horizon = "one step" if steps == 1 else f"{steps} steps"
        text = (
            f"{baseline.name}{predicts + ', but' if predicts else ''} merges places: {merged} of its "
            f"{baseline.cognitive_map.num_nodes} nodes stand for several. To predict {horizon} ahead it need not "
            f"distinguish places with the same neighbours, and with {codes} codes it does not. So its map has "
            "shortcuts that the world does not have, and plans along them fail."
        )
    solved = [entry for entry in baseline.scored if entry.scores.imp_fallback is not None]
    shares = ", ".join(f"{entry.scores.imp_fallback:.2%} ({_map_name(entry.scores)})" for entry in solved)
    return f"{text} Problems solved: {shares}." if shares else text


def _truth(scores: Scores) -> str:
    if scores.positions is None:
        return ""
    exact = "and the map is exact" if scores.exact else f"{scores.places_covered or 0:.2%} of them on the map"
    plans = (
        ""
        if scores.imp_fallback is None
        else f"; it solves {scores.imp_fallback:.2%} of the planning problems"
    )
    return f". There are {scores.positions} places, {exact}{plans}"


def _map_name(scores: Scores) -> str:
    return "the paper's map" if scores.map_kind == "paper" else "the minimal map"


def _scores(own: Material, scored: Sequence[Scored]) -> Section | None:
    if not scored:
        return None
    world = None if own.truth is None else own.truth.world.name
    table = score_table(scored, paper_table(world, own.cognitive_map.num_observations))
    return Section(section_html("scores", "Scores", table_html(table)))


def _plan(own: Material, example: Example | None) -> Section | None:
    if example is None or example.own is None or own.truth is None:
        return None
    drawn = is_drawable(own.truth.world)
    pictures = [plan_picture("plan", example.own, example, own.truth)] if drawn else []
    return picture_section("plan", "A plan", pictures, plan_sentence(example, example.own.plan))


def _baseline(baseline: Material | None, example: Example | None) -> Section | None:
    if baseline is None or baseline.truth is None or baseline.reading is None:
        return None
    merged, count = merged_picture("baseline_map", baseline)
    pictures = [merged]
    if example is not None and example.baseline is not None and is_drawable(baseline.truth.world):
        pictures.append(plan_picture("baseline_plan", example.baseline, example, baseline.truth))
    text = baseline_sentence(baseline, count)
    return picture_section("baseline", f"For comparison: {baseline.name}", pictures, text)


def _diagnostics(own: Material) -> Section | None:
    pictures = list(diagnostic_pictures(own))
    return picture_section("diagnostics", "Diagnostics", pictures) if pictures else None
