"""A cognitive map in other programs' forms: networkx, GraphML, DOT and JSON."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogmap.errors import BadOutput
from cogmap.files import write_json, write_whole
from cogmap.records import CognitiveMap, label_of

if TYPE_CHECKING:
    import networkx

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_networkx(cognitive_map: CognitiveMap) -> networkx.MultiDiGraph:
    """The map as a MultiDiGraph: an edge's key is its action, since two actions may lead the same way."""
    import networkx

    graph = networkx.MultiDiGraph(kind=cognitive_map.kind, explained=cognitive_map.explained)
    for node in _nodes(cognitive_map):
        graph.add_node(node.pop("id"), **node)
    for edge in _edges(cognitive_map):
        graph.add_edge(edge.pop("source"), edge.pop("target"), key=edge["action"], **edge)
    return graph


def export_map(cognitive_map: CognitiveMap, path: str | Path) -> None:
    """Write the map as its suffix says: `.graphml`, `.dot` or `.json`."""
    path = Path(path)
    writers = {".graphml": _write_graphml, ".dot": _write_dot, ".json": _write_json}
    if path.suffix not in writers:
        raise BadOutput(f"a map is exported to {', '.join(writers)}, got {path.name!r}")
    writers[path.suffix](cognitive_map, path)


def _nodes(cognitive_map: CognitiveMap) -> list[dict[str, Any]]:
    seen = cognitive_map.node_observation.tolist()
    support = cognitive_map.node_support.tolist()
    return [
        {
            "id": node,
            "observation": observation,
            "label": str(label_of(cognitive_map.observation_labels, observation)),
            "support": steps,
        }
        for node, (observation, steps) in enumerate(zip(seen, support, strict=True))
    ]


def _edges(cognitive_map: CognitiveMap) -> list[dict[str, Any]]:
    columns = (
        cognitive_map.edge_source.tolist(),
        cognitive_map.edge_target.tolist(),
        cognitive_map.edge_action.tolist(),
        cognitive_map.edge_support.tolist(),
    )
    return [
        {
            "source": source,
            "target": target,
            "action": action,
            "label": str(label_of(cognitive_map.action_labels, action)),
            "support": steps,
        }
        for source, target, action, steps in zip(*columns, strict=True)
    ]


def _write_graphml(cognitive_map: CognitiveMap, path: Path) -> None:
    import networkx

    graph = to_networkx(cognitive_map)
    entries = [values for _, values in graph.nodes(data=True)]
    entries += [values for _, _, values in graph.edges(data=True)]
    for values in entries:
        values["label"] = _NOT_XML.sub("\ufffd", values["label"])  # XML has no such characters at all
    text = io.BytesIO()
    networkx.write_graphml(graph, text)
    with write_whole(path) as stream:
        stream.write(text.getvalue())


def _write_dot(cognitive_map: CognitiveMap, path: Path) -> None:
    lines = ["digraph map {"]
    lines += [f"  {node['id']} [label={_quoted(node['label'])}];" for node in _nodes(cognitive_map)]
    for edge in _edges(cognitive_map):
        shown = f"label={_quoted(edge['label'])}, weight={edge['support']}"
        lines.append(f"  {edge['source']} -> {edge['target']} [{shown}];")
    with write_whole(path) as stream:
        stream.write(("\n".join([*lines, "}"]) + "\n").encode())


def _quoted(text: str) -> str:
    """A DOT string: only quotes and backslashes mean anything in one."""
    return json.dumps(text, ensure_ascii=False)


def _write_json(cognitive_map: CognitiveMap, path: Path) -> None:
    value = {
        "kind": cognitive_map.kind,
        "explained": cognitive_map.explained,
        "warnings": list(cognitive_map.warnings),
        "nodes": _nodes(cognitive_map),
        "edges": _edges(cognitive_map),
    }
    write_json(path, value)
