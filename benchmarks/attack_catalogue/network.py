"""Programs that try to reach the network, or any socket outside."""

from __future__ import annotations

from attacks.model import Attack

GROUP = "network"

ATTACKS = (
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
)
