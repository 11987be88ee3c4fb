"""Prices that a page states as data: JSON-LD, microdata, `product:price` metas."""

import functools
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import chain, islice

from lxml.html import HtmlElement

from flows.facts import linked
from flows.facts.declared import MOST_TEXT, Declared, text_of, words
from flows.facts.linked import Node
from flows.records import Price

MAX_PRICES = 100
"""Prices kept of one page."""
LARGEST = Decimal(10**14)
"""Amounts from here on do not fit the column, decimal(18, 4)."""
MAX_NESTING = 64
"""Elements between a property of microdata and its item."""
AMOUNTS = ("price", "lowPrice", "highPrice")
"""Properties of an offer that hold an amount (schema.org)."""
_NUMBER = re.compile(r"[^\d.,+-]{0,8}(\d[\d.,'\s\u00a0\u202f]{0,30}|\.\d{1,4})[^\d.,]{0,8}")
_TOLD = frozenset({"name", "priceCurrency"})
_CODE = re.compile(r"[A-Z]{3}")


def stated(page: Declared) -> tuple[Price, ...]:
    """Return the prices of a page in the order they are stated, each once."""
    found: dict[Price, None] = {}
    known: set[tuple[Decimal, str | None]] = set()
    for price in chain(_linked(page), _microdata(page), _metas(page)):
        if price.name is not None or (price.amount, price.currency) not in known:
            found[price] = None
            known.add((price.amount, price.currency))
        if len(found) == MAX_PRICES:
            break
    return tuple(found)


def amount(value: object) -> Decimal | None:
    """Return the number that a price names, or None when it names none.

    >>> amount("1,299.00"), amount("19,99 \u20ac"), amount("1.299,00"), amount(5)
    (Decimal('1299.00'), Decimal('19.99'), Decimal('1299.00'), Decimal('5'))
    >>> amount("from 3 to 5") is None
    True
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    found = _NUMBER.fullmatch(str(value).strip())
    if found is None:
        return None
    digits = re.sub(r"[^\d.,]", "", found[1]).rstrip(".,")
    number = _decimal(digits)
    return number if number is not None and number < LARGEST else None


def _decimal(digits: str) -> Decimal | None:
    """Return digits with a decimal point or comma, and marks between thousands, as a number."""
    mark = max(digits.rfind("."), digits.rfind(","))
    if mark < 0:
        return Decimal(digits)
    whole, sign, rest = digits[:mark], digits[mark], digits[mark + 1 :]
    thousands = len(rest) == 3 and (sign == "," or whole.count(sign) > 0)
    whole = re.sub(r"[.,]", "", whole) or "0"
    number = Decimal(whole + rest) if thousands else Decimal(f"{whole}.{rest}")
    return round(number, 4) if len(rest) > 4 else number


def _linked(page: Declared) -> Iterator[Price]:
    """Yield the prices of JSON-LD; an offer goes by the name of what it offers."""
    pending: list[tuple[object, str | None]] = [(list(page.data), None)]
    seen = 0
    while pending and seen < linked.MAX_NODES:
        value, name = pending.pop()
        if isinstance(value, list):
            pending.extend((inner, name) for inner in reversed(value))
        elif isinstance(value, dict):
            seen += 1
            name = linked.name_of(value) or name
            yield from _offered(value, name)
            pending.extend((inner, name) for inner in reversed(value.values()))


def _offered(node: Node, name: str | None) -> Iterator[Price]:
    """Yield the amounts of one offer."""
    for key in AMOUNTS:
        number = amount(node.get(key))
        if number is not None:
            yield _price(number, node.get("priceCurrency"), name)


def _microdata(page: Declared) -> Iterator[Price]:
    """Yield the prices of microdata."""
    told = functools.cache(_value)
    scopes = [_scope(element) for _, element in page.items]
    stated: dict[tuple[HtmlElement | None, str], HtmlElement] = {}
    for (names, element), scope in zip(page.items, scopes, strict=True):
        for name in names & _TOLD:
            stated.setdefault((scope, name), element)
    for (names, element), scope in zip(page.items, scopes, strict=True):
        number = None if names.isdisjoint(AMOUNTS) else amount(_value(element))
        if number is not None:
            outer = None if scope is None else _scope(scope)
            named = stated.get((scope, "name"), stated.get((outer, "name")))
            yield _price(number, told(stated.get((scope, "priceCurrency"))), told(named))


def _metas(page: Declared) -> Iterator[Price]:
    """Yield the price of OpenGraph's product metas."""
    for prefix in ("product:price", "og:price", "product:sale_price"):
        for value in page.meta(f"{prefix}:amount"):
            number = amount(value)
            if number is not None:
                yield _price(number, next(page.meta(f"{prefix}:currency"), None), None)


def _price(number: Decimal, currency: object, name: str | None) -> Price:
    """Return a price; a currency counts where it is an ISO 4217 code."""
    code = currency.strip().upper() if isinstance(currency, str) else ""
    return Price(
        amount=number, currency=code if _CODE.fullmatch(code) else None, name=words(name, 300)
    )


def _scope(element: HtmlElement) -> HtmlElement | None:
    """Return the item that an element of microdata belongs to."""
    above = islice(element.iterancestors(), MAX_NESTING)
    return next((up for up in above if up.get("itemscope") is not None), None)


def _value(element: HtmlElement | None) -> str | None:
    """Return what a property of microdata says."""
    if element is None:
        return None
    return (element.get("content") or "")[:MOST_TEXT] or text_of(element)
