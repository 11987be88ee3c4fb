"""When each site starts in the continuous mode: evenly over the interval between two runs."""

from collections.abc import Mapping, Sequence


def starts(sites: Sequence[str], every_s: float, seconds: Mapping[str, float]) -> dict[str, float]:
    """Return how many seconds after the start of a cycle each site starts.

    `seconds` says how long the sites took last time. One that was never read starts at once, and
    one whose turn comes so late that it would still be busy at the next cycle starts earlier.

    >>> starts(["a", "b", "c"], 60.0, {"a": 5.0, "b": 5.0, "c": 30.0})
    {'a': 0.0, 'b': 20.0, 'c': 30.0}
    >>> starts(["a", "b"], 60.0, {"a": 5.0})
    {'a': 0.0, 'b': 0.0}
    """
    share = every_s / max(1, len(sites))
    return {
        site: min(number * share, max(0.0, every_s - seconds[site])) if site in seconds else 0.0
        for number, site in enumerate(sites)
    }
