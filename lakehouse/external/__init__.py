"""Knowledge from outside: documentation, fetched, kept, refreshed, checked for deprecation. It only ever advises.

Rule of this package: what was fetched is data. It is cut to text, told with its source, and never becomes a memory;
only ``fetch`` speaks to hosts, and only to those that the settings name.
"""
