"""A record of settings as environment variables: their names, readers, defaults and meanings."""

import ast
import inspect
import ipaddress
import math
import textwrap
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from flows.secret import Secret
from flows.settings import sites
from flows.settings.sites import Site

NOTHING = "–"  # noqa: RUF001  # an en dash is what tables print
"""How an empty default is written."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Knob:
    """One environment variable: its field, reader, default as written, and meaning."""

    field: str
    read: Callable[[str, str], object]
    """Takes the variable's name and text; raises ValueError in one line."""
    default: str
    meaning: str


def stated(record: type, env: Mapping[str, str], prefix: str, *, command: str) -> dict[str, object]:
    """Return the fields of a record of settings that `env` states; ValueError in one line."""
    known = names(record, prefix)
    unknown = sorted(name for name in env if name.startswith(prefix) and name not in known)
    if unknown:
        raise ValueError(f"{unknown[0]} is not a setting; see python -m {command} --help")
    return {
        knob.field: knob.read(name, env[name].strip())
        for name, knob in known.items()
        if env.get(name, "").strip()
    }


@cache
def names(record: type, prefix: str) -> dict[str, Knob]:
    """Return every variable by its name, in the order of the fields."""
    meanings = _field_docs(record)
    hints = typing.get_type_hints(record)
    return {
        prefix + f.name.upper(): Knob(
            field=f.name,
            read=_READERS[hints[f.name]],
            default=_as_written(f.default),
            meaning=meanings[f.name],
        )
        for f in fields(record)
    }


def _field_docs(record: type) -> dict[str, str]:
    """Return the docstring under each field of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(record))).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101  # getsource of a class
    docs = {}
    for above, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(above, ast.AnnAssign) and isinstance(below, ast.Expr):
            docs[ast.unparse(above.target)] = " ".join(ast.literal_eval(below.value).split())
    return docs


def _as_written(value: object) -> str:
    """Return a default in the spelling that the environment would use."""
    match value:
        case bool():
            return str(int(value))
        case tuple():
            return ",".join(map(_as_written, value)) or NOTHING
        case float():
            return f"{value:g}"
    return str(value) or NOTHING


def manual(command: str, about: str, knobs: Mapping[str, Knob]) -> str:
    """Return the text of `--help`: how to call `command`, and every setting."""
    lines = [
        f"{about}\n\n    {command}\n\nSettings are environment variables (default in brackets):\n"
    ]
    for name, knob in knobs.items():
        lines.append(f"  {name} [{knob.default}]")
        lines.append(
            textwrap.fill(knob.meaning, 96, initial_indent=" " * 6, subsequent_indent=" " * 6)
        )
    return "\n".join(lines) + "\n"


def _reader(read: Callable[[str], object], expected: str) -> Callable[[str, str], object]:
    """Return a reader that says, when `read` fails, which variable wants what."""

    def checked(name: str, text: str) -> object:
        try:
            return read(text)
        except ValueError:
            raise ValueError(f"{name} must be {expected}, not {text!r}") from None

    return checked


def _each(read: Callable[[str], object]) -> Callable[[str], object]:
    """Return a reader of words, each read alike."""
    return lambda text: tuple(map(read, sites.split(text)))


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_READERS: dict[object, Callable[[str, str], object]] = {
    tuple[Site, ...]: sites.read,
    tuple[str, ...]: _reader(_each(sites.url), "http or https URLs"),
    tuple[float, ...]: _reader(_each(sites.at_least_zero), "seconds, e.g. 5,20"),
    tuple[Network, ...]: _reader(
        _each(ipaddress.ip_network),
        "networks, e.g. 127.0.0.1/32",
    ),
    Path: lambda _, text: Path(text),
    Secret: lambda _, text: Secret(text),
    str: lambda _, text: text,
    bool: _reader(
        lambda text: {"0": False, "1": True}[text] if text in "01" else int("?"), "0 or 1"
    ),
    int: _reader(int, "a whole number"),
    float: _reader(_number, "a number"),
}
