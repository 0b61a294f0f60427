"""Every field of the library's structs is in the package, in its place: read from the headers by other means."""
import ctypes
import dataclasses
import os
import pathlib
import re

import pytest

import carom
from carom import _records

SOURCE = os.environ.get("CAROM_SOURCE")
needs_tree = pytest.mark.skipif(not SOURCE, reason="needs the headers")


def names(struct):
    """Names of a struct's fields: declarations between its braces without comments."""
    for header in (pathlib.Path(SOURCE) / "include/carom").glob("*.h"):
        text = re.sub(r"//[^\n]*", "", header.read_text())
        if f"typedef struct {struct} {{" in text:
            body = text.split(f"typedef struct {struct} {{")[1].split("}")[0]
            # lists of names have calls of their own
            body = re.sub(r"const char\* const\*\s*\w+;", "", body)
            declared = [name.strip() for part in body.split(";") for name in part.split(",") if name.strip()]
            return [name for one in declared for name in GROUPS.get(one, [re.sub(r".*[\s*]", "", one)])]
    raise AssertionError(struct)


# what the package calls the fields of groups
GROUPS = {"crLawErrors laws": ["approach", "cone", "dissipation", "complementarity"],
          "crEnergyBalance energy": ["energy_change", "work", "energy_created", "energy_size", "energy_gain"]}


@needs_tree
def test_groups_are_whole():
    assert names("crLawErrors") == GROUPS["crLawErrors laws"]
    own = [name if name == "work" else f"energy_{name}" for name in names("crEnergyBalance")]
    assert own == GROUPS["crEnergyBalance energy"]


@needs_tree
@pytest.mark.parametrize("struct, kind", [("crAudit", carom.Audit), ("crMargins", carom.Margins),
                                          ("crLawInfo", carom.LawInfo), ("crRuleInfo", carom.RuleInfo),
                                          ("crRuleMargins", _records.RuleMargins), ("crEvent", _records.Event)])
def test_every_field_is_there(struct, kind):
    assert [field.name for field in dataclasses.fields(kind)] == names(struct)


@needs_tree
def test_every_field_of_certificates_is_there():
    assert names("crTally")[0] == "worst"
    found = [field.name for field in dataclasses.fields(carom.Certificate)]
    assert found == names("crCertificate") + names("crTally")[1:]
    certificate = carom.load("pool-break").world().run(0.2)
    assert certificate.steps == (certificate.solved + certificate.near + certificate.bounded
                                  + certificate.unsure + certificate.failed)
    assert certificate.impacts > 0 and certificate.idle >= 0 and certificate.escaped == 0
    assert certificate.energy_size > abs(certificate.energy_change)


def test_events_are_where_c_has_them():
    """The layout that a C compiler gives the fields: each at the next multiple of its size."""
    kinds = {"d": ctypes.c_double, "i": ctypes.c_int, "v": ctypes.c_double * 3}
    fields = [(name, kinds[kind]) for name, kind, _ in carom._carom._event_fields]
    layout = type("Event", (ctypes.Structure,), {"_fields_": fields})
    assert [getattr(layout, name).offset for name, _, _ in carom._carom._event_fields] == [
        offset for _, _, offset in carom._carom._event_fields]
    assert ctypes.sizeof(layout) == carom._carom._event_size


def test_the_audit_of_a_wrong_impulse_by_hand():
    # u = -1 + 2 p: with p = 0.25 it is -0.5, which approaches; the impulse works against it
    audit = carom.Problem([-1.0], [[2.0]], [("unilateral", 1)]).audit([0.25])
    assert audit.approach == pytest.approx(0.5) and audit.complementarity == pytest.approx(0.125)
    assert audit.energy_change == pytest.approx(0.25 * (-1 + 0.25)) and audit.worst_block == 0
    assert audit.cone == 0 and audit.asymmetry == 0 and audit.least <= audit.residual <= audit.most
