"""3D rooms: floor plan, what they are built and papered with, and the agent's views of them."""

from cogmap.environments.egocentric.room import EGOCENTRIC_ACTIONS, HEADINGS, EgocentricRoom

__all__ = ["EGOCENTRIC_ACTIONS", "HEADINGS", "EgocentricRoom"]
