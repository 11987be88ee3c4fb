"""No connection is made to an address that was not judged, however the address comes about."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest

from connectors.fetcher import PAGE, ROBOTS, Fetcher, egress
from connectors.fetcher.egress import Egress, NoConnection
from flows.records import Outcome
from flows.responses import Answer, Fault, Response
from tests.rawweb import LOOPBACK, Web, client, ok, serving, to

METADATA = "169.254.169.254"


def resolving(
    *answers: Sequence[str],
) -> tuple[Callable[[str], Awaitable[Sequence[str]]], list[str]]:
    """Return a resolver that gives one answer after the other, and the names it is asked for."""
    asked: list[str] = []

    async def resolve(host: str) -> Sequence[str]:
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    return resolve, asked


def bounded(job: Callable[[], Awaitable[object]]) -> object:
    async def within() -> object:
        async with asyncio.timeout(20):
            return await job()

    return asyncio.run(within())


def refused(host: str, *addresses: str) -> NoConnection:
    """Return why there is no connection to a host with these addresses."""
    resolve, _ = resolving(addresses)

    async def job() -> None:
        await Egress(LOOPBACK, resolve if addresses else None).connect_tcp(host, 80)

    with pytest.raises(NoConnection) as caught:
        bounded(job)
    return caught.value


def fetched(visitor: Fetcher, url: str, origin: str) -> Awaitable[Answer]:
    return visitor.fetch(url, want=replace(PAGE, cross_origin=True), origin=origin)


@pytest.mark.parametrize(
    "addresses",
    [("127.0.0.9",), (METADATA,), ("10.0.0.1", "::1"), ("64:ff9b::7f00:9",), ("::ffff:127.0.0.9",)],
)
def test_a_name_that_leads_to_a_refused_address_is_denied(addresses: tuple[str, ...]) -> None:
    error = refused("a.test", *addresses)

    assert error.outcome is Outcome.POLICY_DENIED
    assert all(address in error.detail for address in addresses)
    assert "INGEST_ALLOW_NETWORKS" in error.detail


@pytest.mark.parametrize("host", ["127.9", "0x7f000009", "2130706441", "017700000011", "127.0.0.9"])
def test_an_address_in_any_spelling_is_denied(host: str) -> None:
    assert refused(host).outcome is Outcome.POLICY_DENIED


def test_a_name_that_does_not_exist_is_a_fault_of_dns() -> None:
    error = refused("no-such-host.invalid")

    assert error.outcome is Outcome.DNS_ERROR


def test_a_name_server_that_may_come_back_makes_a_fault_that_may_pass() -> None:
    async def resolve(_: str) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    async def job() -> None:
        await Egress((), resolve).connect_tcp("a.test", 80)

    with pytest.raises(NoConnection) as caught:
        bounded(job)
    assert (caught.value.outcome, caught.value.passing) == (Outcome.DNS_ERROR, True)


def test_of_several_addresses_only_permitted_ones_are_tried() -> None:
    async def job() -> tuple[Answer, Web, Web]:
        async with serving({"/": ok()}) as web, serving({"/": ok()}, "127.0.0.9") as trap:
            resolve, _ = resolving(["127.0.0.9", METADATA, "127.0.0.1"])
            async with client(resolve=resolve) as visitor:
                url = f"http://a.test:{web.port}"
                return await fetched(visitor, url + "/", url), web, trap

    answer, web, trap = bounded(job)  # type: ignore[misc]  # what the job returns
    assert isinstance(answer, Response)
    assert web.log[0].headers["host"] == f"a.test:{web.port}"
    assert trap.connections == 0


def test_a_second_answer_of_the_name_server_has_no_say() -> None:
    async def job() -> tuple[list[Answer], Web, list[str]]:
        async with serving({"/": ok()}) as web:
            resolve, asked = resolving(["127.0.0.1"], ["127.0.0.9"])
            async with client(resolve=resolve) as visitor:
                url = f"http://a.test:{web.port}"
                answers = [await fetched(visitor, url + "/", url) for _ in range(2)]
                await visitor.aclose(url)
                answers.append(await fetched(visitor, url + "/", url))
                return answers, web, asked

    answers, web, asked = bounded(job)  # type: ignore[misc]  # what the job returns
    assert [type(answer) for answer in answers] == [Response, Response, Fault]
    assert answers[2].outcome is Outcome.POLICY_DENIED
    assert (len(asked), web.connections) == (2, 1)


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    async def job() -> Answer:
        async with serving({"/": ok()}) as web:
            networks = (ipaddress.ip_network("127.0.0.0/8"),)
            resolve, _ = resolving(["127.0.0.7", "127.0.0.1"])
            async with client(allow_networks=networks, resolve=resolve) as visitor:
                url = f"http://a.test:{web.port}"
                return await fetched(visitor, url + "/", url)

    assert isinstance(bounded(job), Response)


@pytest.mark.parametrize("host", ["127.0.0.9", "[::ffff:127.0.0.9]", "127.9", "a.test"])
def test_a_redirect_into_a_private_network_makes_no_connection(host: str) -> None:
    async def job() -> tuple[Answer, Web]:
        resolve, _ = resolving(["127.0.0.9"])

        async def either(name: str) -> Sequence[str]:
            return await (resolve if name == "a.test" else egress.system_addresses)(name)

        async with serving({"/x": ok()}, "127.0.0.9") as trap:
            there = to(f"http://{host}:{trap.port}/x")
            async with (
                serving({"/robots.txt": there}) as web,
                client(resolve=either) as visitor,
            ):
                url = web.origin + "/robots.txt"
                return await visitor.fetch(url, want=ROBOTS, origin=web.origin), trap

    answer, trap = bounded(job)  # type: ignore[misc]  # what the job returns
    assert isinstance(answer, Fault)
    assert answer.outcome is Outcome.POLICY_DENIED
    assert trap.connections == 0


def test_a_port_where_nobody_listens_is_a_fault_that_may_pass() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]

    async def job() -> None:
        await Egress(LOOPBACK).connect_tcp("127.0.0.1", port)

    with pytest.raises(NoConnection) as caught:
        bounded(job)
    assert (caught.value.outcome, caught.value.passing) == (Outcome.CONNECTION_ERROR, True)


def test_a_lookup_that_hangs_is_left_behind_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    started = asyncio.Event()

    async def resolve(_: str) -> Sequence[str]:
        started.set()
        await asyncio.Event().wait()
        return []

    async def job() -> Answer:
        async with client(allow_networks=(), resolve=resolve) as visitor:
            want = replace(PAGE, deadline_s=0.2)
            return await visitor.fetch("http://a.test/", want=want, origin="http://a.test")

    answer = bounded(job)
    assert isinstance(answer, Fault)
    assert answer.outcome is Outcome.TIMEOUT
    assert started.is_set()


def test_the_system_resolver_is_asked_on_a_thread_that_nobody_waits_for() -> None:
    async def job() -> list[str]:
        return await egress.system_addresses("localhost")

    assert set(bounded(job)) <= {"127.0.0.1", "::1"}  # type: ignore[call-overload]  # addresses


def test_an_unread_flood_waits_in_the_network_and_not_in_memory() -> None:
    async def job() -> tuple[int, int]:
        async def flood(wire: object) -> None:
            await wire.send(bytes(64 << 20))  # type: ignore[attr-defined]  # a Wire

        async with serving({"/": flood}) as web:
            stream = await Egress(LOOPBACK).connect_tcp("127.0.0.1", web.port)
            await stream.write(b"GET / HTTP/1.1\r\n\r\n")
            await asyncio.sleep(0.1)
            held = len(stream._pipe.unread)  # type: ignore[attr-defined]  # what is held
            total = 0
            while total < 64 << 20:
                total += len(await stream.read(1 << 20))
            await stream.aclose()
            return held, total

    held, total = bounded(job)  # type: ignore[misc]  # what the job returns
    assert held <= 2 * egress.MAX_UNREAD
    assert total == 64 << 20
