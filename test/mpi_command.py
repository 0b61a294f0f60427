"""carom under mpirun: equal bytes for any number of ranks, one message and exit status, runs that go on after a kill."""
import atexit
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from command import COMMAND, SOURCE, carom, check, main

DIR = pathlib.Path(tempfile.mkdtemp(prefix="carom-mpi-"))
atexit.register(shutil.rmtree, DIR)
MPIRUN = ["mpirun", "--oversubscribe"] + (["--allow-run-as-root"] if os.getuid() == 0 else [])
BREAK = ("spread", "pool-break", "--jitter", "gap=1e-5", "--until", "0.14")


def ranks(count, *arguments, command=COMMAND, more=()):
    run = subprocess.run([*MPIRUN, "-n", str(count), command, *arguments, *more], stdin=subprocess.DEVNULL,
                         capture_output=True, timeout=300)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def test_same_bytes_for_any_number_of_ranks():
    arguments = (*BREAK, "--samples", "40", "--json")
    alone = carom(*arguments)
    check(alone[0] == 0, alone)
    for count in (1, 2, 4):
        check(ranks(count, *arguments)[:2] == alone[:2], count, "ranks")
    check(ranks(2, *arguments, "--threads", "3")[:2] == alone[:2], "2 ranks, 3 threads each")
    table = carom(*BREAK, "--samples", "40")
    check(ranks(3, *BREAK, "--samples", "40")[:2] == table[:2], "table")


def test_few_jobs_and_many_ranks():
    arguments = (*BREAK, "--samples", "2", "--json")
    check(ranks(4, *arguments)[:2] == carom(*arguments)[:2], "3 jobs, 4 ranks")


def test_files_are_written_once():
    alone, shared = DIR / "alone.csv", DIR / "shared.csv"
    carom(*BREAK, "--samples", "20", "--out", alone)
    status, out, err = ranks(3, *BREAK, "--samples", "20", "--out", str(shared))
    check(status == 0 and shared.read_bytes() == alone.read_bytes(), status, err)


def test_checkpoint_of_ranks_is_that_of_a_process():
    path = DIR / "checkpoint"
    whole = carom(*BREAK, "--samples", "60", "--json")
    check(ranks(2, *BREAK, "--samples", "30", "--json", "--checkpoint", str(path))[0] == 0, "first half")
    check(carom(*BREAK, "--samples", "45", "--json", "--checkpoint", path)[0] == 0, "a process goes on")
    check(ranks(4, *BREAK, "--samples", "60", "--json", "--checkpoint", str(path))[:2] == whole[:2], "ranks go on")


def errors_of(err):
    return [line for line in err.splitlines() if line.startswith(("carom", "pool-break", "nosuch"))]


def test_one_message_and_the_right_status():
    cases = [
        ((*BREAK, "--samples", "1"), 2, "whole number from 2"),
        (("spread", "pool-break", "--jitter", "gpa=1"), 1, "did you mean gap?"),
        (("spread", "nosuch", "--jitter", "gap=1"), 3, "no such file"),
        ((*BREAK, "--samples", "8", "--checkpoint", str(SOURCE / "README.md")), 1, "is no checkpoint"),
        (("spread", "pool-break", "--jitter", "gap=1e9", "--samples", "8"), 4, "8 of 8 samples failed"),
    ]
    for arguments, expect, words in cases:
        status, out, err = ranks(3, *arguments)
        lines = errors_of(err)
        check(status == expect and out == "" and sum(words in line for line in lines) == 1, arguments, status, err)


def mixed(first, second):
    run = subprocess.run([*MPIRUN, "-n", "1", COMMAND, *first, ":", "-n", "2", COMMAND, *second],
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return run.returncode, run.stderr.decode()


def test_ranks_that_disagree():
    good = (*BREAK, "--samples", "20")
    status, err = mixed(good, (*BREAK, "--samples", "21"))
    check(status == 1 and " has other jobs than rank 0" in err, status, err)
    status, err = mixed(good, ("spread", "nosuch", "--jitter", "gap=1e-5"))
    check(status == 3 and "ended with exit status 3 before the work was done" in err, status, err)
    status, err = mixed(("spread", "nosuch", "--jitter", "gap=1e-5"), good)
    check(status == 3 and "no such file" in err, status, err)


def test_without_the_module():
    alone = DIR / "bin" / "carom"
    alone.parent.mkdir()
    shutil.copy(COMMAND, alone)
    status, out, err = ranks(2, *BREAK, "--samples", "8", command=str(alone))
    check(status == 3 and out == "" and err.count("libcarom_ranks.so is neither") == 1, status, out, err)
    check(ranks(1, *BREAK, "--samples", "8", command=str(alone))[:2] == carom(*BREAK, "--samples", "8")[:2], "1 rank")


def children(parent):
    """Processes that are carom below a process."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:
            continue
        if int(fields["PPid"]) == parent and fields["Name"].strip() == "carom":
            found.append(int(fields["Pid"]))
    return sorted(found)


def runs(pid):
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def killed(path, arguments, whom):
    """Started anew, killed once more samples are in the checkpoint; whether it was still at work then."""
    before = path.stat().st_size if path.exists() else 0
    process = subprocess.Popen([*MPIRUN, "-n", "2", COMMAND, *arguments, "--checkpoint", str(path)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # who to kill is looked up while it starts: a search of all processes takes as long as many samples
    ranked = []
    while process.poll() is None and (len(ranked) < 2 or not (path.exists() and path.stat().st_size > before + 8000)):
        ranked = ranked if len(ranked) == 2 else children(process.pid)
        time.sleep(0.001)
    target = process.pid if whom == "mpirun" else ranked[whom] if len(ranked) == 2 else 0
    if target:
        with contextlib.suppress(ProcessLookupError):  # it may have come to its end by itself
            os.kill(target, signal.SIGKILL)
    status = process.wait()
    # a killed mpirun leaves its ranks to notice; the next run would meet them at the checkpoint
    for rank in ranked:
        for _ in range(1200):
            if not runs(rank):
                break
            time.sleep(0.05)
    return status != 0 and path.stat().st_size > before


def test_killed_runs_go_on():
    arguments = (*BREAK, "--samples", "500", "--json")
    path = DIR / "killed"
    whole = carom(*arguments)
    kills = [killed(path, arguments, whom) for whom in (1, 0, "mpirun")]
    # 500 samples are 60 times what a kill waits for: one that comes too late is an accident, two are not
    check(sum(kills) >= 2, "runs that were killed at work", kills)
    check(ranks(2, *arguments, "--checkpoint", str(path))[:2] == whole[:2], "after three kills")


main(globals())
