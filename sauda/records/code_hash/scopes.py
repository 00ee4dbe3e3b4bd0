"""Which names a function, class, lambda or comprehension binds itself."""

import ast
from collections.abc import Iterable, Iterator

from sauda.records.code_hash.source import imported

COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


class Scope:
    """The names bound in the body of `node`, in order; `parent` is the scope around it."""

    def __init__(self, node: ast.AST, parent: "Scope | None") -> None:
        self.node, self.parent = node, parent
        self.is_class = isinstance(node, ast.ClassDef)
        self.globals: set[str] = set()
        self._bound: dict[str, list[ast.AST]] = {}
        nonlocals: set[str] = set()
        for name, by in _bindings(node):
            if isinstance(by, ast.Global):
                self.globals.add(name)
            elif isinstance(by, ast.Nonlocal):
                nonlocals.add(name)
            else:
                self._bound.setdefault(name, []).append(by)
        for name in self.globals | nonlocals:
            self._bound.pop(name, None)

    def names(self) -> list[str]:
        """The bound names, in order of their first binding."""
        return list(self._bound)

    def imported(self, name: str) -> str | None:
        """The dotted path that `name` is imported from; None unless that alone binds it."""
        by = self._bound.get(name, [])
        if len(by) == 1 and isinstance(by[0], ast.Import | ast.ImportFrom):
            return imported(by[0])[name]
        return None

    def function(self, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that `name` is; None unless its definition alone binds it."""
        by = self._bound.get(name, [])
        return by[0] if len(by) == 1 and isinstance(by[0], FUNCTIONS) else None

    def where(self, name: str) -> "Scope | None":
        """The scope that binds `name` as it is used in this one; None for a name of the module."""
        scope: Scope | None = self
        while scope is not None and name not in scope.globals:
            # A class's own names are seen in its body alone, not in the methods.
            if name in scope._bound and (scope is self or not scope.is_class):
                return scope
            scope = scope.parent
        return None


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters in the order of a function's local variables."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return named + [a for a in (arguments.vararg, arguments.kwarg) if a is not None]


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, FUNCTIONS | ast.Lambda):
        yield from ((argument.arg, argument) for argument in parameters(node.args))
        body = node.body if isinstance(node.body, list) else [node.body]
        yield from _bound_in(body, walrus_alone=False)
    elif isinstance(node, ast.ClassDef):
        yield from _bound_in(node.body, walrus_alone=False)
    else:
        yield from _bound_in([g.target for g in node.generators], walrus_alone=False)


def _bound_in(nodes: Iterable[ast.AST], walrus_alone: bool) -> Iterator[tuple[str, ast.AST]]:
    """Bindings under `nodes`, inner scopes left out; only `:=` reaches out of a comprehension."""
    for node in nodes:
        children: Iterable[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, ast.NamedExpr):
            yield node.target.id, node
        elif isinstance(node, FUNCTIONS | ast.ClassDef):
            yield node.name, node
            children = _around(node)
        elif isinstance(node, ast.Lambda):
            children = _around(node)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            if not walrus_alone:
                yield node.id, node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((name, node) for name in imported(node))
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from ((name, node) for name in node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name, node
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest, node
        yield from _bound_in(children, walrus_alone or isinstance(node, COMPREHENSIONS))


def _around(node: ast.AST) -> list[ast.AST]:
    """The parts of a definition that run where it stands: decorators, defaults, bases."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    return [*getattr(node, "decorator_list", []), *defaults]
