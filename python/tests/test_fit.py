"""carom.fit: the numbers of the command, tables from files and from memory, refusals."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import carom
import carom.fit

SOURCE = os.environ.get("CAROM_SOURCE")
COMMAND = os.environ.get("CAROM_COMMAND")
DROPS = pathlib.Path(SOURCE or ".") / "examples/fit/rod-drops.csv"
SPEED = np.arange(1.0, 21)
IMPULSES = {"Wnn": 1, "Wn1": 0, "W11": 1, "Vn": -SPEED, "V1": 0, "Pn": 1.5 * SPEED, "P1": 0}

needs_tree = pytest.mark.skipif(not (SOURCE and COMMAND and DROPS.exists()), reason="needs the tree and the command")


@needs_tree
def test_the_same_numbers_as_the_command(tmp_path):
    laws = ["routh", "whittaker", "newton"]
    options = ["--bootstrap", "20", "--seed", "3", "--fix", "et=0", "--out", tmp_path / "a.json", "--json"]
    text = subprocess.run([COMMAND, "fit", "impacts", DROPS, "--law", ",".join(laws), *options], check=True,
                          capture_output=True).stdout
    told = json.loads(text)
    fits = carom.fit.impacts(DROPS, laws=laws, bootstrap=20, seed=3, fix={"et": 0}, threads=2, out=tmp_path / "b.json")
    assert [fit.law for fit in fits] == [law["law"] for law in told["laws"]]
    for fit, law in zip(fits, told["laws"]):
        for name in ("error", "error_se", "behind", "behind_se", "fit_error", "unanswered", "impermissible"):
            assert getattr(fit, name) == law[name], name
        assert list(fit.parameters) == list(law["parameters"])
        for name, parameter in law["parameters"].items():
            for key in ("value", "lo", "hi", "determined", "flat_lo", "flat_hi"):
                assert getattr(fit[name], key) == parameter[key], (fit.law, name, key)
    for name in ("rows", "floor", "permissible_floor", "velocity_change", "impossible"):
        assert fits.summary[name] == told[name]
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


@needs_tree
def test_predictions_are_those_of_the_command(tmp_path):
    fits = carom.fit.impacts(DROPS, laws=["routh"], bootstrap=0, out=tmp_path / "law.json")
    text = subprocess.run([COMMAND, "predict", tmp_path / "law.json", DROPS], check=True, capture_output=True,
                          text=True).stdout.splitlines()
    names = text[0].split(",")
    rows = [dict(zip(names, line.split(","))) for line in text[1:]]
    answer = carom.fit.predict(DROPS, fits.best)
    for i, row in enumerate(rows):
        assert [float(row[k]) for k in ("Pn", "P1", "P2")] == answer.P[i].tolist()
        assert float(row["energy_change"]) == answer.energy_change[i]
        assert float(row["w_after"]) == answer.velocities["w_after"][i]
        assert float(row["error"]) == answer.error[i] and (row["permissible"] == "true") == answer.permissible[i]


def test_a_table_in_memory():
    fits = carom.fit.impacts(IMPULSES, laws=["newton", "chatterjee-ruina"], bootstrap=10)
    assert abs(fits["newton"]["e"].value - 0.5) < 1e-6 and len(fits) == 2
    assert fits["newton"].errors.shape == (20,) and fits["newton"].P.shape == (20, 3)
    with pytest.raises(KeyError):
        fits["routh"]
    # what no friction shows cannot be known
    assert fits["chatterjee-ruina"]["mu"].determined != "yes"


def test_columns_and_conditions():
    table = {**IMPULSES, "good": np.arange(20) % 2, "speed": SPEED}
    del table["Vn"]
    fits = carom.fit.impacts(table, laws=["newton"], bootstrap=0, column={"Vn": "-speed"}, where={"good": 1})
    assert fits.summary["rows"] == 10 and fits.summary["left_out"] == 10
    assert abs(fits.best["e"].value - 0.5) < 1e-6


def test_every_law_that_applies():
    names = [name for name, parameters in carom.fit.laws()]
    table = {name: column if np.isscalar(column) else column[:6] for name, column in IMPULSES.items()}
    fits = carom.fit.impacts(table, bootstrap=0, folds=2, params=["e"])
    assert sorted([fit.law for fit in fits] + [law for law, why in fits.refused]) == sorted(names)
    errors = [fit.error for fit in fits]
    assert errors == sorted(errors)


@pytest.mark.parametrize("options, field", [
    ({"laws": ["newt"]}, "laws"), ({"laws": ["newton", "newton"]}, "laws"), ({"params": ["nu"]}, "params"),
    ({"fix": {"mu": -1}}, "fix"), ({"fix": {"x": 1}}, "fix"), ({"fix": 3}, "fix"), ({"folds": 1}, "folds"),
    ({"bootstrap": -1}, "bootstrap"), ({"threads": 0}, "threads"), ({"where": {"z": 1}}, None),
    ({"column": ["="]}, None)])
def test_refusals(options, field):
    with pytest.raises(carom.Error) as error:
        carom.fit.impacts(IMPULSES, **{"laws": ["newton"], "bootstrap": 0, **options})
    assert field is None or error.value.field == field


def test_a_bad_table_is_told_by_line_and_column(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("Wnn,Wn1,W11,Vn,V1,Pn,P1\n1,0,1,-1,0,1.5,0\n1,0,1,x,0,1.5,0\n")
    with pytest.raises(carom.Error) as error:
        carom.fit.impacts(path, laws=["newton"])
    assert (error.value.line, error.value.column) == (3, 7)
    with pytest.raises(carom.Error):
        carom.fit.impacts(tmp_path / "none.csv")
    with pytest.raises(carom.Error):
        carom.fit.predict(IMPULSES, "newton", f=1)
