"""Which IP addresses a crawler may connect to: the public ones, and those opted in by network."""

import ipaddress
from collections.abc import Iterator, Sequence

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

NOT_PUBLIC = tuple(
    (ipaddress.ip_network(network), why)
    for network, why in (
        ("0.0.0.0/8", "this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by carriers"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud metadata"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "this host"),
        ("::1/128", "loopback"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("100::/64", "discard"),
        ("2001::/32", "Teredo"),
        ("2001:db8::/32", "documentation"),
        ("2001::/23", "protocol assignments"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
"""IANA special-purpose address registries (RFC 6890, RFC 9637), and what clouds add to them.

Written out, because `ipaddress.is_global` answers differently from one Python to the next.
"""

ROUTED = tuple(map(ipaddress.IPv6Network, ("2000::/3", "64:ff9b::/96")))
"""All of IPv6 that is routed between networks: global unicast (RFC 4291 §2.4) and NAT64."""

EMBEDDED = tuple(
    (ipaddress.IPv6Network(network), shift, name)
    for network, shift, name in (
        ("::ffff:0:0/96", 0, "IPv4-mapped"),
        ("::ffff:0:0:0/96", 0, "IPv4-translated"),
        ("::/96", 0, "IPv4-compatible"),
        ("64:ff9b::/96", 0, "NAT64"),
        ("2002::/16", 80, "6to4"),
    )
)
"""Where an IPv6 address carries an IPv4 one: its network, and the bits to the right of it.

RFC 4291 §2.5.5, RFC 7915 §2.1 (`::ffff:0:a.b.c.d`), RFC 6052 §2.1, RFC 3056 §2.
"""

_ISATAP = 0x5EFE
"""Bits 32 to 63 of an ISATAP address, less its universal/local bit (RFC 5214 §6.1)."""


def refusal(address: str, allowed: Sequence[Network] = ()) -> str | None:
    """Return why `address` must not be connected to, or None when it may be.

    Public addresses may, and those inside a network of `allowed`. An IPv6 address that carries
    an IPv4 address is as good as the worse of the two. What is no address at all is refused.

    >>> refusal("127.0.0.1")
    'loopback'
    >>> refusal("127.0.0.1", [ipaddress.ip_network("127.0.0.1/32")]) is None
    True
    >>> refusal("64:ff9b::10.0.0.1")
    'private, as NAT64'
    >>> refusal("2a00:1450:4001::200e") is None
    True
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "not an IP address"
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped  # one and the same host for every operating system
    if any(ip in network for network in allowed):
        return None
    if isinstance(ip, ipaddress.IPv4Address):
        return _special(ip)
    if ip.scope_id:
        return "link-local"
    return _carried(ip, allowed) or _special(ip) or _unrouted(ip)


def _special(ip: Address) -> str | None:
    return next((why for network, why in NOT_PUBLIC if ip in network), None)


def _unrouted(ip: ipaddress.IPv6Address) -> str | None:
    return None if any(ip in network for network in ROUTED) else "not routed"


def _carried(ip: ipaddress.IPv6Address, allowed: Sequence[Network]) -> str | None:
    for inner, form in _ipv4_inside(ip):
        why = None if any(inner in network for network in allowed) else _special(inner)
        if why:
            return f"{why}, as {form}"
    return None


def _ipv4_inside(ip: ipaddress.IPv6Address) -> Iterator[tuple[ipaddress.IPv4Address, str]]:
    bits = int(ip)
    for network, shift, form in EMBEDDED:
        if ip in network and bits > 1:
            yield ipaddress.IPv4Address(bits >> shift & 0xFFFFFFFF), form
    if ip.teredo:
        yield from ((inner, "Teredo") for inner in ip.teredo)
    if bits >> 32 & 0xFDFFFFFF == _ISATAP:
        yield ipaddress.IPv4Address(bits & 0xFFFFFFFF), "ISATAP"
