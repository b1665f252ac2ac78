"""The sources of documentation, each behind ``Source``.

Rule of this package: a new kind of documentation is a module here and a line in ``SOURCES``.
"""
