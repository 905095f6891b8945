"""3D rooms: floor plan, scene, textures and the agent's views."""

from cogmap.environments.egocentric.room import EGOCENTRIC_ACTIONS, HEADINGS, EgocentricRoom

__all__ = ["EGOCENTRIC_ACTIONS", "HEADINGS", "EgocentricRoom"]
