#!/usr/bin/env python3
"""Calls of every public function with one wrong argument each, as C: `misuse.py HEADER_FOLDER OUT.c`.

For each CR_API function of include/carom/**/*.h, with all other arguments valid (test/misuse.h): NULL for each pointer,
indices and counts out of range, numbers that are no value of an enum, and zeroed structs. test/test_misuse.c runs them.
Exits 1 with the function's name where an argument has a type that is not known here.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import api  # noqa: E402

# a good argument, by type; f is the struct Misuse of test/misuse.h
GOOD = {
    "double": "0.5", "size_t": "16", "uint64_t": "1", "bool": "true", "void*": "f->bytes", "const void*": "f->bytes",
    "double*": "f->numbers", "const double*": "f->numbers", "double**": "&f->number_list", "int*": "f->ints",
    "const int*": "f->ints", "const bool*": "f->bools", "char*": "f->bytes", "const char*": '"name"',
    "int(*)[3]": "f->triangles", "crUnitImpulse": "misuse_respond", "const crPair**": "&f->pairs",
    "crVec3": "cr_vec3(0.0, 0.0, 1.0)", "crPose": "cr_pose_identity()", "crMat3": "f->frame", "crSym3": "f->inertia",
    "crMass": "f->mass", "crBounds": "f->bounds", "crVec3*": "f->vectors", "const crVec3*": "f->vectors",
    "crMat3*": "f->matrices", "const crMat3*": "f->matrices", "crSym3*": "&f->inertia", "crStatus": "CR_OK", "crTruth": "CR_TRUTH_YES",
    "crStatus*": "f->statuses", "crError*": "&f->error", "const crAllocator*": "&f->allocator",
    "crContactPoint*": "f->points", "crJointRow*": "f->joint_rows", "const crStep*": "&f->step",
    "FILE*": "f->file", "const crJson*": "f->json.root", "const crJson**": "&f->found", "bool*": "f->bools",
    "crMotionStep*": "f->motion_steps", "crTimeError*": "f->time_error",
    "crBackend*": "&f->backend", "uint64_t*": "&f->hash",
}
# structs of the fixture, by value there: crThing* is &f->thing
STRUCTS = {
    "crAllocator": "allocator", "crArena": "arena", "crLog": "log", "crShape": "shape", "crHullDef": "hull_def",
    "crMeshDef": "mesh_def", "crHeightFieldDef": "field_def", "crDistance": "distance", "crPatch": "patch",
    "crRayHit": "ray_hit", "crMotion": "motion", "crCollision": "collision", "crContact": "contact",
    "crRigid": "rigid", "crRestitution": "restitution", "crEllipsoid": "ellipsoid", "crLine": "line",
    "crSurface": "surface", "crMaterial": "material", "crBodyDef": "body_def", "crLoop": "loop", "crLoad": "load",
    "crContactSurface": "contact_surface", "crMass": "mass", "crState": "state", "crDynamics": "dynamics",
    "crRows": "rows", "crProblem": "problem", "crMatrix": "matrix", "crAudit": "audit", "crHit": "hit", "crLaw": "law",
    "crGradient": "gradient", "crModes": "modes", "crRuleModes": "rule_modes", "crRuleChange": "rule_change", "crProblemChange": "problem_change", "crForm": "form", "crApproach": "approach", "crCurve": "curve", "crCue": "cue",
    "crStrike": "strike", "crWrtVerdict": "wrt_verdict", "crWrtParam": "wrt_param",
    "crLawParams": "law_params", "crSolver": "solver", "crSolverParams": "solver_params", "crReport": "report",
    "crRuleParams": "rule_params", "crRule": "rule", "crRuleReport": "rule_report", "crStepSettings": "settings",
    "crEvent": "event", "crCertificate": "certificate", "crTally": "tally", "crStep": "step", "crWorldDef": "world_def", "crModel": "*model",
    "crJsonDoc": "json", "crScene": "scene", "crImport": "imported", "crImportOptions": "import_options",
    "crProblemFile": "problem_file", "crRecording": "recording", "crRecord": "record",
    "crActuator": "actuator", "crTendon": "tendon", "crSite": "site", "crSensor": "sensor", "crContactForce": "contact_force",
    "crBatchDef": "batch_def", "crBatchResult": "batch_result", "crBatchSummary": "batch_summary",
    "crBatchPath": "batch_path", "crBatchHit": "batch_hits",
    "crMotionData": "motion_data", "crMotionLimits": "motion_limits", "crMotionReport": "motion_report",
}
# those that only their own functions see inside: crThing* is f->thing, crThing** the address of an empty one
OPAQUE = {"crWorld": "world", "crHull": "hull", "crMesh": "mesh", "crHeightField": "field", "crCompound": "compound",
          "crBroad": "broad", "crTrajectory": "trajectory", "crWrt": "wrt", "crBatch": "batch"}
ENUMS = {"crStatus", "crShapeKind", "crLogLevel", "crLoopKind", "crBlockKind", "crRegime", "crOutcome", "crUnique",
         "crMethod", "crQuality", "crTruth", "crJsonType", "crImportFormat", "crJoint", "crLawInput", "crSwitch",
         "crSmoothness", "crSensorKind", "crMode", "crFormKind", "crFigure", "crBackend", "crBatchArray", "crVary"}
# good arguments of one function: (function, argument)
SPECIAL = {
    ("cr_law_find", "name"): '"newton"', ("cr_solver_find", "name"): '"auto"', ("cr_rule_find", "name"): '"poisson"',
    ("cr_model_find_body", "name"): '"ball"', ("cr_hull_create_prism", "points"): "f->polygon",
    ("cr_hull_create_prism", "count"): "4", ("cr_compound_create", "children"): "&f->shape",
    ("cr_compound_create", "count"): "1", ("cr_region_mesh", "level"): "1", ("cr_region_section", "count"): "8",
    ("cr_law_many", "mu"): "f->ones", ("cr_law_many", "e"): "f->zeros", ("cr_law_many", "et"): "f->zeros",
    ("cr_problem_velocity", "u"): "f->more", ("cr_problem_apply", "v_plus"): "f->more",
    ("cr_matrix_mul", "y"): "f->more", ("cr_matrix_mul_t", "y"): "f->more", ("cr_matrix_inverse", "Minv"): "&f->made",
    ("cr_problem_sparse", "W"): "&f->made", ("cr_rows_half", "H"): "&f->half",
    ("cr_rows_create", "rows"): "&f->half", ("cr_rows_create", "capacity"): "4",
    ("cr_rows_create", "entry_capacity"): "8", ("cr_state_create", "state"): "&f->other_state",
    ("cr_dynamics_create", "d"): "&f->other_dynamics", ("cr_step_create", "step"): "&f->other_step",
    ("cr_arena_create", "arena"): "&f->other_arena", ("cr_rigid_after", "body"): "&f->rigid",
    ("cr_time_of_impact", "duration"): "0.1", ("cr_world_save", "size"): "sizeof f->bytes",
    ("cr_world_load", "size"): "sizeof f->bytes", ("cr_model_mass_dense", "M"): "f->numbers",
    ("cr_world_create", "world"): "&f->made_world", ("cr_error_format", "size"): "sizeof f->bytes",
    ("cr_wrt_create", "wrt"): "&f->made_wrt", ("cr_wrt_jacobian", "J"): "f->many", ("cr_wrt_back", "out"): "f->many", ("cr_wrt_params", "count"): "1", ("cr_wrt_set", "values"): "f->ones", ("cr_wrt_adjoint", "steps"): "1",
    ("cr_cue_strike", "side"): "0.1", ("cr_cue_strike", "height"): "0.1",
    ("cr_modes_apply", "du"): "f->more", ("cr_modes_adjoint", "by_g"): "f->more", ("cr_modes_find", "tol"): "1e-6",
    ("cr_form_table", "value"): "f->more", ("cr_rule_modes_apply", "plus"): "f->more",
    ("cr_world_contacts", "capacity"): "1", ("cr_routh_path", "capacity"): "8", ("cr_step_problem_build", "takes"): "NULL",
    ("cr_model_add_pair", "material_b"): "0", ("cr_model_exclude", "body_b"): "2",
    ("cr_rows_add_point", "b"): "2", ("cr_rows_add_spin", "b"): "2", ("cr_model_add_contact_drag", "b"): "2",
    ("cr_law_apply_contact", "contact"): "&f->contact", ("cr_loop", "b"): "2",
    ("cr_json_parse", "size"): "4", ("cr_json_parse_data", "size"): "4", ("cr_import_text", "size"): "4",
    ("cr_problem_parse", "size"): "4", ("cr_scene_open", "path"): '"bouncing-ball"',
    ("cr_scene_open", "scene"): "&f->other_scene", ("cr_scene_open", "world"): "&f->made_world",
    ("cr_scene_read", "scene"): "&f->other_scene", ("cr_scene_world", "world"): "&f->made_world",
    ("cr_model_find_joint", "name"): '"ball"', ("cr_world_set_ctrl", "actuator"): '"motor"',
    ("cr_model_find_actuator", "name"): '"motor"', ("cr_model_find_site", "name"): '"here"',
    ("cr_model_find_sensor", "name"): '"sensor"',
    ("cr_backend_find", "name"): '"threads"', ("cr_batch_vary", "values"): "f->ones", ("cr_batch_models", "models"): "f->batch_models",
    ("cr_batch_hits", "hits"): "f->batch_hits", ("cr_batch_step", "steps"): "1",
    ("cr_json_at", "path"): '"step.dt"', ("cr_json_set", "path"): '"step.dt"', ("cr_json_set", "value"): '"0.01"',
}
GOOD_INT = {"index": "0", "face": "0", "key": "1", "group": "-1", "count": "1", "capacity": "4", "level": "1",
            "row": "0", "col": "0", "loop": "0", "shape": "0", "material": "0"}
# NULL is allowed: (function or *, argument)
OPTIONAL = {
    ("*", "error"), ("*", "allocator"), ("*", "params"), ("cr_collide", "needed"), ("cr_law_many", "n"),
    ("cr_law_many", "status"), ("cr_step_problem_build", "takes"), ("cr_log", "log"), ("cr_mechanism_W", "ctx"),
    ("cr_error_set", "field"), ("cr_hash", "bytes"), ("cr_scene_open", "log"), ("cr_scene_open", "world"),
    ("*", "options"), ("*", "format"), ("cr_problem_parse", "name"), ("cr_problem_parse", "hint"),
    ("cr_import_text", "path"), ("cr_trajectory_close", "trajectory"),
    ("cr_audit_motion", "steps"), ("cr_model_jacobian", "linear"), ("cr_model_jacobian", "angular"),
    ("cr_scene_reset", "key"), ("cr_world_contacts", "out"), ("cr_batch_write", "takes"), ("cr_batch_models", "models"), ("cr_batch_destroy", "batch"),
    ("cr_modes_adjoint", "by_p"), ("cr_modes_adjoint", "by_u"), ("cr_modes_adjoint", "by_mu"), ("cr_modes_adjoint", "by_mu_spin"), ("cr_modes_adjoint", "by_mu_roll"),
    ("cr_rule_modes_apply", "minus"), ("cr_rule_modes_apply", "plus"),
    ("*", "verdict"), ("cr_wrt_step", "to"), ("cr_wrt_apply", "minus"), ("cr_wrt_apply", "plus"), ("cr_wrt_adjoint", "forces"),
    ("cr_wrt_adjoint", "by_force"), ("cr_wrt_adjoint", "by_param"), ("cr_time_error", "start"), ("cr_wrt_destroy", "wrt"),
    ("cr_point_distance", "distance"), ("cr_point_distance", "nearest"), ("cr_point_distance", "normal"),
}
# numbers that count, not point: any value from 0 on may be good
COUNTS = {"count", "steps", "capacity", "entry_capacity", "level", "line", "directions", "first_line"}
# integers that may be anything: (function, argument)
ANY_INT = {("cr_broad_set", "group"), ("cr_loop", "a"), ("cr_loop", "b"), ("cr_load", "body"), ("cr_block", "row"), ("cr_block", "count")}
# a value that a wrong index gives on purpose: not judged, only survived
NOT_JUDGED = {
    "cr_status_name", "cr_status_text", "cr_truth_name", "cr_truth_and", "cr_truth_at_most", "cr_audit_outcome", "cr_error_set", "cr_arena_mark", "cr_law_composite", "cr_hash",
    "cr_shape_hull", "cr_shape_mesh", "cr_shape_heightfield", "cr_shape_compound",  # cr_shape_check refuses them
}
# heads that do not check their arguments yet
PENDING = set()
# functions that need a frame around them
ADAPTERS = {"cr_error_format": ("misuse_format", ["char* out", "size_t size", "const char* format"])}


def fail(text):
    sys.exit(f"misuse.py: {text}")


def argument(text):
    """Type and name of one parameter: arrays and pointers to arrays as pointers."""
    text = " ".join(text.split())
    found = re.fullmatch(r"(.*)\(\*(\w+)\)\[(\d+)\]", text)
    if found:
        return f"{found[1].strip()}(*)[{found[3]}]", found[2]
    found = re.fullmatch(r"(.*?)\s*(\w+)\s*\[\w*\]", text)
    if found:
        return f"{found[1].strip()}*", found[2]
    found = re.fullmatch(r"(.*?[\s*])(\w+)", text)
    if not found:
        fail(f"a parameter that cannot be read: {text}")
    return found[1].strip(), found[2]


def split(text):
    """Parameters between commas that are not in parentheses."""
    parts, level, start = [], 0, 0
    for i, c in enumerate(text):
        level += (c == "(") - (c == ")")
        if c == "," and level == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def functions(folder):
    """(name, return type, [(type, name)]) of every CR_API function, in the order of the headers."""
    for path in sorted(pathlib.Path(folder).rglob("*.h")):
        for item in api.parse(path)[1]:
            if not item.code.startswith("CR_API"):
                continue
            code = " ".join(re.sub(r"//.*", "", item.code).split())
            code = re.sub(r"\s*CR_PRINTF\([^)]*\)", "", code)
            found = re.fullmatch(r"CR_API (.*?[\s*])(cr_\w+)\((.*)\);", code)
            if not found:
                fail(f"{path.name}: a declaration that cannot be read: {code}")
            name, parameters = found[2], split(found[3])
            if name in ADAPTERS:
                parameters = ADAPTERS[name][1]
            arguments = [argument(p) for p in parameters if p.strip() not in ("void", "...")]
            yield name, found[1].strip(), arguments


def good(function, kind, name):
    """A good argument."""
    if (function, name) in SPECIAL:
        return SPECIAL[function, name]
    if kind == "int":
        return GOOD_INT.get(name, "1")
    if kind in GOOD:
        return GOOD[kind]
    if kind in ENUMS:
        return f"({kind})0"
    bare = kind.replace("const ", "")
    for table in (STRUCTS, OPAQUE):
        base = bare.rstrip("*")
        if base not in table:
            continue
        place = table[base]
        if bare == base + "*":
            return f"f->{place[1:]}" if place[0] == "*" else f"&f->{place}" if table is STRUCTS else f"f->{place}"
        if bare == base + "**":
            return f"&f->made_{place}"
        if bare == base and place[0] != "*":
            return f"f->{place}"
    return fail(f"{function}: no good value is known for {kind} {name}; add it to scripts/misuse.py and test/misuse.h")


def optional(function, name):
    return (function, name) in OPTIONAL or ("*", name) in OPTIONAL


def zeroed(kind):
    """The struct a pointer points to, where a zeroed one can be made."""
    base = kind.replace("const ", "")
    return base[:-1] if base.endswith("*") and base[:-1] in STRUCTS else None


def wrongs(function, kind, name):
    """(how it is written, what stands before the call, the argument, whether the call must be refused)."""
    if kind.endswith("*") or kind == "crUnitImpulse" or kind.endswith(("]", "**")):
        yield "NULL", "", "NULL", not optional(function, name)
    struct = zeroed(kind)
    if struct:
        yield "zeroed", f"static {struct} zero; memset(&zero, 0, sizeof zero); ", "&zero", False
    if struct == "crShape":
        yield "hollow", "static crShape hollow; hollow = cr_shape_hull(NULL); ", "&hollow", False
    if struct == "crStep" and function not in ("cr_step_create", "cr_step_destroy"):
        yield "fresh", "", "&f->fresh_step", False
    if kind == "int" and (function, name) not in ANY_INT:
        values = ["-1", "INT_MIN"] if name in COUNTS else ["-1", "INT_MIN", "INT_MAX", "9999", "MISUSE_COUNT"]
        for value in values:
            if name == "key" and value in ("9999", "MISUSE_COUNT"):
                continue  # a key may be any small number
            yield value, "", value, True
    if kind in ENUMS:
        for value in ("-1", "99", "INT_MAX"):
            yield value, "", f"({kind}){value}", False


def members(folder):
    """Structs of the headers: name to [(type, member)], without arrays and unions."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*.h")):
        text = re.sub(r"//.*", "", path.read_text())
        for name, body in re.findall(r"typedef struct (cr\w+) \{(.*?)\n\} \1;", text, re.S):
            body = re.sub(r"union \{.*?\} \w+;", "", body, flags=re.S)
            found[name] = [(kind.strip(), member.strip()) for kind, names in
                           re.findall(r"([\w ]+?[\s*]+)((?:\w+(?:,\s*)?)+);", body) for member in names.split(",")]
    return found


