#!/usr/bin/env python3
"""Writes calls of every public function with random arguments, good and bad:
python3 calls.py INCLUDE_DIR CALLS_C OUT DEPFILE.

Functions, their parameters and the fields of their options are read from the headers, so that what is new is called
too; operands and functions to choose from are read from calls.c, which includes what is written here and judges each
call. The choice is the same in every run. A type that this script does not know is an error: teach it VALUES."""
import random
import re
import sys

SEED, CALLS, GROUP = 1, 6000, 50
HEADERS = ("base context tensor ops bits arrange reductions indexing linalg special neural numeric polynomial complex "
           "convolution fft random signal stats structured rotation fn transforms sparse control function "
           "optimize ode").split()

# They end or fail by their nature, print, take code of the user's, or run for as long as they are told to; the other
# rooms have tests for them.
LEFT_OUT = {"lam_ctx_new", "lam_ctx_free", "lam_ctx_trim", "lam_ctx_seed", "lam_clear_error", "lam_error", "lam_fail",
            "lam_scope_begin", "lam_scope_end", "lam_drop", "lam_hold", "lam_release", "lam_fn_hold", "lam_fn_drop",
            "lam_fn_release", "lam_fn_new", "lam_borrow", "lam_array", "lam_print", "lam_print_levels",
            "lam_function_print_rules", "lam_function_apply", "lam_function_fn", "lam_hook_remove", "lam_on_gradient",
            "lam_cg", "lam_bicgstab", "lam_gmres", "lam_minimize", "lam_odeint",
            "lam_custom_vmap", "lam_custom_root", "lam_custom_linear_solve", "lam_status_name", "lam_read_strided",
            "lam_ctx_set_random_state", "lam_custom_jvps", "lam_while", "lam_fori", "lam_scan"}

INTS = "0 1 -1 2 3 -2 16 17 -17 INT_MIN INT_MAX LAM_UNMAPPED 40".split()
SIZES = "0 1 -1 2 3 INT64_MIN INT64_MAX (int64_t)1<<40 -5 LAM_END-1".split()
AT_ITEMS = ["LAM_ALL", "LAM_REST", "LAM_NEW_AXIS", "LAM_ELEMENT(0)", "LAM_ELEMENT({size})", "LAM_TENSOR({tensor})",
            "LAM_SLICE({size}, {size}, {size})", "((lam_at_item){{.kind = 77}})"]
TEXTS = ["NULL", '""', '"ij,jk->ik"', '"ij->ji"', '"ii->i"', '"->"', '"i,i->"', '"...i,i...->..."', '"i->ii"', '"IJ"',
         '"NCH"', '"OIH"', '"NCWH"', '"a name that is much longer than the 31 bytes of a name"']


