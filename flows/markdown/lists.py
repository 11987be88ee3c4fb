"""Lists as Markdown."""

from flows.markdown.frames import Frame, Listed


def written(frame: Frame, *, other: bool) -> Listed:
    """Return a list; `other` takes the second kind of mark, to part it from one right before."""
    ordered = frame.element.tag == "ol"
    number = counted(frame.element.get("start"), 1)
    lines, loose = [], False
    for value, blocks in frame.items:
        number = value if ordered and value >= 0 else number
        mark = f"{number}{')' if other else '.'} " if ordered else ("* " if other else "- ")
        number += 1
        loose = loose or not all(isinstance(block, Listed) for block in blocks[1:])
        lines.append(_item(mark, blocks))
    return Listed(("\n\n" if loose else "\n").join(lines))


def is_other(before: Listed) -> bool:
    """Tell whether a list right after `before` needs the second kind of mark."""
    return before.startswith("- ") or before.partition(" ")[0].endswith(".")


def counted(value: str | None, default: int) -> int:
    """Return the number an attribute holds, or `default`."""
    text = value or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def _item(mark: str, blocks: list[str]) -> str:
    """Return an item with its further lines below its first word."""
    text = blocks[0]
    for block in blocks[1:]:
        text += ("\n" if isinstance(block, Listed) else "\n\n") + block
    first, *rest = text.split("\n")
    pad = " " * len(mark)
    return "\n".join([mark + first, *(pad + line if line else line for line in rest)])
