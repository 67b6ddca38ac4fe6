"""Programs that reach for sockets outside by ways that a filter of `connect` and `bind` may not know."""

# ruff: noqa: E501 - the programs are text

from __future__ import annotations

from attacks.model import Attack

GROUP = "network"

ATTACKS = (
    Attack(
        "data in the first packet",
        GROUP,
        "opens TCP by sendto and sendmsg with MSG_FASTOPEN, without connect",
        """
def attack():
    for host in ("127.0.0.1", O["address"]):
        for send in (lambda end: end.sendto(b"hello", 0x20000000, (host, O["tcp"])),
                     lambda end: end.sendmsg([b"hello"], [], 0x20000000, (host, O["tcp"]))):
            with socket.socket() as end:
                end.settimeout(0.3)
                tried("fast open", lambda: send(end))
    with socket.socket() as end:
        end.settimeout(0.3)
        tried("TCP_FASTOPEN_CONNECT", lambda: (end.setsockopt(6, 30, 1), end.connect((O["address"], O["tcp"])),
                                               end.send(b"hello"))[2])
""",
    ),
    Attack(
        "TCP by another name",
        GROUP,
        "connects by MPTCP, SMC, SCTP and UDP-Lite to the machine's server",
        """
def attack():
    kinds = ((socket.AF_INET, 1, 262), (43, 1, 0), (socket.AF_INET, 1, 132), (socket.AF_INET, 5, 132), (socket.AF_INET, 6, 33))
    for family, kind, protocol in kinds:
        for host in ("127.0.0.1", O["address"]):
            def connect():
                with socket.socket(family, kind, protocol) as end:
                    end.settimeout(0.3)
                    address = struct.pack("=HH4s8x", 2, socket.htons(O["tcp"]), socket.inet_aton(host))
                    if LIBC.connect(end.fileno(), address, len(address)):
                        raise OSError(ctypes.get_errno(), "connect")
            tried(f"protocol {family} {kind} {protocol}", connect)
    for host in ("127.0.0.1", O["address"]):
        try:
            socket.socket(socket.AF_INET, 2, 136).sendto(b"hello", (host, O["udp"]))
        except OSError as error:
            print("held:", error)
""",
    ),
    Attack(
        "sockets of the machine",
        GROUP,
        "asks the kernel for everybody's sockets through sock_diag",
        """
def attack():
    def listed():
        found = []
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as end:
            end.settimeout(0.3)
            for family in (2, 10):
                body = struct.pack("=BBBBI", family, 6, 0, 0, 0xFFFFFFFF) + bytes(48)
                end.send(struct.pack("=IHHII", 16 + len(body), 20, 0x301, 1, 0) + body)
                found.append(end.recv(1 << 16))
        return any(struct.pack(">H", O["tcp"]) in one for one in found)
    tried("sock_diag", listed)
""",
    ),
    Attack(
        "news of the kernel",
        GROUP,
        "listens to devices, audit, processes and generic netlink of the whole machine",
        """
def attack():
    def listen(protocol, group):
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, protocol) as end:
            end.bind((0, group))
            if protocol == 11:
                body = struct.pack("=IIIIHHI", 1, 1, 1, 0, 4, 0, 1)
                end.send(struct.pack("=IHHII", 16 + len(body), 3, 0, 1, 0) + body)
            end.settimeout(0.02)
            end.recv(1 << 16)
    for protocol, group in ((11, 1), (9, 1), (15, 1), (10, 1), (18, 1), (6, 1)):
        tried(f"netlink {protocol}", lambda: listen(protocol, group))
""",
    ),
    Attack(
        "credentials of another",
        GROUP,
        "says over a socket that it is root, or its parent",
        """
def attack():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    other.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    me = (os.getpid(), os.getuid(), os.getgid())
    for pid, uid, gid in ((os.getppid(), me[1], me[2]), (me[0], me[1] + 1, me[2]), (me[0], me[1], me[2] + 1), (O["pid"], 0, 0)):
        if (pid, uid, gid) != me:
            forged = [(socket.SOL_SOCKET, 2, struct.pack("=iii", pid, uid, gid))]
            tried(f"{pid} {uid} {gid}", lambda: one.sendmsg([b"x"], forged))
""",
    ),
    Attack(
        "descriptor of an outsider",
        GROUP,
        "asks whoever listens, by every kind of Unix socket, to hand a descriptor over",
        """
def attack():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        for name in ("\\0" + O["abstract"], *O["sockets"]):
            def ask():
                with socket.socket(socket.AF_UNIX, kind) as end:
                    end.settimeout(0.05)
                    with open("/dev/null") as file:
                        address = name if kind == socket.SOCK_DGRAM else None
                        if address is None:
                            end.connect(name)
                        socket.send_fds(end, [b"hello"], [file.fileno()], 0, address)
            tried(f"{kind} {name[:1]!r}", ask)
""",
    ),
)
