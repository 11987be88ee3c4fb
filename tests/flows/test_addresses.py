"""Nothing that is not public may be connected to, in whatever form its address comes."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows import addresses

PRIVATE = "10.1.2.3"
PUBLIC = "93.184.216.34"


def embedded(form: str, ipv4: str) -> str:
    """Return an IPv6 address that carries an IPv4 address in a given form."""
    bits = int(ipaddress.IPv4Address(ipv4))
    forms = {
        "mapped": 0xFFFF << 32 | bits,
        "translated": 0xFFFF << 48 | bits,
        "compatible": bits,
        "NAT64": 0x64FF9B << 96 | bits,
        "6to4": 0x2002 << 112 | bits << 80,
        "Teredo client": 0x20010000 << 96 | 0x5DB8D822 << 64 | (bits ^ 0xFFFFFFFF),
        "Teredo server": 0x20010000 << 96 | bits << 64 | (0x5DB8D822 ^ 0xFFFFFFFF),
        "ISATAP": 0x2A00145040010000 << 64 | 0x5EFE << 32 | bits,
        "ISATAP, universal": 0x2A00145040010000 << 64 | 0x2005EFE << 32 | bits,
    }
    return str(ipaddress.IPv6Address(forms[form]))


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104  # refused, not listened on
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "64:ff9b:1::a00:1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "3fff::1",
        "4000::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "2a00:1450::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert addresses.refusal(address)


@pytest.mark.parametrize(
    "form",
    [
        "mapped",
        "translated",
        "compatible",
        "NAT64",
        "6to4",
        "Teredo client",
        "Teredo server",
        "ISATAP",
        "ISATAP, universal",
    ],
)
@pytest.mark.parametrize("ipv4", [PRIVATE, "127.0.0.1", "169.254.169.254", "0.0.0.0"])  # noqa: S104
def test_an_address_that_carries_a_private_one_is_refused(form: str, ipv4: str) -> None:
    if (form, ipv4) == ("compatible", "0.0.0.0"):  # noqa: S104
        assert addresses.refusal("::") == "this host"
    assert addresses.refusal(embedded(form, ipv4))


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "172.32.0.1", "2a00:1450:4001::200e"])
def test_a_public_address_is_let_through(address: str) -> None:
    assert addresses.refusal(address) is None


@pytest.mark.parametrize("form", ["mapped", "NAT64", "6to4", "ISATAP"])
def test_a_routed_form_of_a_public_address_is_let_through(form: str) -> None:
    assert addresses.refusal(embedded(form, PUBLIC)) is None


def test_a_network_is_opted_in_exactly() -> None:
    allowed = [ipaddress.ip_network("127.0.0.1/32"), ipaddress.ip_network("fd00::/8")]

    assert addresses.refusal("127.0.0.1", allowed) is None
    assert addresses.refusal("::ffff:127.0.0.1", allowed) is None
    assert addresses.refusal("fd00::1", allowed) is None
    assert addresses.refusal("127.0.0.2", allowed)
    assert addresses.refusal("::ffff:127.0.0.2", allowed)
    assert addresses.refusal("::1", allowed)
    assert addresses.refusal("fc00::1", allowed)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f000001", "2130706433", "1.2.3.4 "])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert addresses.refusal(text)


@given(st.ip_addresses(v=4))
def test_nothing_is_let_through_that_python_calls_private(ip: ipaddress.IPv4Address) -> None:
    if addresses.refusal(str(ip)) is None:
        assert not ip.is_private
        assert not ip.is_multicast


@given(st.ip_addresses(v=4), st.sampled_from(["mapped", "NAT64", "6to4"]))
def test_a_carried_address_is_judged_like_itself(ip: ipaddress.IPv4Address, form: str) -> None:
    inside, outside = addresses.refusal(str(ip)), addresses.refusal(embedded(form, str(ip)))

    assert (inside is None) == (outside is None)