def leaves(result, structs):
    """The numbers, flags and pointers of a struct, as what stands behind its name."""
    for kind, member in structs[result]:
        if kind in structs:
            yield from (f".{member}{leaf}" for leaf in leaves(kind, structs))
        else:
            yield f".{member}"


def judge(result, field, structs):
    """The check of a refused call's result, by its type; field is the argument's name where an error tells it."""
    if result == "crStatus":
        return f'misuse_status(f, r, {field});'
    if result == "double":
        return 'misuse_check(isnan(r), "is a number");'
    if result == "bool":
        return 'misuse_check(!r, "is true");'
    if result == "crTruth":
        return 'misuse_check(r == CR_TRUTH_NO, "is not no");'
    if result == "crOutcome":
        return 'misuse_check(r != CR_OUTCOME_SOLVED, "is solved");'
    if result.endswith("*"):
        return 'misuse_check(r == NULL, "is not NULL");'
    if result == "int":
        return 'misuse_check(r <= 0, "is positive");'
    if result in ("size_t", "uint64_t"):
        return 'misuse_check(r == 0, "is not 0");'
    if result not in structs:
        fail(f"a result that cannot be judged: {result}")
    zero = " && ".join(f"r{leaf} == 0" for leaf in leaves(result, structs))
    return f'misuse_check({zero}, "is not zeros");'


