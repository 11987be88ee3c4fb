"""The processes that run one dataflow together, as Bytewax was told of them."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """This process among its like."""

    number: int = 0
    """Of this process."""
    addresses: tuple[str, ...] = ()
    """Of all processes, in the order of their numbers; none when there is only this one."""

    @property
    def size(self) -> int:
        """How many processes there are."""
        return max(1, len(self.addresses))

    @property
    def name(self) -> str:
        """The same text in all processes of a cluster; empty where there is one process."""
        return ";".join(self.addresses) if self.size > 1 else ""


def told(argv: Sequence[str], env: Mapping[str, str]) -> Cluster:
    """Return what the command line and the environment tell Bytewax.

    >>> told(["run", "flow", "-i", "1", "-a", "localhost:2101;localhost:2102"], {}).number
    1
    >>> told(["run", "flow"], {}).size
    1
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("-i", "--process-id", default=env.get("BYTEWAX_PROCESS_ID", ""))
    parser.add_argument("-a", "--addresses", default=env.get("BYTEWAX_ADDRESSES", ""))
    said = parser.parse_known_args(argv[1:])[0]
    number = said.process_id or _number_of_pod(env)
    addresses = said.addresses or _addresses_of_file(env)
    return Cluster(
        number=int(number) if number.isdecimal() else 0,
        addresses=tuple(address for address in addresses.split(";") if address),
    )


def _number_of_pod(env: Mapping[str, str]) -> str:
    """Return the number at the end of a pod's name, as Bytewax's chart for Kubernetes has it."""
    return env.get("BYTEWAX_POD_NAME", "").removeprefix(
        env.get("BYTEWAX_STATEFULSET_NAME", "") + "-"
    )


def _addresses_of_file(env: Mapping[str, str]) -> str:
    try:
        lines = Path(env["BYTEWAX_HOSTFILE_PATH"]).read_text(encoding="utf-8").splitlines()
    except (KeyError, OSError):
        return ""
    return ";".join(line.strip() for line in lines)
