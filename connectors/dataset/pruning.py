"""Old runs, dropped one by one: a reader finds a run whole, or not at all."""

from connectors.dataset import Dataset, files
from flows import retention


def prune(dataset: Dataset, keep: int) -> tuple[list[str], int]:
    """Drop the runs that are not to be kept, the oldest first; return them, and how many are left.

    A run that is not finished stays. Raises ValueError when somebody writes to the dataset.
    """
    dataset.enter()
    try:
        wanted = retention.kept(dataset.reports(), keep)
        ended = sorted(path.parent for path in dataset.runs.glob("*/report.json"))
        dropped = [run for run in ended if run.name not in wanted]
        for run in dropped:
            away = run.rename(dataset.work / f"dropped-{run.name}")
            files.sync(dataset.runs)
            files.remove(away)
        return [run.name for run in dropped], len(ended) - len(dropped)
    finally:
        dataset.leave()
