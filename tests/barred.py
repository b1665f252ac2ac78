"""The beginning of a program that finds every way to another host barred, and keeps count in ``attempts``."""

BARRED = """
import socket
attempts = []
def bar(*args, **kwargs):
    attempts.append(repr(args))
    raise OSError("barred")
for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, bar)
for name in ("getaddrinfo", "gethostbyname", "create_connection"):
    setattr(socket, name, bar)
"""
