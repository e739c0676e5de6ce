"""The disk cache: files are written whole, trusted only where nobody else can write, and bounded in total size."""

from .cache import CacheEntry, cache_folder, cached
from .sources import source_stamp

__all__ = ["CacheEntry", "cache_folder", "cached", "source_stamp"]
