"""Sitemaps as a stream: bytes in, URLs and further sitemaps out (sitemaps.org).

One `Reader` reads one file, whatever it is: urlset, index, text, RSS or Atom, packed or not, in any
encoding, well-formed or not. Read the modules in the order of the bytes: `unpack`, `decode`,
`markup` or `lines`, `elements`, `records`; `reader` joins them.
"""

from flows.records import Declared
from flows.sitemaps.dates import parse_lastmod
from flows.sitemaps.reader import Reader
from flows.sitemaps.records import Child, Found

__all__ = ["Child", "Declared", "Found", "Reader", "parse_lastmod"]
