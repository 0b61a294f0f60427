"""carom export and carom view: what they write runs to the same bits; the server gives out one page and nothing else."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from command import carom, check, main

COMMAND = os.environ["CAROM_COMMAND"]
SERVE = os.environ["CAROM_SERVE"]
QUIET = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
folder = pathlib.Path(tempfile.mkdtemp())
HULL = [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0.02, 0.02, 0.02]]
SCENE = {"carom": 1, "comment": "</script><b>&amp;", "step": {"dt": 0.01, "duration": 0.4},
         "static": [{"type": "halfspace", "n": [0, 0, 1], "offset": 0}],
         "bodies": [{"name": "a", "pos": [0, 0, 0.3], "omega": [1, 2, 3], "shapes": [{"type": "hull", "points": HULL}]}]}


def write(name, value):
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def has_qhull():
    return carom("run", write("hull.json", SCENE), "--json")[0] == 0


def run_hash(path):
    status, out, err = carom("run", path, "--json")
    check(status == 0, "run", path, status, out, err)
    return json.loads(out)["hash"]


def refused(words, *arguments, expect=1):
    status, out, err = carom(*arguments)
    check(status == expect, "exit status", status, "expected", expect, arguments, err)
    for word in words:
        check(word in out + err, "the message says", word, arguments, out, err)


def test_export_scene():
    for name in ["pool-break", "gears", "bouncing-ball"]:
        status, out, err = carom("export", name)
        check(status == 0, "export", name, err)
        check(run_hash(write("out.json", out)) == run_hash(name), "an exported scene runs to the same bits", name)
    status, out, err = carom("export", "bouncing-ball", "--dt", "0.5", "--set", "bodies[0].pos[2]=7")
    check(json.loads(out)["step"]["dt"] == 0.5, "values are set", out)


def test_export_hull():
    if not has_qhull():
        return
    path = write("hull.json", SCENE)
    target = folder / "finished.json"
    status, out, err = carom("export", path, "-o", str(target))
    check(status == 0 and out == "", "export to a file", status, out, err)
    shape = json.loads(target.read_text())["bodies"][0]["shapes"][0]
    check(len(shape["points"]) == 4 and len(shape["faces"]) == 4, "the inner point goes, four faces come", shape)
    for loop in shape["faces"]:
        a, b, c = (shape["points"][i] for i in loop[:3])
        u, v = [y - x for x, y in zip(a, b)], [y - x for x, y in zip(a, c)]
        n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        inside = [0.05 - x for x in a]
        check(sum(x * y for x, y in zip(n, inside)) < 0, "faces look outward", loop)
    check(run_hash(str(target)) == run_hash(path), "a finished hull runs to the same bits")
    again = carom("export", str(target))[1]
    check(json.loads(again) == json.loads(target.read_text()), "what is finished stays")


def test_faces_refused():
    tetra = {"type": "hull", "points": HULL[:4], "faces": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]}
    scene = dict(SCENE, bodies=[{"name": "a", "pos": [0, 0, 0.3], "shapes": [tetra]}])
    check(carom("run", write("ok.json", scene), "--json")[0] == 0, "a finished hull needs no Qhull")
    for faces, words in [([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 9]], ["faces", "0 to 3"]),
                         ([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 0.5]], ["faces", "numbers of points"]),
                         ([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2]], ["faces", "three or more"]),
                         ([[0, 2, 1], [0, 1, 3], [0, 3, 2], "x"], ["faces", "three or more"]),
                         ([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]], ["faces"]),
                         ([[0, 2, 1], [0, 1, 3], [0, 3, 2]], ["faces"]), ([], ["faces"]), (3, ["faces", "a list"])]:
        bad = dict(scene, bodies=[{"name": "a", "pos": [0, 0, 1], "shapes": [dict(tetra, faces=faces)]}])
        refused(words, "run", write("bad.json", bad))


def test_export_trajectory():
    csv = str(folder / "ball.csv")
    check(carom("run", "bouncing-ball", "--out", csv)[0] == 0, "run")
    status, out, err = carom("export", csv, "--scene", "bouncing-ball")
    check(status == 0, "export a trajectory", err)
    got = json.loads(out)
    rows = [line.split(",") for line in open(csv).read().split("\n")[1:-1]]
    check(got["format"] == "carom-trajectory" and got["version"] == 1, "format")
    check(got["time"] == [float(r[0]) for r in rows], "times are the file's")
    check([q[2] for q in got["q"]] == [float(r[3]) for r in rows], "heights are the file's")
    check(all(len(v) == 6 for v in got["v"]), "six velocities")
    h5 = str(folder / "ball.h5")
    if carom("run", "bouncing-ball", "--out", h5)[0] == 0:
        whole = json.loads(carom("export", h5)[1])
        check(whole["time"] == got["time"] and whole["q"] == got["q"], "HDF5 and CSV say the same")
        check(len(whole["certificate"]) == len(whole["time"]) and whole["events"], "certificates and events")


def test_export_refusals():
    csv = str(folder / "ball.csv")
    carom("run", "bouncing-ball", "--out", csv)
    refused(["scene", "--scene"], "export", csv)
    refused(["coordinates"], "export", csv, "--scene", "pool-break")
    refused(["which"], "export", expect=2)
    refused(["--nothing"], "export", "bouncing-ball", "--nothing", expect=2)
    refused(["second"], "export", "a", "b", expect=2)
    refused(["--scene"], "export", "bouncing-ball", "--scene", "x", expect=2)
    refused(["no such file"], "export", "nothing-like-this", expect=3)
    refused(["bodis"], "export", write("bad.json", {"carom": 1, "bodis": []}))
    refused(["cannot be written"], "export", "bouncing-ball", "-o", str(folder / "no" / "where"), expect=3)
    refused(["value"], "export", "bouncing-ball", "-o", expect=2)


def test_view_file():
    check(carom("view", "--out", str(folder / "probe.html"))[0] == 0, "the page alone")
    scene = write("tag.json", {k: v for k, v in SCENE.items() if k != "bodies"})
    page = folder / "page.html"
    check(carom("view", scene, "--out", str(page))[0] == 0, "view --out")
    text = page.read_text()
    opened = json.loads(re.search(r'id="opened">(.*?)</script>', text, re.S).group(1))
    check(opened["name"] == "tag.json", "the name", opened["name"])
    check(json.loads(opened["text"])["comment"] == SCENE["comment"], "the scene is in the page, its tags harmless")
    empty = (folder / "probe.html").read_text()
    check('id="opened">null</script>' in empty, "nothing is opened where nothing is asked for")
    check(text.replace(re.search(r'id="opened">(.*?)</script>', text, re.S).group(1), "null") == empty, "one page")
    check(not re.search(r'(src|href)="(?!data:)', empty), "nothing is fetched")
    refused(["cannot be written"], "view", "--out", str(folder / "no" / "x.html"), expect=3)
    refused(["which one"], "view", "--dt", "0.1", expect=2)
    refused(["bodis"], "view", write("bad.json", {"carom": 1, "bodis": []}), "--out", str(page))


def ask(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(request)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := client.recv(65536):
            answer += chunk
    return answer


def test_view_opens_browser():
    # a desktop whose xdg-open writes down what it was asked for
    asked = folder / "asked"
    tools = folder / "tools"
    tools.mkdir()
    (tools / "xdg-open").write_text(f'#!/bin/sh\necho noise\nprintf %s "$1" >"{asked}.part" && mv "{asked}.part" "{asked}"\n')
    (tools / "xdg-open").chmod(0o755)
    for display, expected in [({"DISPLAY": ":7"}, True), ({"WAYLAND_DISPLAY": "w"}, True), ({"DISPLAY": ""}, False), ({}, False)]:
        asked.unlink(missing_ok=True)
        env = QUIET | display | {"PATH": f"{tools}:{QUIET['PATH']}"}
        server = subprocess.Popen([COMMAND, "view"], stdout=subprocess.PIPE, text=True, env=env)
        address = server.stdout.readline().strip()
        for _ in range(100 if expected else 3):
            if asked.exists():
                break
            time.sleep(0.05)
        check(asked.exists() == expected, "the browser is asked where there is a display", display)
        check(not expected or asked.read_text() == address, "for the address", address)
        server.send_signal(signal.SIGINT)
        check(server.wait(timeout=20) == 0 and server.stdout.read() == "Ctrl-C ends it\n", "ends, and browsers print nothing")


class Server:
    """A server of one page: carom view, or the stand-in that is linked with serve.c."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=QUIET)
        address = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", address)
        check(match, "the address", address)
        self.port = int(match.group(1))
        self.host = f"Host: 127.0.0.1:{self.port}\r\n\r\n".encode()
        self.get = b"GET / HTTP/1.1\r\n" + self.host

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def timed(self):
        """The answer to a plain request and the seconds it took."""
        begun = time.monotonic()
        return ask(self.port, self.get), time.monotonic() - begun


