"""What an extraction process does in tests: as the page's first word says."""

import os
import time

from connectors.extractors import Manner, Read
from flows.records import Document, Page


def read(page: Page, manner: Manner) -> Read:
    """Stall, die, swell, fail, or read the page as a document."""
    del manner
    word = page.body.partition(b" ")[0]
    if word == b"stall":
        time.sleep(60)
    if word == b"die":
        os._exit(11)
    if word == b"swell":
        return _document(page, "x" * (8 << 30))
    if word == b"fail":
        raise RecursionError("too deep")
    return _document(page, page.body.decode())


def _document(page: Page, text: str) -> Read:
    return Document(url=page.entry.url, markdown=text, content_hash=str(len(text))), ()
