# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""The expression after --where: comparisons of a launch's fields, as in `np <= 4 and env == "no-p2p"`."""

from __future__ import annotations

import ast
import operator
from typing import Any

from batching.codes import USAGE, BatchError
from batching.plan import Launch

_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def fields(launch: Launch) -> dict[str, Any]:
    """Give what an expression may name. env and mca are names, as the labels of launches show them."""
    return {
        "experiment": launch.experiment,
        "np": launch.np,
        "hostfile": launch.hostfile,
        "map_by": launch.map_by,
        "bind_to": launch.bind_to,
        "env": launch.env_name,
        "mca": launch.mca_name,
        "repeat": launch.repeat,
    }


def compile_where(text: str | None):
    """Give a function from launch to bool. Nothing in the text is executed: it is walked, node by node."""
    if text is None:
        return lambda launch: True
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise BatchError(USAGE, f"--where {text!r} is no expression: {error.msg}") from error

    def keep(launch: Launch) -> bool:
        try:
            return bool(_value(tree, fields(launch)))
        except TypeError as error:
            raise BatchError(USAGE, f"--where {text!r} cannot be judged: {error}") from error

    return keep


def _value(node: ast.AST, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return _named(node.id, names)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item, names) for item in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _value(node.operand, names)
    if isinstance(node, ast.BoolOp):
        decide = all if isinstance(node.op, ast.And) else any
        return decide(_value(item, names) for item in node.values)
    if isinstance(node, ast.Compare):
        return _compare(node, names)
    raise BatchError(
        USAGE, "--where knows and, or, not, comparisons, in, names, numbers, texts and lists only"
    )


def _named(name: str, names: dict[str, Any]) -> Any:
    if name not in names:
        raise BatchError(USAGE, f"--where: unknown name `{name}`; known here: {', '.join(names)}")
    return names[name]


def _compare(node: ast.Compare, names: dict[str, Any]) -> bool:
    values = [_value(item, names) for item in (node.left, *node.comparators)]
    if any(type(op) not in _COMPARE for op in node.ops):
        raise BatchError(USAGE, "--where compares with ==, !=, <, <=, >, >=, in and not in")
    return all(_COMPARE[type(op)](a, b) for op, a, b in zip(node.ops, values, values[1:]))
