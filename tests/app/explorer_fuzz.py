"""Requests made up by schemathesis from the API's own description, sent to the application without a network."""

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode
from served_runs import application, write_run

from cogmap.app.handlers import Call
from cogmap.app.schema import WalkRequest

NODES = 48
HOST = {"host": "127.0.0.1"}


class Requests:
    """Sends them, holds every answer against the description, and counts them by status."""

    def __init__(self, folder) -> None:
        run, walks = write_run(folder)
        self.app = application(run, walks, problems=20, history=50)  # small, so that "too much" is met often
        self.statuses: dict[int, int] = {}
        self.schema = schemathesis.openapi.from_asgi("/api/openapi.json", self.app.asgi, headers=HOST)
        # Those of docs/explorer_api.md.
        refusals = ["400", "403", "404", "405", "409", "413", "415", "422", "429"]
        self.schema.config.checks.negative_data_rejection.expected_statuses = refusals

    @property
    def count(self) -> int:
        return sum(self.statuses.values())

    def send(self, examples: int, chance: int = 0) -> None:
        """So many requests to every address: as described, and broken on purpose."""
        for operation in self.schema.get_all_operations():
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                try:
                    self._fuzz(operation.ok(), mode, examples, chance)
                except Unsatisfiable:  # an address without a parameter cannot be asked wrongly
                    assert mode is GenerationMode.NEGATIVE

    def _fuzz(self, operation, mode, examples, chance) -> None:
        @seed(chance)
        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
        def sent(case):
            if mode is GenerationMode.POSITIVE:
                self._bring_within_reach(case)
            answer = case.call_and_validate(headers=HOST)
            self.statuses[answer.status_code] = self.statuses.get(answer.status_code, 0) + 1

        sent()

    def _bring_within_reach(self, case) -> None:
        """Every other request names nodes that there are, and every one about a walk a walk that is under way."""
        if "id" in case.path_parameters:
            case.path_parameters["id"] = self.app.handlers.new_walk(Call({}, {}, WalkRequest()))["id"]
        if not isinstance(case.body, dict):
            return
        if "observations" in case.body:  # no schema can say that there is one action fewer
            case.body["actions"] = (case.body["actions"] + [0] * 50)[: len(case.body["observations"]) - 1]
        if self.count % 2:
            return
        case.body.pop("revision", None)
        for name in ("start", "goal", "position"):
            if name in case.body:
                case.body[name] %= NODES
