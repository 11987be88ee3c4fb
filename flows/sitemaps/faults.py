"""What is wrong with one file: each kind of fault once, with a count and its first examples."""

from flows.problems import Problem

EXAMPLES = 3
"""Examples quoted of one kind."""

EXAMPLE_LENGTH = 120
"""Characters of an example."""


class Faults:
    """Counts faults; however many there are, it stays small."""

    def __init__(self, subject: str) -> None:
        """Gather the faults of the file at the URL `subject`."""
        self._subject = subject
        self._counts: dict[str, int] = {}
        self._examples: dict[str, list[str]] = {}

    def add(self, kind: str, example: str) -> None:
        """Count one fault."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if self._counts[kind] <= EXAMPLES:
            shown = example[:EXAMPLE_LENGTH].encode("utf-8", "replace").decode("utf-8")
            self._examples.setdefault(kind, []).append(shown)

    def once(self, kind: str, example: str) -> None:
        """Count a fault that a file has or has not."""
        if example not in self._examples.get(kind, ()):
            self.add(kind, example)

    def __contains__(self, kind: str) -> bool:
        """Return whether the file has a fault of this kind."""
        return kind in self._counts

    def problems(self) -> list[Problem]:
        """Return one problem for each kind, in the order of their first fault."""
        return [
            Problem(kind=kind, subject=self._subject, detail=self._detail(kind))
            for kind in self._counts
        ]

    def _detail(self, kind: str) -> str:
        count, examples = self._counts[kind], "; ".join(self._examples[kind])
        return examples if count == 1 else f"{count} times, first: {examples}"
