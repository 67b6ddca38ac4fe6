"""Programs that act on other processes, or stay when they should be gone."""

from __future__ import annotations

from attacks.model import QUICK, Attack, not_correct, unwaited

GROUP = "processes"

ATTACKS = (
    Attack("signal to the supervisor", GROUP, "sends signals to the supervisor and to an unrelated process", """
def attack():
    for pid in (O["pid"], O["victim"]):
        for number in (0, signal.SIGURG, signal.SIGWINCH):
            if not outsider_in_reach():
                print("held")
                continue
            os.kill(pid, number)
            out(f"signal {number} to {pid}")
"""),
    Attack("signal to everybody", GROUP, "kill(-1) with SIGSTOP and SIGKILL", """
def attack():
    if outsider_in_reach():
        os.kill(-1, signal.SIGURG)
        out("the supervisor is in reach")
        return
    for number in (signal.SIGSTOP, signal.SIGKILL):
        try:
            os.kill(-1, number)
        except OSError as error:
            print("held:", error)
"""),
    Attack("signal to its group", GROUP, "killpg(0) and the groups of its parent: a group crosses namespaces", """
def attack():
    for call in (lambda: os.kill(0, signal.SIGURG), lambda: os.killpg(os.getppid(), signal.SIGURG),
                 lambda: os.killpg(O["group"], signal.SIGURG), lambda: os.kill(0, signal.SIGWINCH),
                 lambda: os.setpgid(0, os.getppid()), lambda: os.setpgid(0, O["group"])):
        try:
            call()
        except OSError as error:
            print("held:", error)
    if os.getsid(0) == 0 or os.getpgid(0) == 0:
        out("its group began outside")
"""),
    Attack("daemon", GROUP, "forks twice, takes a session of its own and stays", """
def attack():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)  # " + O["token"]])
        os._exit(0)
    os.wait()
""", escaped=unwaited),
    Attack("grandchild holds the output", GROUP, "ends while a grandchild keeps standard output open", """
def attack():
    subprocess.Popen([sys.executable, "-c", "import subprocess, sys; subprocess.Popen([sys.executable, '-c', '"
                      "import time; time.sleep(600)  # " + O["token"] + "'])"]).wait()
""", escaped=unwaited),
    Attack("stops itself", GROUP, "sends SIGSTOP to itself",
           "def attack():\n    os.kill(os.getpid(), signal.SIGSTOP)\n", escaped=not_correct, limits=QUICK),
)  # fmt: skip
