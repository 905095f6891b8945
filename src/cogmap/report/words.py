"""The few sentences of a report that are made from its numbers."""

from __future__ import annotations

from cogmap.evaluation.scores import Scores
from cogmap.records import Plan, label_of
from cogmap.report.example import Example
from cogmap.report.material import Material


def summary_sentence(own: Material) -> str:
    """What was learned."""
    found = own.cognitive_map
    walks = own.config.get("walks")
    source = f"From {walks} walks" if walks else "From its walks"
    told = (
        f"{source}, in which it saw {found.num_observations} different things, {own.name} made a map of "
        f"{found.num_nodes} places that explains {found.explained:.2%} of the steps"
    )
    return f"{told}{_truth(own.scored[0].scores) if own.scored else ''}."


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


def plan_sentence(example: Example, plan: Plan) -> str:
    """The problem, and the answer as actions in the user's words."""
    actions = ", ".join(str(label_of(plan.action_labels, action)) for action in plan.actions.tolist())
    return (
        f"Test walk {example.walk}: having seen its first {example.start_step + 1} observations, how does one "
        f"get to where the walk will be at step {example.goal_step}? The walk takes "
        f"{example.goal_step - example.start_step} actions, the plan {len(plan)}: {actions or 'none'}."
    )


def rival_sentence(rival: Material, merged: int) -> str:
    """Why a model that predicts as well plans worse; or, where no node is merged, how it does."""
    predicts = (
        f" foretells {rival.scored[0].scores.test_accu:.2%} of the next observations" if rival.scored else ""
    )
    if merged == 0:
        told = (
            f"{rival.name}{predicts or ' is shown beside it'}; none of its nodes stands for several places."
        )
    else:
        model = rival.config.get("model", {})
        steps, codes = model.get("prediction_steps"), model.get("num_codes")
        horizon = "one step" if steps == 1 else f"{steps} steps"
        told = (
            f"{rival.name}{predicts + ', but' if predicts else ''} takes places for one another: {merged} of its "
            f"{rival.cognitive_map.num_nodes} nodes stand for several. To foretell {horizon} ahead it need not tell "
            f"apart all places whose neighbours look alike, and with {codes} codes it does not; so its map has "
            "shortcuts that the world has not, and plans along them lead astray."
        )
    solved = [entry for entry in rival.scored if entry.scores.imp_fallback is not None]
    shares = ", ".join(f"{entry.scores.imp_fallback:.2%} ({_map_name(entry.scores)})" for entry in solved)
    return f"{told} Problems solved: {shares}." if shares else told


def _map_name(scores: Scores) -> str:
    return "the paper's map" if scores.map_kind == "paper" else "the minimal map"