def cases(function, result, arguments, structs):
    """(title, body) of every wrong call of a function."""
    values = [good(function, kind, name) for kind, name in arguments]
    tells = any(kind == "crError*" for kind, _ in arguments)
    callee = ADAPTERS[function][0] if function in ADAPTERS else function
    for i, (kind, name) in enumerate(arguments):
        for title, before, value, refused in wrongs(function, kind, name):
            call = f"{callee}({', '.join(values[:i] + [value] + values[i + 1:])})"
            body = f"{before}{call};"
            if result != "void":
                body = f"{before}{result} r = {call}; (void)r;"
            if refused and result != "void" and function not in NOT_JUDGED:
                body += " " + judge(result, f'"{name}"' if tells and name != "error" else "NULL", structs)
            yield f"{function}({name} = {title})", body


def main():
    if len(sys.argv) != 3:
        fail("usage: misuse.py HEADER_FOLDER OUT.c")
    out, table, count = [], [], 0
    structs = members(sys.argv[1])
    for function, result, arguments in functions(sys.argv[1]):
        count += 1
        if function in PENDING:
            continue
        for title, body in cases(function, result, arguments, structs):
            out.append(f"static void case_{len(table)}(Misuse* f) {{ (void)f; {body} }}")
            table.append(f'    {{"{title}", case_{len(table)}}},')
    text = ["// made by scripts/misuse.py", '#include "misuse.h"', "", "#include <limits.h>", ""]
    text += out + ["", "const MisuseCase misuse_cases[] = {"] + table + ["    {NULL, NULL},", "};"]
    text += [f"const int misuse_functions = {count};", ""]
    pathlib.Path(sys.argv[2]).write_text("\n".join(text))


if __name__ == "__main__":
    main()
