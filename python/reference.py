"""Prints the reference of the package from its docstrings.

Run it after a change: python3 python/reference.py > docs/python-reference.md. A test of the package compares the page.
"""

import ast
import pathlib
import textwrap

PACKAGE = pathlib.Path(__file__).resolve().parent / "src" / "fieldprobe"
MODULES = ["__init__", "service", "local", "dataset", "calls", "asking", "jobs", "errors", "giverny", "pyjhtdb"]
#: Classes whose methods are part of another class, and functions that are not for users.
LEFT_OUT = ["plain", "arrays", "steps"]
HEAD = """# Reference of the Python package

[fieldprobe for Python](../python/README.md) begins with examples. This page lists every class and function, as their docstrings say.
"""


def signature(function):
    """The name and arguments of a function as they are written."""
    arguments = ast.unparse(function.args)
    arguments = arguments.removeprefix("self, ").removeprefix("self")
    if len(arguments) > 90:
        arguments = "\n    " + ",\n    ".join(arguments.split(", ")) + ",\n"
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{function.name}({arguments}){returns}"


def is_public(node):
    """Whether a definition is part of the interface."""
    return isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_") and node.name not in LEFT_OUT


def paragraph(node):
    """The docstring of a definition, without what the page would read as markup."""
    text = textwrap.dedent(ast.get_docstring(node) or "")
    return text.replace("<", "&lt;").replace("{{", "{ {")


def lines_of(module):
    """The lines of the page about a module."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    for node in filter(is_public, tree.body):
        if isinstance(node, ast.FunctionDef):
            yield from ["", f"### {node.name}", "", "```python", signature(node), "```", "", paragraph(node)]
            continue
        yield from ["", f"### {node.name}", "", paragraph(node)]
        for method in filter(is_public, node.body):
            yield from ["", f"#### {node.name}.{method.name}", "", "```python", signature(method), "```", "", paragraph(method)]


def page():
    """The text of the page."""
    text = HEAD
    for module in MODULES:
        lines = list(lines_of(module))
        if lines:
            name = "fieldprobe" if module == "__init__" else f"fieldprobe.{module}"
            text += "\n".join([f"\n## {name}", *lines, ""])
    return text


if __name__ == "__main__":
    print(page(), end="")