def end(server, how):
    server.process.send_signal(how)
    check(server.process.wait(timeout=20) == 0, "a signal ends it", how)


def try_server(server, word):
    port, host = server.port, server.host
    page = ask(port, server.get)
    check(page.startswith(b"HTTP/1.1 200 ") and word in page, "the page")
    head, body = page.split(b"\r\n\r\n", 1)
    check(int(re.search(rb"Content-Length: (\d+)", head).group(1)) == len(body), "its length")
    check(ask(port, b"HEAD / HTTP/1.1\r\n" + host).endswith(b"\r\n\r\n"), "HEAD has no body")
    check(ask(port, f"GET / HTTP/1.0\r\nHOST:localhost:{port}\r\n\r\n".encode()).startswith(b"HTTP/1.1 200 "), "localhost")
    for path in [b"/../../etc/passwd", b"/%2e%2e/etc/passwd", b"//etc/passwd", b"/x", b"http://127.0.0.1/", b"/?x", b""]:
        check(ask(port, b"GET " + path + b" HTTP/1.1\r\n" + host).startswith(b"HTTP/1.1 404 "), "no such path", path)
    check(ask(port, b"POST / HTTP/1.1\r\n" + host).startswith(b"HTTP/1.1 405 "), "POST")
    for other in [b"Host: evil.example\r\n\r\n", b"\r\n", b"Host: 127.0.0.1\r\n\r\n", b"X: 1\r\nHost: evil:1\r\n" + host]:
        check(ask(port, b"GET / HTTP/1.1\r\n" + other).startswith(b"HTTP/1.1 403 "), "another host", other)
    for junk in [b"", b"GET", b"\0\0\0\0\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A" * 20000]:
        try:
            check(ask(port, junk).startswith(b"HTTP/1.1 400 "), "junk", junk[:20])
        except OSError:  # closed before all of it was sent
            pass
    check(ask(port, server.get) == page, "still there")
    return page


