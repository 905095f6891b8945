"""Export a cognitive map to GraphML, DOT and JSON."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

from cogmap.errors import BadOutput
from cogmap.files import write_json, write_whole
from cogmap.maps.store import save_map
from cogmap.records import CognitiveMap

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_map(path: str | Path, cognitive_map: CognitiveMap) -> None:
    """Write a map in the format of the suffix: `.npz` is our own."""
    if Path(path).suffix == ".npz":
        save_map(path, cognitive_map)
    else:
        export_map(cognitive_map, path)


def export_map(cognitive_map: CognitiveMap, path: str | Path) -> None:
    """Write the map in the format of the suffix: `.graphml`, `.dot` or `.json`."""
    path = Path(path)
    writers = {".graphml": _write_graphml, ".dot": _write_dot, ".json": _write_json}
    if path.suffix not in writers:
        raise BadOutput(f"an exported map must end in {', '.join(writers)}, got {path.name!r}")
    writers[path.suffix](cognitive_map, path)


def _write_graphml(cognitive_map: CognitiveMap, path: Path) -> None:
    import networkx

    graph = cognitive_map.to_networkx()
    entries = [values for _, values in graph.nodes(data=True)]
    entries += [values for _, _, values in graph.edges(data=True)]
    for values in entries:
        values["label"] = _NOT_XML.sub("\ufffd", values["label"])  # XML cannot represent these characters
    text = io.BytesIO()
    networkx.write_graphml(graph, text)
    with write_whole(path) as stream:
        stream.write(text.getvalue())


def _write_dot(cognitive_map: CognitiveMap, path: Path) -> None:
    lines = ["digraph map {"]
    lines += [f"  {node['id']} [label={_quoted(node['label'])}];" for node in cognitive_map.node_rows()]
    for edge in cognitive_map.edge_rows():
        shown = f"label={_quoted(edge['label'])}, weight={edge['support']}"
        lines.append(f"  {edge['source']} -> {edge['target']} [{shown}];")
    with write_whole(path) as stream:
        stream.write(("\n".join([*lines, "}"]) + "\n").encode())


def _quoted(text: str) -> str:
    """A DOT string: only quotes and backslashes need escapes."""
    return json.dumps(text, ensure_ascii=False)


def _write_json(cognitive_map: CognitiveMap, path: Path) -> None:
    value = {
        "kind": cognitive_map.kind,
        "explained": cognitive_map.explained,
        "warnings": list(cognitive_map.warnings),
        "nodes": cognitive_map.node_rows(),
        "edges": cognitive_map.edge_rows(),
    }
    write_json(path, value)