class Writer:
    def __init__(self, text, operands, functions):
        self.random = random.Random(SEED)
        self.operands, self.functions = operands, functions
        self.enums = set(re.findall(r"typedef enum (\w+) \{", text))
        self.structs = {name: fields(body)
                        for body, name in re.findall(r"typedef struct lam_\w+ \{([^{}]*)\} (lam_\w+_options);", text)}

    def one(self, *choices):
        return self.random.choice(choices)

    def often(self, part):
        return self.random.random() < part

    def tensor(self):
        usual = self.operands[:len(self.operands) * 2 // 5]
        return f"t[{self.random.choice(usual if self.often(0.5) else self.operands)}]"

    def dims(self):
        odd = ["(lam_dims){-1, NULL}", "(lam_dims){2, NULL}", "(lam_dims){17, twos}", "(lam_dims){INT_MAX, twos}"]
        if self.often(0.3):
            return self.random.choice(odd)
        sizes = ["0", "1", "2", "3", "-1"] if self.often(0.7) else SIZES
        return "LAM_DIMS(%s)" % ", ".join(self.random.choice(sizes) for _ in range(self.one(0, 1, 1, 2, 2, 3)))

    def axes(self):
        odd = ["(lam_axes){0, NULL}", "(lam_axes){2, NULL}", "(lam_axes){-1, &one}", "LAM_NO_AXES"]
        if self.often(0.4):
            return self.random.choice(odd)
        if self.often(0.1):
            return f"LAM_AXES(LAM_RANGE({self.random.choice(INTS)}, {self.random.choice(INTS)}))"
        usual = ["0", "1", "-1", "2"]
        items = (self.random.choice(INTS if self.often(0.3) else usual) for _ in range(self.one(1, 1, 2, 3)))
        return "LAM_AXES(%s)" % ", ".join(items)

    def tensors(self):
        if self.often(0.15):
            return self.one("(lam_list){0, NULL}", "(lam_list){2, NULL}")
        return "LAM_LIST(%s)" % ", ".join(self.tensor() for _ in range(self.one(1, 1, 2, 2, 3, 4)))

    def at(self):
        if self.often(0.2):
            return self.one("(lam_at){2, NULL}", "(lam_at){-1, NULL}")
        items = (self.random.choice(AT_ITEMS).format(size=self.random.choice(SIZES), tensor=self.tensor())
                 for _ in range(self.one(1, 1, 2, 3)))
        return "LAM_AT(%s)" % ", ".join(items)

    def options(self, struct):
        if self.often(0.2):
            return "NULL"
        given = [f".{name} = {self.value(kind, name)}" for kind, name in self.structs[struct]
                 if "(*" not in name and name != "name_count" and self.often(0.5)]
        return "&(%s){%s}" % (struct, ", ".join(given or ["0"]))

    def value(self, kind, name):
        makers = {
            "lam_tensor *": self.tensor, "lam_dims": self.dims, "lam_axes": self.axes, "lam_list": self.tensors,
            "lam_at": self.at, "lam_fn *": lambda: f"f[{self.random.choice(self.functions)}]",
            "lam_ctx *": lambda: self.one("ctx", "ctx", "ctx", "ctx", "ctx", "NULL", "dead"),
            "int": lambda: self.random.choice(INTS if self.often(0.5) else ["0", "1", "-1", "2"]),
            "int64_t": lambda: self.random.choice(SIZES if self.often(0.5) else ["0", "1", "2", "3"]),
            "size_t": lambda: self.one("0", "1", "2", "3", "8"), "uint64_t": lambda: self.one("0", "1", "UINT64_MAX"),
            "double": lambda: self.one("0", "1", "-1", "NAN", "INFINITY", "-INFINITY", "1e300", "0.5", "-1e-300"),
            "bool": lambda: self.one("true", "false"), "lam_tensor **": lambda: "results", "lam_fn **": lambda: "&made",
            "lam_dtype": lambda: f"(lam_dtype){self.random.randrange(-1, 12)}",
            "const int64_t *": lambda: self.one("twos", "NULL"), "const double *": lambda: self.one("numbers", "NULL"),
            "const char *": lambda: self.random.choice(TEXTS), "void *": lambda: self.one("room", "NULL"),
            "const char *const *": lambda: "NULL", "lam_fn *const": lambda: self.one("f", "f", "NULL"),
            "const lam_route": lambda: self.one("routes", "routes", "NULL"), "lam_status": lambda: "LAM_OK",
            "const void *": lambda: "NULL",
            "const lam_ctx *": lambda: "ctx", "const lam_tensor *": self.tensor,
            "const lam_fn *": lambda: f"f[{self.random.choice(self.functions)}]",
        }
        if kind in makers:
            return makers[kind]()
        if kind in self.enums:
            return f"({kind}){self.one(0, 0, 1, 2, 3, 77, -1)}"
        struct = re.fullmatch(r"const (lam_\w+_options) \*", kind)
        if struct and struct[1] in self.structs:
            return self.options(struct[1])
        sys.exit(f"calls.py: no values for '{name}' of type '{kind}'")

    def call(self, result, name, parameters):
        text = f"{name}({', '.join(self.value(kind, parameter) for kind, parameter in parameters)})"
        # KEEP IN STEP: quiet operands
        quiet = re.search(r"\b(MISSING|FAILED|POISONED|OF_NO_CONTEXT|FOREIGN|NO_CALLEE|NULL|dead)\b", text)
        judge = {"lam_tensor *": "TENSOR", "lam_status": "STATUS", "lam_fn *": "FUNCTION"}.get(result, "OTHER")
        return f"    {judge}({'true' if quiet else 'false'}, {text});"


def declared(text):
    """'const char *name' -> ('const char *', 'name')"""
    kind, name = re.fullmatch(r"(.*?)(\w+)(?:\[\w*\])?", " ".join(text.split())).groups()
    return kind.strip(), name


def fields(body):
    """(type, name) of each field of a struct; 'lam_tensor *a, *b' are two."""
    found = []
    for field in filter(str.strip, body.split(";")):
        if "(*" in field:  # a function of the user's
            continue
        first, *more = " ".join(field.split()).split(",")
        kind, name = declared(first)
        found += [(kind, name)] + [(kind, other.strip(' *')) for other in more]
    return found


def main(include, judge, out, depfile):
    headers = [f"{include}/lamina/{name}.h" for name in HEADERS]
    text = "\n".join(open(header).read() for header in headers)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    pools = open(judge).read()
    operands, functions = (re.findall(rf"^    {kind}\((\w+),", pools, re.M) for kind in ("OPERAND", "CALLEE"))
    writer = Writer(text, operands, functions)
    prototypes = []
    for result, name, parameters in re.findall(r"LAM_API (?:LAM_MUST_USE )?([\w ]+?[ *]+)(lam_\w+)\(([^;]*?)\)[^;()]*;",
                                               text, re.S):
        if name not in LEFT_OUT and not name.startswith(("lam__", "lam_fctx")) and parameters != "void":
            prototypes.append((result.strip(), name, [declared(p) for p in parameters.split(",")]))
    lines = [f"/* {len(prototypes)} functions of the public headers. Written by calls.py. */"]
    for first in range(0, CALLS, GROUP):
        lines.append(f"static void group_{first // GROUP}(void) {{")
        lines += [writer.call(*prototypes[number % len(prototypes)]) for number in range(first, first + GROUP)]
        lines.append("}")
    groups = ", ".join(f"group_{number}" for number in range(CALLS // GROUP))
    lines.append(f"static void (*const groups[])(void) = {{{groups}}};")
    with open(out, "w") as file:
        file.write("\n".join(lines) + "\n")
    with open(depfile, "w") as file:
        file.write(f"{out}: {' '.join(headers)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
