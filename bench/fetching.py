"""How polite fetching is at the server, and what it costs beside a bare httpx loop.

    python bench/fetching.py --server DIR --corpus DIR

`--server` is a folder with `serve_web.py`, `--corpus` what its `make_web.py` has made. Prints for
50 sites of 15 pages at 5 requests a second each: efficiency (ideal time over real time), most
requests to one site within a second, smallest gap; the same with errors at one page in ten; and
the CPU of fetching beside one small `httpx.AsyncClient` a host, in turn, over the same URLs.
"""

import argparse
import asyncio
import gzip
import ipaddress
import re
import statistics
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
from local_web import Web, served

from connectors.fetcher import Fetcher
from connectors.guest import Guest
from flows import responses
from flows.politeness import Pace
from flows.records import Attribution, Entry, Failure, Method

Urls = dict[str, list[str]]
LOOPBACK = ipaddress.ip_network("127.0.0.0/8")


def listed(web: Web) -> Urls:
    """Return the pages that each site's sitemaps list."""
    return {
        site.rstrip("/"): sitemap(f"{site.rstrip('/')}/sitemap_index.xml") for site in web.sites
    }


def sitemap(url: str) -> list[str]:
    """Return the URLs of a sitemap, or of those that an index lists."""
    with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310  # loopback
        data = answer.read()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    found = re.findall(r"<loc>(.*?)</loc>", text)
    return [u for child in found for u in sitemap(child)] if "<sitemapindex" in text else found


async def politely(urls: Urls, rate: float) -> Counter[str]:
    """Fetch all pages as the crawl does, and return their outcomes."""
    fetcher = Fetcher("sitewax-bench/1", [LOOPBACK])

    async def one(guest: Guest, url: str) -> str:
        entry = Entry(site=guest.origin, url=url, attribution=Attribution(method=Method.ROBOTS))
        came = responses.judge(entry, await guest.ask(url))
        return came.outcome if isinstance(came, Failure) else "ok"

    async def site(origin: str, pages: list[str]) -> list[str]:
        guest = Guest(fetcher, origin, Pace(rate), concurrency=4)
        return await asyncio.gather(*(one(guest, url) for url in pages))

    outcomes = await asyncio.gather(*(site(*item) for item in urls.items()))
    await fetcher.aclose()
    return Counter(outcome for site in outcomes for outcome in site)


async def barely(urls: Urls) -> None:
    """Fetch all pages with one bare client a host."""
    context = httpx.create_ssl_context(trust_env=False)

    async def site(pages: list[str]) -> None:
        slots = asyncio.Semaphore(4)

        async def one(url: str) -> None:
            async with slots:
                (await client.get(url)).raise_for_status()

        async with httpx.AsyncClient(trust_env=False, verify=context) as client:
            await asyncio.gather(*map(one, pages))

    await asyncio.gather(*map(site, urls.values()))


def cpu_s(fetch: Callable[[], Awaitable[object]]) -> float:
    """Return the CPU seconds of this process while `fetch` runs."""

    async def run() -> None:
        await fetch()

    started = time.process_time()
    asyncio.run(run())
    return time.process_time() - started


def main() -> None:
    """Run all parts and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    sites, pages, rate = 50, 15, 5.0
    for errors in (0.0, 0.1):
        with served(
            given.server,
            given.corpus,
            sites=sites,
            pages=pages,
            latency_ms=100,
            error_rate=errors,
        ) as web:
            urls = listed(web)
            web.get("/__reset")
            outcomes = asyncio.run(politely(urls, rate))
            told = web.get("/__stats")
        efficiency = (pages - 1) / rate / told["span_s"]
        print(
            f"errors at {errors:.0%} of pages: efficiency {efficiency:.3f},"
            f" at most {told['max_per_site_in_1s']} in a second, smallest gap"
            f" {told['min_gap_ms']:.0f} ms, {dict(outcomes)}",
            flush=True,
        )
    with served(given.server, given.corpus, sites=10, pages=100) as web:
        urls = listed(web)
        pairs = [
            (cpu_s(lambda: politely(urls, 0)), cpu_s(lambda: barely(urls)))
            for _ in range(given.pairs)
        ]
    ours, bare = (statistics.median(figures) for figures in zip(*pairs, strict=True))
    print(
        f"CPU of fetching {sum(map(len, urls.values()))} pages: {ours:.2f} s, bare client a host"
        f" {bare:.2f} s, ratio {ours / bare:.2f} (medians of {given.pairs} pairs)"
    )


if __name__ == "__main__":
    main()
