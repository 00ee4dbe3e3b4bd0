"""Digests of the nodes of a graph: of a node's own text and of all that it refers to.

Nodes that refer to each other in a circle are told apart by colour refinement (Weisfeiler & Leman,
1968): a colour is made anew from the colours of the references until every path has been seen.
"""

import hashlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A value or definition: its text without names, and the keys of what it refers to."""

    text: str
    references: tuple[Hashable, ...] = ()
    ordered: bool = True  # False for a set, whose order depends on the interpreter's run


def colours(nodes: Mapping[Hashable, Node]) -> dict[Hashable, bytes]:
    """A digest for each node; nodes share one only where no way along references differs."""
    digests: dict[Hashable, bytes] = {}
    for component in components({key: node.references for key, node in nodes.items()}):
        for key in component:
            digests[key] = hashlib.sha256(nodes[key].text.encode()).digest()
        # Half of the rounds tell apart what differs, the others carry that to every member.
        for _ in range(2 * len(component) - 1):
            digests |= {key: _refined(digests, key, nodes[key]) for key in component}
    return digests


def _refined(digests: Mapping[Hashable, bytes], key: Hashable, node: Node) -> bytes:
    parts = [digests[reference] for reference in node.references]
    if not node.ordered:
        parts.sort()
    return hashlib.sha256(b"".join([digests[key], *parts])).digest()


def components(graph: Mapping[Hashable, Sequence[Hashable]]) -> Iterator[list[Hashable]]:
    """The strongly connected components of `graph`, each after those that it refers to.

    Tarjan (1972), without recursion: chains of references are longer than Python's stack.
    """
    order: dict[Hashable, int] = {}
    low: dict[Hashable, int] = {}
    path: list[Hashable] = []  # nodes whose component is not complete
    on_path: set[Hashable] = set()
    for root in graph:
        if root in order:
            continue
        calls = [(root, iter(graph[root]))]
        order[root] = low[root] = len(order)
        path.append(root)
        on_path.add(root)
        while calls:
            node, references = calls[-1]
            for other in references:
                if other not in order:
                    order[other] = low[other] = len(order)
                    path.append(other)
                    on_path.add(other)
                    calls.append((other, iter(graph[other])))
                    break
                if other in on_path:
                    low[node] = min(low[node], order[other])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == order[node]:
                    start = path.index(node)
                    component, path[start:] = path[start:], []
                    on_path.difference_update(component)
                    yield component
