"""Worlds to sample walks in, and their ground truth: graph, shortest routes, aliasing."""

from cogmap.environments.chance import from_probabilities, with_slip, with_start
from cogmap.environments.check import check_environment
from cogmap.environments.cube import AliasedCube
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.machines import MachineWorld, MealyMachine, load_machine, random_machine
from cogmap.environments.oracle import Route, optimal_distances, optimal_route, true_edges, true_graph
from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import RoomFamily, restricted_families, room_families
from cogmap.environments.streets import street_network
from cogmap.environments.table import from_tables, maze_from_text, torus
from cogmap.records import ChanceWorld, TableWorld

__all__ = [
    "AliasedCube",
    "AliasedRoom",
    "ChanceWorld",
    "EgocentricRoom",
    "MachineWorld",
    "MealyMachine",
    "RoomFamily",
    "Route",
    "TableWorld",
    "check_environment",
    "from_probabilities",
    "from_tables",
    "load_machine",
    "maze_from_text",
    "optimal_distances",
    "optimal_route",
    "random_machine",
    "restricted_families",
    "room_families",
    "street_network",
    "torus",
    "true_edges",
    "true_graph",
    "with_slip",
    "with_start",
]
