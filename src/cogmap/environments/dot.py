"""Reads the edges of a Graphviz file, as far as automata tools write them: a digraph of nodes and labelled edges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from cogmap.errors import BadWorld

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|(?:(?<=\n)|\A)\#[^\n]*)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<arrow>->)
    |(?P<sign>[\[\]{};,=])
    |(?P<word>(?:(?!->)[^\s\[\]{};,="<])+)
    """,
    re.VERBOSE | re.DOTALL,
)


class Edge(NamedTuple):
    source: str
    target: str
    label: str | None


class _Token(NamedTuple):
    text: str
    is_sign: bool  # punctuation, not a name


def dot_edges(text: str) -> list[Edge]:
    """The edges in their order. Raises `BadWorld` with the line of the first thing that cannot be read."""
    tokens = list(_tokens(text))
    start = tokens.index(_Token("{", True)) if _Token("{", True) in tokens else 0
    head = [token.text.lower() for token in tokens[:start]]
    if "digraph" not in head[:2] or tokens[-1] != _Token("}", True):
        raise BadWorld("a Graphviz file must be one `digraph { ... }`")
    edges: list[Edge] = []
    statement: list[_Token] = []
    depth = 0
    for token in [*tokens[start + 1 : -1], _Token(";", True)]:
        if token.is_sign and token.text in "{}":
            raise BadWorld("a Graphviz file of a machine must have no subgraphs, got one")
        ends = depth == 0 and (token == _Token(";", True) or _begins_anew(statement, token))
        if ends:
            edges += _edges_of(statement)
            statement = []
        if not ends or token.text != ";":
            statement.append(token)
        depth += {"[": 1, "]": -1}.get(token.text, 0) if token.is_sign else 0
    return edges


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            line = text.count("\n", 0, place) + 1
            raise BadWorld(
                f"line {line}: must be Graphviz with plain labels, got {text[place : place + 20]!r}"
            )
        place = match.end()
        if match.lastgroup == "quoted":
            yield _Token(re.sub(r'\\(["\\])', r"\1", match.group()[1:-1]), False)
        elif match.lastgroup != "skip":
            yield _Token(match.group(), match.lastgroup != "word")


def _begins_anew(statement: list[_Token], token: _Token) -> bool:
    """Whether a token begins a statement although no semicolon ended the one before: two names in a row, or a name
    after a list of attributes."""
    return bool(statement) and not token.is_sign and (not statement[-1].is_sign or statement[-1].text == "]")


def _edges_of(statement: list[_Token]) -> list[Edge]:
    """The edges of one statement, `a -> b -> c [label="..."]`; none of a node or a setting."""
    names: list[str] = []
    place = 0
    for place, token in enumerate(statement):
        if token == _Token("[", True):
            break
        if token.is_sign != (place % 2 == 1) or (token.is_sign and token.text not in ("->", "=")):
            raise BadWorld(f"a Graphviz statement must be a node or an edge, got {_shown(statement)!r}")
        names += [] if token.is_sign else [token.text]
    is_edge = _Token("->", True) in statement[: place + 1]
    if not is_edge:
        return []
    if len(names) != 1 + sum(token == _Token("->", True) for token in statement):
        raise BadWorld(f"a Graphviz edge must have two ends, got {_shown(statement)!r}")
    label = _attribute(statement, "label")
    return [Edge(source, target, label) for source, target in pairwise(names)]


def _attribute(statement: list[_Token], name: str) -> str | None:
    for key, sign, value in zip(statement, statement[1:], statement[2:], strict=False):
        if key == _Token(name, False) and sign == _Token("=", True) and not value.is_sign:
            return value.text
    return None


def _shown(statement: list[_Token]) -> str:
    return " ".join(token.text for token in statement)[:60]
