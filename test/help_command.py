"""What the command says of itself: suggestions for options, completion, doctor, documents that its help cites, $schema."""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import time

from command import COMMAND, SOURCE, carom, check, main

folder = pathlib.Path(tempfile.mkdtemp())


def verbs():
    return re.findall(r"^  ([a-z]+) {2,}", carom("--help")[1], re.M)[:-1]  # without help itself


def options(verb):
    """What the help of a verb names outside of its examples."""
    text = re.sub(r"\nexamples:.*?(?=\nusage:|\Z)", "", carom(verb, "--help")[1], flags=re.S)
    return set(re.findall(r"(?<=[ \[(,|\n])(--[a-z][a-z-]+|-[a-z](?![a-z-]))", text))


def test_every_option_is_in_a_help():
    helps = set().union(*(options(verb) for verb in verbs())) | {"--help", "--version"}
    for path in sorted((SOURCE / "tools/carom").glob("*.c")):
        for name in set(re.findall(r'"(--[a-z][a-z-]+)"', path.read_text())):
            check(name in helps, "no help names", name, path.name)


def test_suggestions():
    for verb in verbs():
        kind = ["impacts"] if verb == "fit" else []
        # each is a run of the command: with sanitizers every fourth stands for the others
        for option in sorted(options(verb) | {"--help"})[::4 if os.environ.get("CAROM_SANITIZE") else 1]:
            if len(option) < 7:
                continue
            typed = option[:3] + option[4] + option[3] + option[5:]  # two letters in each other's place
            if typed == option or typed in options(verb):
                continue
            status, out, err = carom(verb, *kind, typed, "x")
            check(status == 2 and out == "" and f"unknown option '{typed}'" in err, verb, typed, status, err)
            check(f"did you mean '{option}'?" in err, "a suggestion", verb, typed, err)
        err = carom(verb, *kind, "--qqqqqqqqqqqq")[2]
        check("unknown option" in err and "did you mean" not in err, "nothing is near", verb, err)
    for typed, meant in [("--verison", "--version"), ("--hepl", "--help"), ("rnu", "run")]:
        check(f"did you mean '{meant}'?" in carom(typed)[2], "before the verb", typed)


def test_version():
    check(carom("-V") == carom("--version") and carom("-V")[0] == 0, "-V")


def test_reports_are_pages():
    data = folder / "d.csv"
    data.write_text("x\n1\n")
    for arguments in [("run", "bouncing-ball"), ("compare", "bouncing-ball", "--rule", "newton,poisson"),
                      ("spread", "bouncing-ball", "--jitter", "velocity=0.1"), ("fit", "impacts", data),
                      ("fit", "motion", data, "--scene", "bouncing-ball", "--params", "e"), ("predict", data, data)]:
        for name in ("x.mp4", "x.svg", "x", "x.html.gz"):
            path = folder / name
            status, out, err = carom(*arguments, "--report", path)
            check(status == 2 and ".html" in err and not path.exists(), "refused by its name", arguments[:2], name, err)
    check(carom("run", "bouncing-ball", "--duration", "0.1", "--report", folder / "x.htm")[0] == 0, ".htm is good")


def test_schema_key():
    scene = json.loads(carom("examples", "bouncing-ball")[1])
    marked = {"$schema": "https://example.org/scene.schema.json", **scene}
    paths = [folder / "plain.json", folder / "marked.json"]
    for path, value in zip(paths, (scene, marked)):
        path.write_text(json.dumps(value))
    hashes = [json.loads(carom("run", path, "--json")[1])["hash"] for path in paths]
    check(hashes[0] == hashes[1], "the key changes nothing", hashes)
    schema = json.loads(carom("schema")[1])
    check(schema["properties"]["$schema"]["type"] == "string", "the schema knows it")
    (folder / "bad.json").write_text(json.dumps({**scene, "$schema": 3}))
    status, _, err = carom("run", folder / "bad.json")
    check(status == 1 and "$schema" in err, "what is no address is refused", err)
    h5 = folder / "t.h5"
    if carom("run", paths[0], "--duration", "0.2", "--out", h5)[0] == 0:
        check(carom("run", paths[1], "--duration", "0.3", "--resume", h5)[0] == 0, "it is the same scene to go on with")


def bash(words):
    script = f"""source <("{COMMAND}" completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _carom; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True)


def zsh(words):
    # what the completion system gives and takes, played by functions
    script = f"""compdef() {{ :; }}; _files() {{ :; }}
"{COMMAND}" completion zsh >"{folder}/_carom"; source "{folder}/_carom"
compadd() {{ shift; for w in "$@"; do [[ $w == ${{words[CURRENT]}}* ]] && print -r -- $w; done; true; }}
words=("$@"); CURRENT=$#; _carom"""
    return subprocess.run(["zsh", "-fc", script, "zsh", *words], capture_output=True, text=True)


def fish(words):
    script = f'"{COMMAND}" completion fish | source; complete -C "{" ".join(words)}"'
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True,
                          env={**os.environ, "HOME": str(folder)})
    done.stdout = "\n".join(line.split("\t")[0] for line in done.stdout.splitlines())
    return done


