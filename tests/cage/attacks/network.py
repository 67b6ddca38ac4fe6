"""Programs that try to reach the network, or any socket outside."""

from __future__ import annotations

from attacks.model import Attack

GROUP = "network"

ATTACKS = (
    Attack(
        "TCP to loopback",
        GROUP,
        "connects to a server on the machine's 127.0.0.1 and ::1",
        """
def attack():
    for host in ("127.0.0.1", "::1", "0.0.0.0", "localhost"):
        tried(host, lambda: socket.create_connection((host, O["tcp"]), 0.3).sendall(b"hello"))
""",
    ),
    Attack(
        "TCP to the host's address",
        GROUP,
        "connects to a server on the machine's outer address",
        """
def attack():
    tried(O["address"], lambda: socket.create_connection((O["address"], O["tcp"]), 0.3).sendall(b"hello"))
""",
    ),
    Attack(
        "UDP to the host",
        GROUP,
        "sends a datagram to the machine (seen where it arrives)",
        """
def attack():
    for host in ("127.0.0.1", O["address"]):
        try:
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", (host, O["udp"]))
        except OSError as error:
            print("held:", error)
""",
    ),
    Attack(
        "abstract Unix socket",
        GROUP,
        "connects to a socket in the abstract name space",
        """
def attack():
    def connect(kind):
        with socket.socket(socket.AF_UNIX, kind) as end:
            end.connect("\\0" + O["abstract"])
            end.sendall(b"hello")
    tried("stream", lambda: connect(socket.SOCK_STREAM))
""",
    ),
    Attack(
        "Unix socket by path",
        GROUP,
        "connects to sockets in folders that anybody may enter",
        """
def attack():
    for path in O["sockets"]:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with socket.socket(socket.AF_UNIX, kind) as end:
                tried(path, lambda: (end.connect(path), end.sendall(b"hello")))
""",
    ),
    Attack(
        "datagram from a socket pair",
        GROUP,
        "re-targets one end of a datagram pair at an outside socket",
        """
def attack():
    end, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for path in (*O["sockets"], "\\0" + O["abstract"]):
        tried("sendto", lambda: end.sendto(b"hello", path))
        tried("connect", lambda: (end.connect(path), end.sendall(b"hello")))
""",
    ),
    Attack(
        "engine sockets",
        GROUP,
        "connects to Docker's, containerd's, D-Bus', systemd's and X's sockets",
        """
def attack():
    for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock",
                 "/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/notify", "/dev/log",
                 "/tmp/.X11-unix/X0", "\\0/tmp/.X11-unix/X0", f"/run/user/{os.getuid()}/bus"):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with socket.socket(socket.AF_UNIX, kind) as end:
                tried(path, lambda: end.connect(path))
""",
    ),
    Attack(
        "sockets beyond the namespace",
        GROUP,
        "opens VSOCK, PACKET, raw, ALG and other families of sockets",
        """
def attack():
    for name, family, kind, protocol in (
        ("VSOCK", 40, 1, 0), ("PACKET", 17, 3, 0x300), ("raw IP", 2, 3, 1), ("raw IPv6", 10, 3, 58),
        ("ALG", 38, 5, 0), ("KEY", 15, 3, 2), ("BLUETOOTH", 31, 3, 1), ("CAN", 29, 3, 1), ("XDP", 44, 3, 0),
        ("TIPC", 30, 2, 0), ("RDS", 21, 5, 0), ("NETLINK audit", 16, 3, 9), ("NETLINK netfilter", 16, 3, 12),
    ):
        tried(name, lambda: socket.socket(family, kind, protocol).close())
""",
    ),
    Attack(
        "DNS",
        GROUP,
        "looks a name up, and sends a question to the resolver's port",
        """
def attack():
    socket.setdefaulttimeout(0.3)
    tried("name", lambda: socket.getaddrinfo("example.com", 80))
    question = b"\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0\\7example\\3com\\0\\0\\1\\0\\1"
    for host, port in (("127.0.0.1", O["udp"]), ("127.0.0.53", 53), ("127.0.0.1", 53), (O["address"], O["udp"])):
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        tried(host, lambda: (end.settimeout(0.2), end.sendto(question, (host, port)), end.recv(512)))
""",
        limits={"wall_s": 10},
    ),
    Attack(
        "interfaces",
        GROUP,
        "looks for a network card, and brings one up",
        """
def attack():
    import fcntl
    cards = [name for _, name in tried_names()]
    if set(cards) - {"lo", "sit0", "tunl0", "ip6tnl0"}:
        out(f"sees {cards}")
    def table(path):
        return hex(O["tcp"])[2:].upper().zfill(4) in open(path).read()
    tried("sees a socket of the machine in /proc/net/tcp", lambda: table("/proc/net/tcp"))
    def up():
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        fcntl.ioctl(end, 0x8914, struct.pack("16sh14x", b"lo", 0x49))
    tried("SIOCSIFFLAGS", up)


def tried_names():
    try:
        return socket.if_nameindex()
    except OSError:
        return []
""",
    ),
    Attack(
        "server for outsiders",
        GROUP,
        "listens on every address while the test knocks from outside",
        """
def attack():
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("0.0.0.0", O["free_port"]))
        server.listen()
        server.settimeout(0.7)
        tried("somebody outside connected", server.accept)
""",
    ),
)
