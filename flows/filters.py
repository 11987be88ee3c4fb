"""Conditions on the columns of an index, and the SQL that says them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flows.schema import SCHEMAS, clean

Value = str | int | float | datetime

OPERATORS: Final = ("=", "<", "<=", ">", ">=", "in", "has")
"""`in`: the column is one of several values; `has`: the list in the column has the value."""
COLUMNS: Final = frozenset(SCHEMAS["chunks"].names)
_LISTS: Final = frozenset({"heading_path"})


@dataclass(frozen=True, slots=True)
class Filter:
    """One condition on a column; several hold together.

    >>> Filter("lang", "in", ("en", "de"))
    Filter(column='lang', operator='in', value=('en', 'de'))
    """

    column: str
    operator: str
    value: Value | tuple[Value, ...]

    def __post_init__(self) -> None:
        """Refuse what no store could answer, in one line."""
        if self.column not in COLUMNS:
            raise ValueError(f"an index has no column {self.column!r}")
        if self.operator not in OPERATORS:
            raise ValueError(f"a filter is one of {' '.join(OPERATORS)}, not {self.operator!r}")
        if (self.operator == "has") != (self.column in _LISTS):
            takes = "~ (has)" if self.column in _LISTS else "= < <= > >= (and in)"
            sign = "~" if self.operator == "has" else self.operator
            raise ValueError(f"{self.column} takes {takes}, not {sign}")
        if (self.operator == "in") != isinstance(self.value, tuple):
            raise ValueError(f"{self.column} {self.operator}: several values are for `in`")

    @property
    def values(self) -> tuple[Value, ...]:
        """The value or values, as a store would hold them."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        return tuple(clean(value) if isinstance(value, str) else value for value in values)


def parse(text: str) -> Filter:
    """Return the filter that a person writes: `column=value`, `column>=value` or `column~value`.

    `~` is `has`; numbers and times are read as such where the column holds them.

    >>> parse("heading_path~Resume")
    Filter(column='heading_path', operator='has', value='Resume')
    >>> parse("token_count>=100").value
    100
    """
    for sign in ("<=", ">=", "=", "<", ">", "~"):
        column, found, value = text.partition(sign)
        if found and column.strip().isidentifier():
            operator = "has" if sign == "~" else sign
            return Filter(column.strip(), operator, _typed(column.strip(), value.strip()))
    raise ValueError(f"not a filter: {text!r}; write column=value")


def sql(
    filters: Iterable[Filter],
    *,
    name: Callable[[str], str],
    value: Callable[[Value], str],
    has: str,
) -> str:
    """Return the filters as one SQL condition; `has` is a template with `{column}` and `{value}`.

    >>> sql([Filter("end", "<", 3)], name="`{}`".format, value=repr, has="")
    '`end` < 3'
    """
    return " AND ".join(_condition(one, name, value, has) for one in filters) or "1 = 1"


def _condition(
    one: Filter, name: Callable[[str], str], value: Callable[[Value], str], has: str
) -> str:
    values = [value(one_value) for one_value in one.values]
    if one.operator == "in":
        return f"{name(one.column)} IN ({', '.join(values)})" if values else "1 = 0"
    if one.operator == "has":
        return has.format(column=name(one.column), value=values[0])
    return f"{name(one.column)} {one.operator} {values[0]}"


def _typed(column: str, text: str) -> Value:
    """Return a value of a person's words, as the column holds it."""
    kind = str(SCHEMAS["chunks"].field(column).type) if column in COLUMNS else "string"
    try:
        if kind.startswith("int"):
            return int(text)
        return datetime.fromisoformat(text) if kind.startswith("timestamp") else text
    except ValueError:
        raise ValueError(f"{column} holds {kind}, not {text!r}") from None