def open_sockets(pid):
    """Sockets of a process: whether each is closed on exec."""
    folder, flag = f"/proc/{pid}", 0o2000000
    sockets = [f for f in os.listdir(f"{folder}/fd") if os.readlink(f"{folder}/fd/{f}").startswith("socket:")]
    flags = {f: re.search(r"flags:\s*(\d+)", open(f"{folder}/fdinfo/{f}").read()).group(1) for f in sockets}
    return {f: bool(int(flags[f], 8) & flag) for f in sockets}


def test_view_server():
    with Server(COMMAND, "view", "bouncing-ball") as server:
        try_server(server, b"bouncing-ball")
        end(server, signal.SIGINT)


def test_server():
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with Server(SERVE) as server:
            if how == signal.SIGINT:
                try_server(server, b"the page")
            end(server, how)
    with Server(SERVE) as server:  # only this machine: no other address listens
        listening = [line.split()[1] for line in open("/proc/net/tcp") if line.split()[3] == "0A"]
        mine = [a for a in listening if a.endswith(f":{server.port:04X}")]
        check(mine == [f"0100007F:{server.port:04X}"], "listens on 127.0.0.1 alone", mine)
        passed_on = open_sockets(server.process.pid)
        check(passed_on and all(passed_on.values()), "its sockets are closed in programs that it starts", passed_on)


def drip(client, stop):
    """A byte every half second, for ever."""
    try:
        while not stop.is_set():
            client.sendall(b"G")
            stop.wait(0.5)
    except OSError:
        pass


def test_slow_clients():
    """Clients that send or read slowly hold up nobody, and each is cut off by its own deadline, 2 s."""
    with Server(SERVE) as server:
        stop = threading.Event()
        begun = time.monotonic()
        slow = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(12)]
        # one asks and never reads, one says nothing, the others send byte by byte
        slow[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow[0].sendall(server.get)
        threads = [threading.Thread(target=drip, args=(c, stop)) for c in slow[2:]]
        for thread in threads:
            thread.start()
        for _ in range(5):
            page, took = server.timed()
            check(page.startswith(b"HTTP/1.1 200 ") and took < 1.5, "served beside slow clients", took)
            time.sleep(0.1)
        slow[1].settimeout(30)
        try:
            check(slow[1].recv(1) == b"", "a silent client is cut off")
        except ConnectionError:
            pass
        waited = time.monotonic() - begun
        check(1.9 < waited < 10.0, "one deadline for a request", waited)
        stop.set()
        for thread in threads:
            thread.join()
        # more clients than it serves at once: the next is served when they are cut off
        crowd = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(40)]
        page, took = server.timed()
        check(page.startswith(b"HTTP/1.1 200 ") and took < 10.0, "served after a crowd", took)
        for client in slow + crowd:
            client.close()
        page, took = server.timed()
        check(page.startswith(b"HTTP/1.1 200 ") and took < 1.5, "served after all", took)
        end(server, signal.SIGTERM)


if __name__ == "__main__":
    try:
        main(globals())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
