"""Programs that try to reach the network, or any socket outside."""

from __future__ import annotations

from attacks.model import Attack

GROUP = "network"

ATTACKS = (
    Attack("TCP to loopback", GROUP, "connects to a server on the machine's 127.0.0.1 and ::1", """
def attack():
    for host in ("127.0.0.1", "::1", "0.0.0.0", "localhost"):
        tried(host, lambda: socket.create_connection((host, O["tcp"]), 0.3).sendall(b"hello"))
"""),
    Attack("UDP to the host", GROUP, "sends a datagram to the machine (seen where it arrives)", """
def attack():
    for host in ("127.0.0.1", O["address"]):
        try:
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", (host, O["udp"]))
        except OSError as error:
            print("held:", error)
"""),
    Attack("abstract Unix socket", GROUP, "connects to a socket in the abstract name space", """
def attack():
    def connect(kind):
        with socket.socket(socket.AF_UNIX, kind) as end:
            end.connect("\\0" + O["abstract"])
            end.sendall(b"hello")
    tried("stream", lambda: connect(socket.SOCK_STREAM))
"""),
    Attack("datagram from a socket pair", GROUP, "re-targets one end of a datagram pair at an outside socket", """
def attack():
    end, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for path in (*O["sockets"], "\\0" + O["abstract"]):
        tried("sendto", lambda: end.sendto(b"hello", path))
        tried("connect", lambda: (end.connect(path), end.sendall(b"hello")))
"""),
    Attack("sockets beyond the namespace", GROUP, "opens VSOCK, PACKET, raw, ALG and other families of sockets", """
def attack():
    for name, family, kind, protocol in (
        ("VSOCK", 40, 1, 0), ("PACKET", 17, 3, 0x300), ("raw IP", 2, 3, 1), ("raw IPv6", 10, 3, 58),
        ("ALG", 38, 5, 0), ("KEY", 15, 3, 2), ("BLUETOOTH", 31, 3, 1), ("CAN", 29, 3, 1), ("XDP", 44, 3, 0),
        ("TIPC", 30, 2, 0), ("RDS", 21, 5, 0), ("NETLINK audit", 16, 3, 9), ("NETLINK netfilter", 16, 3, 12),
    ):
        tried(name, lambda: socket.socket(family, kind, protocol).close())
"""),
    Attack("server for outsiders", GROUP, "listens on every address while the test knocks from outside", """
def attack():
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("0.0.0.0", O["free_port"]))
        server.listen()
        server.settimeout(0.8)
        tried("somebody outside connected", server.accept)
"""),
)  # fmt: skip
