"""The names that a server answers to."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Hosts:
    """The names that a server answers to. A page of another site can only reach it under a name of its own."""

    beyond_loopback: bool = False
    names: tuple[str, ...] = ("localhost",)

    @classmethod
    def of(cls, host: str) -> Hosts:
        if is_loopback(host):
            return cls()
        return cls(True, ("localhost", socket.gethostname().lower(), host.lower()))

    @lru_cache(maxsize=256)  # noqa: B019 (there is one of these, and it lives as long as the server)
    def allow(self, header: str) -> bool:
        """Whether a Host header names this server: an address of its own, or a name that it was given."""
        name = header.rpartition(":")[0] if header.rpartition(":")[2].isdecimal() else header
        name = name.lower()
        if name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return self.beyond_loopback or address.is_loopback


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
