"""Prints the reference of the package from its docstrings.

Run it after a change: python3 python/reference.py > docs/python-reference.md. A test of the package compares the page.
"""

import ast
import pathlib
import re

PACKAGE = pathlib.Path(__file__).resolve().parent / "src" / "fieldprobe"
MODULES = ["service", "local", "dataset", "calls", "asking", "jobs", "errors", "giverny", "pyjhtdb"]
#: Functions that are not for users.
LEFT_OUT = ["plain", "arrays", "array_of", "steps", "Version", "fetch", "soap_vectors"]
HEAD = """# Reference of the Python package

The classes and functions of [fieldprobe for Python](../python/README.md), which begins with examples.
"""
CALLS = """
### Calls

Methods of a dataset. Members have the names, defaults and meanings of [Members](asking.md#members), and each call takes those that
[its section](asking.md#each-call) lists: `what` and `points` by place, all others by name. A value is a number, a text, a list, a numpy array or
scalar, a slice for a range (`x=slice(0, 1)`), or None for what is not given.
"""

PROGRESS = "`progress=True` shows a bar if tqdm is installed; a function gets the counts of finished and of all points."


def is_public(node):
    """Whether a definition is part of the interface."""
    return isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_") and node.name not in LEFT_OUT


def is_property(node):
    """Whether a method is read like an attribute."""
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def signature(node):
    """The name and arguments of a function as they are written."""
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("self")
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){returns}"


def marked(text):
    """A docstring as Markdown: code in single backticks, and no markup besides."""
    return text.replace("``", "`").replace("<", "&lt;").replace("{{", "{ {")


def sections(node):
    """What a docstring says, and its sections (Args, Raises, Returns, Attributes) as pairs of a name and its lines."""
    text, *rest = re.split(r"\n\n(Args|Raises|Returns|Attributes):\n", ast.get_docstring(node) or "")
    bodies = (re.sub(r"\n {8,}", " ", body).splitlines() for body in rest[1::2])
    return marked(text), [(name, [marked(line.strip()) for line in body]) for name, body in zip(rest[::2], bodies)]


def described(node):
    """The paragraphs of a definition, and a list for each of its sections."""
    text, parts = sections(node)
    yield from ["", text]
    for name, lines in parts:
        yield from ["", f"{name}:", ""]
        yield from (re.sub(r"^(\w+): ", r"- `\1`: ", line) for line in lines)


def calls_of(node):
    """A table of the calls, and what each kind of them returns."""
    yield CALLS
    yield from ["| Method | Answers | Returns |", "|---|---|---|"]
    longer = []
    for method in filter(is_public, node.body):
        text, parts = sections(method)
        returned = " ".join(dict(parts)["Returns"])
        kind = ast.unparse(method.returns)
        if kind == "Any":
            returned = re.sub(r'time="each"', r'`\g<0>`', returned)
            longer.append(f"`{method.name}`: {returned[0].lower()}{returned[1:]} {PROGRESS}")
            kind = "array, or dict of arrays"
        else:
            kind = f"[{kind}](#{kind.lower()})"
        yield f"| `{method.name}` | {text.splitlines()[0].rstrip('.')} | {kind} |"
    for text in longer:
        yield from ["", text]


def class_of(node):
    """A class: what it is, a table of its attributes, and its methods."""
    yield from ["", f"### {node.name}", *described(node)]
    methods = list(filter(is_public, node.body))
    attributes = [method for method in methods if is_property(method)]
    if attributes:
        yield from ["", "| Attribute | Type | |", "|---|---|---|"]
        for one in attributes:
            yield f"| `{one.name}` | `{ast.unparse(one.returns)}` | {sections(one)[0].rstrip('.')} |"
    for method in methods:
        if not is_property(method):
            yield from ["", f"**`{signature(method)}`**", *described(method)]


def lines_of(module):
    """The lines of the page about a module."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    for node in filter(is_public, tree.body):
        if isinstance(node, ast.FunctionDef):
            yield from ["", f"### {node.name}", "", f"**`{signature(node)}`**", *described(node)]
        else:
            yield from calls_of(node) if module == "calls" else class_of(node)


def page():
    """The text of the page."""
    return HEAD + "".join("\n".join([f"\n## fieldprobe.{module}", *lines_of(module), ""]) for module in MODULES)


if __name__ == "__main__":
    print(page(), end="")
