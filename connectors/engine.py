"""A dataflow run within this process, as `python -m bytewax.run` was told to run it."""

from datetime import timedelta

from bytewax import run as command
from bytewax.dataflow import Dataflow
from bytewax.recovery import RecoveryConfig

EPOCH = timedelta(seconds=10)
"""Bytewax's own epoch where nothing is said."""


def run(flow: Dataflow) -> None:
    """Run a dataflow to its end, by the options on the command line and in the environment.

    What Bytewax's command does with them, which it does once and then ends. `_parse_args` is
    private; the version is pinned, and a test of the continuous mode would miss it.
    """
    told = command._parse_args()  # type: ignore[no-untyped-call]
    recovery = None
    if told.recovery_directory:
        recovery = RecoveryConfig(told.recovery_directory, told.backup_interval)  # type: ignore[no-untyped-call]
    command.cli_main(  # type: ignore[no-untyped-call]
        flow,
        workers_per_process=told.workers_per_process,
        process_id=told.process_id,
        addresses=told.addresses and told.addresses.split(";"),
        epoch_interval=told.snapshot_interval or EPOCH,
        recovery_config=recovery,
    )
