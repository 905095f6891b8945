"""Export a cognitive map to GraphML, DOT and JSON, and to model checkers: DRN (storm) and PRISM."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np

from cogmap.errors import BadOutput
from cogmap.files import write_json, write_whole
from cogmap.maps.store import save_map
from cogmap.records import CognitiveMap, label_of

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_map(path: str | Path, cognitive_map: CognitiveMap) -> None:
    """Write a map in the format of the suffix: `.npz` is our own."""
    if Path(path).suffix == ".npz":
        save_map(path, cognitive_map)
    else:
        export_map(cognitive_map, path)


def export_map(cognitive_map: CognitiveMap, path: str | Path) -> None:
    """Write the map in the format of the suffix: `.graphml`, `.dot`, `.json`, `.drn` or `.prism`."""
    path = Path(path)
    writers = {
        ".graphml": _write_graphml,
        ".dot": _write_dot,
        ".json": _write_json,
        ".drn": _write_drn,
        ".prism": _write_prism,
    }
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
        shown += ", style=dashed" if edge["guessed"] else ""
        lines.append(f"  {edge['source']} -> {edge['target']} [{shown}];")
    with write_whole(path) as stream:
        stream.write(("\n".join([*lines, "}"]) + "\n").encode())


def _quoted(text: str) -> str:
    """A DOT string: only quotes and backslashes need escapes."""
    return json.dumps(text, ensure_ascii=False)


def _write_drn(cognitive_map: CognitiveMap, path: Path) -> None:
    """A Markov decision process in storm's explicit format. The labels of a state say what is usually seen there."""
    process = _process(cognitive_map)
    rewards = ["steps", *(["reward"] if cognitive_map.edge_reward is not None else [])]
    lines = [
        "@type: MDP",
        "@parameters",
        "",
        "@reward_models",
        " ".join(rewards),
        "@nr_states",
        str(len(process)),
    ]
    lines += ["@nr_choices", str(sum(map(len, process))), "@model"]
    start, zeros = _start(cognitive_map), ", ".join("0" for _ in rewards)
    for node, choices in enumerate(process):
        init = " init" if node == start else ""
        lines.append(f"state {node} [{zeros}]{init} {_seen_label(cognitive_map, node)} node_{node}")
        for action, reward, targets in choices:
            paid = ["1", *([repr(reward)] if cognitive_map.edge_reward is not None else [])]
            lines.append(f"\taction {_word(_action_name(cognitive_map, action))} [{', '.join(paid)}]")
            lines += [f"\t\t{target} : {chance!r}" for target, chance in targets]
    with write_whole(path) as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def _write_prism(cognitive_map: CognitiveMap, path: Path) -> None:
    """The same process in the PRISM language, with a variable `node`."""
    process = _process(cognitive_map)
    last, start = max(len(process) - 1, 0), _start(cognitive_map)
    lines = ["mdp", "", "module map", f"  node : [0..{last}] init {start};"]
    paid = []
    for node, choices in enumerate(process):
        for action, reward, targets in choices:
            name = _word(_action_name(cognitive_map, action))
            update = " + ".join(f"{chance!r} : (node'={target})" for target, chance in targets)
            lines.append(f"  [{name}] node={node} -> {update};")
            paid.append(f"  [{name}] node={node} : {reward!r};")
    lines += ["endmodule", "", 'rewards "steps"', "  [] true : 1;"]
    names = sorted(
        {_word(_action_name(cognitive_map, action)) for choices in process for action, _, _ in choices}
    )
    lines += [f"  [{name}] true : 1;" for name in names] + ["endrewards", ""]
    if cognitive_map.edge_reward is not None:
        lines += ['rewards "reward"', *paid, "endrewards", ""]
    shown: dict[str, list[int]] = {}
    for node in range(len(process)):
        shown.setdefault(_seen_label(cognitive_map, node), []).append(node)
    lines += [
        f'label "{name}" = {" | ".join(f"node={node}" for node in nodes)};' for name, nodes in shown.items()
    ]
    with write_whole(path) as stream:
        stream.write(("\n".join(lines) + "\n").encode())


Choice = tuple[
    int, float, list[tuple[int, float]]
]  # action, -1 for none; mean reward; targets with probabilities


def _process(cognitive_map: CognitiveMap) -> list[list[Choice]]:
    """The choices of each node; one that leads nowhere stays, since model checkers want a way on from everywhere."""
    cognitive_map = cognitive_map.known()
    choices: list[dict[int, list[tuple[int, float, float]]]] = [{} for _ in range(cognitive_map.num_nodes)]
    reward = (
        np.zeros(cognitive_map.num_edges) if cognitive_map.edge_reward is None else cognitive_map.edge_reward
    )
    columns = (cognitive_map.edge_source, cognitive_map.edge_action, cognitive_map.edge_target)
    rows = (*columns, np.asarray(cognitive_map.edge_probability), reward)
    for source, action, target, chance, paid in zip(*(column.tolist() for column in rows), strict=True):
        choices[source].setdefault(action, []).append((target, chance, paid))
    return [
        [_choice(action, targets) for action, targets in sorted(of.items())] or [(-1, 0.0, [(node, 1.0)])]
        for node, of in enumerate(choices)
    ]


def _choice(action: int, targets: list[tuple[int, float, float]]) -> Choice:
    total = sum(chance for _, chance, _ in targets)
    mean = sum(chance * paid for _, chance, paid in targets) / total
    return action, mean, sorted((target, chance / total) for target, chance, _ in targets)


def _start(cognitive_map: CognitiveMap) -> int:
    """Where walks start most often."""
    weight = (
        cognitive_map.node_support
        if cognitive_map.start_probability is None
        else cognitive_map.start_probability
    )
    return int(np.argmax(weight)) if len(weight) else 0


def _action_name(cognitive_map: CognitiveMap, action: int) -> str:
    return "stay" if action < 0 else f"do_{label_of(cognitive_map.action_labels, action)}"


def _seen_label(cognitive_map: CognitiveMap, node: int) -> str:
    return _word(f"sees_{label_of(cognitive_map.observation_labels, cognitive_map.node_observation[node])}")


def _word(text: str) -> str:
    """Letters, digits and underscores only, as model checkers want names; other characters as their numbers."""
    return "".join(c if (c.isascii() and c.isalnum()) or c == "_" else f"_{ord(c)}_" for c in text)


def _write_json(cognitive_map: CognitiveMap, path: Path) -> None:
    value = {
        "kind": cognitive_map.kind,
        "explained": cognitive_map.explained,
        "warnings": list(cognitive_map.warnings),
        "nodes": cognitive_map.node_rows(),
        "edges": cognitive_map.edge_rows(),
    }
    write_json(path, value)
