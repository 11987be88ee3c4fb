"""What travels the stream: frozen records, built once and never changed.

Every record pickles (it may change process), carries its own identity and attribution, and
leaves what is absent as None. Times are aware and in UTC, sizes are bytes; other units stand in
the name or in the line under the field.
"""

from flows.records.entries import (
    AllDeclared,
    Alternate,
    Attribution,
    Columns,
    Declared,
    Entries,
    Entry,
    LeftOut,
    Link,
    Rules,
    Sighting,
    Sightings,
    alike,
)
from flows.records.pages import Chunk, Document, Exchange, Failure, Offer, Page, Price, Reading
from flows.records.reports import Alert, SiteEnd, SitemapRead
from flows.records.words import Change, Method, Outcome, Severity

Row = Failure | LeftOut | Reading | Sighting | Sightings | SitemapRead | Alert | SiteEnd
"""What the dataset takes."""

__all__ = [
    "Alert",
    "AllDeclared",
    "Alternate",
    "Attribution",
    "Change",
    "Chunk",
    "Columns",
    "Declared",
    "Document",
    "Entries",
    "Entry",
    "Exchange",
    "Failure",
    "LeftOut",
    "Link",
    "Method",
    "Offer",
    "Outcome",
    "Page",
    "Price",
    "Reading",
    "Row",
    "Rules",
    "Severity",
    "Sighting",
    "Sightings",
    "SiteEnd",
    "SitemapRead",
    "alike",
]