def test_completion():
    for name, complete in (("bash", bash), ("zsh", zsh), ("fish", fish)):
        check(carom("completion", name)[0] == 0, name)
        if shutil.which(name) is None:
            print(f"{name} is not installed: its script is not played")
            continue
        for words, wanted in [(["carom", "ru"], ["run"]), (["carom", "run", "pool"], ["pool-break", "pool-table"]),
                              (["carom", "run", "x", "--rul"], ["--rule"]), (["carom", "run", "x", "--rule", "seq"], ["sequence"]),
                              (["carom", "compare", "x", "--method", "mor"], ["moreau"]), (["carom", "fit", "mo"], ["motion"]),
                              (["carom", "fit", "motion", "--fitted"], ["--fitted-scene"]), (["carom", "help", "doc"], ["doctor"]),
                              (["carom", "laws", "chat"], ["chatterjee-ruina"]), (["carom", "plot", "--what", "mot"], ["motion"])]:
            done = complete(words)
            check(done.returncode == 0 and done.stderr == "" and sorted(done.stdout.split()) == wanted, name, words, done.stdout,
                  done.stderr)
        for verb in verbs():
            got = set(complete(["carom", verb, "--"]).stdout.split())
            check({o for o in options(verb) if o.startswith("--")} <= got, name, "every option of", verb, options(verb) - got)
    for wrong in ([], ["tcsh"], ["bash", "zsh"], ["--bash"]):
        check(carom("completion", *wrong)[0] == 2, "which shell", wrong)


def test_doctor():
    status, out, err = carom("doctor")
    facts = dict(line.split(None, 1) for line in out.splitlines() if not line.startswith(" "))
    check(status == 0 and err == "", status, err)
    check(out.startswith(carom("--version")[1]), "version")
    check(re.match(r"(gcc|clang) \d+\.\d+", facts["compiler"]), facts["compiler"])
    has = carom("run", "bouncing-ball", "--duration", "0.01", "--out", folder / "p.h5")[0] == 0
    check(("built in" in facts["HDF5"] and "not built" not in facts["HDF5"]) == has, "HDF5", facts["HDF5"])
    hull = {"carom": 1, "bodies": [{"name": "a", "shapes": [{"type": "hull", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}]}]}
    (folder / "hull.json").write_text(json.dumps(hull))
    check(("not built" not in facts["qhull"]) == (carom("info", folder / "hull.json")[0] == 0), "qhull", facts["qhull"])
    check(re.search(r"\d+ kB, built in", facts["page"]), "page", facts["page"])
    check(facts["threads"].startswith(f"{os.sysconf('SC_NPROCESSORS_ONLN')} "), "threads", facts["threads"])
    check("libcuda" in facts["GPU"], "GPU")
    check(pathlib.Path(facts["documents"]).joinpath("scenes.md").exists(), "documents", facts["documents"])
    tool = folder / "ffmpeg"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    check(str(tool) in carom("doctor", env={"PATH": str(folder)})[1], "what is on the path")
    check("ffmpeg     not found" in carom("doctor", env={"PATH": "/nonexistent"})[1], "and what is not")
    check(carom("doctor", "x")[0] == 2, "no arguments")


def test_documents_that_help_cites():
    texts = [carom(verb, "--help")[1] for verb in verbs()] + [(SOURCE / "docs/carom.1").read_text()]
    cited = set(re.findall(r"docs/[\w/.-]*\w", "\n".join(texts)))
    check(len(cited) >= 5, cited)
    for name in cited:
        check((SOURCE / name).exists(), "there is no", name)
    check("documents (docs/): " in carom("help")[1], "help says where they are")


def test_trajectories_where_scenes_are_asked_for():
    h5 = folder / "ball.h5"
    if carom("run", "bouncing-ball", "--out", h5)[0] != 0:
        return
    status, out, err = carom("info", h5, "--json")
    whole, plain = json.loads(out), json.loads(carom("info", "bouncing-ball", "--json")[1])
    exported = json.loads(carom("export", h5)[1])
    check(status == 0 and whole["bodies"] == plain["bodies"] and whole["nq"] == plain["nq"], "the scene that it carries", err)
    check((whole["records"], whole["from"], whole["to"], whole["events"]) ==
          (len(exported["time"]), exported["time"][0], exported["time"][-1], len(exported["events"])), "its records", whole["records"])
    check(f"{whole['records']} records from 0 s" in carom("info", h5)[1], "in words too")
    for verb in ("run", "compare", "converge", "import"):
        status, out, err = carom(verb, h5, *(["--rule", "newton,poisson"] if verb == "compare" else []))
        check(status in (1, 2) and ("trajectory" in err or verb in ("import", "converge")), "no JSON error", verb, err)
        check("a value is expected" not in err, verb, err)
    status, _, err = carom("run", "bouncing-ball", "--resume", folder / "nosuch.h5")
    check(status == 3 and "No such file" in err and "writing" not in err, "what is not there", err)


def test_progress_on_a_terminal():
    main_end, end = pty.openpty()
    run = subprocess.Popen([COMMAND, "run", "1000-ball-drop", "--duration", "40", "--set", "step.dt=0.001"], stderr=end,
                           stdout=subprocess.DEVNULL)
    os.close(end)
    seen = b""
    begun = time.monotonic()
    while len(re.findall(rb"\d+ %", seen)) < 3 and time.monotonic() - begun < 60:
        seen += os.read(main_end, 4096)
    run.terminate()
    run.wait()
    os.close(main_end)
    lines = re.findall(rb"\[[= ]{30}\] (\d+) %, (\d+(?:\.\d)?) (s|min|h) left  t = ([\d.e-]+) s", seen)
    check(len(lines) >= 2, "percent and time left", seen[-300:])
    for percent, _, _, at in lines:
        check(int(percent) == int(100 * float(at) / 40) or abs(float(at) / 0.4 - int(percent)) < 1.01, "percent is of the time", percent, at)


if __name__ == "__main__":
    try:
        main(globals())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
