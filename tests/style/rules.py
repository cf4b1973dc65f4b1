"""The style rules that read text. Each carries files that break it, which the self-test must see reported, and
files that keep it, which must pass: a rule that cannot fail, or always does, does not get past the self-test.
"""
import os
import re

from source import code_only, functions, line_of, without_comments

RULES = []


def rule(title, bad, good):
    """Registers a rule. bad: list of {path: text}, each to be reported; good: one {path: text} to be passed."""
    def register(check):
        RULES.append((title, check, bad, good))
        return check
    return register


def found(tree, path, pattern, prepare):
    """(place, matched text) of each match of the pattern in a prepared file."""
    text = prepare(tree.text(path))
    for match in re.finditer(pattern, text):
        yield f"{path}:{line_of(text, match.start())}", match.group()


# ---- layers ---------------------------------------------------------------------------------------------------

@rule("lib includes nothing from transforms",
      bad=[{"lib/a.c": '#include "transforms/vmap.h"\n'}, {"lib/x/a.h": '#include "../../transforms/jvp.h"\n'}],
      good={"lib/a.c": '#include "lib/base/alloc.h"\n', "transforms/vmap.c": '#include "transforms/vmap.h"\n'})
def lib_is_below_transforms(tree):
    for path in tree.select("lib/"):
        for line, name, _ in tree.includes(path):
            if "transforms/" in name:
                yield f"{path}:{line}: lib must not include {name}"


TRANSFORMS = "grad|vmap|jvp|vjp|jacobian|jacfwd|jacrev|hessian|linearize"


@rule("dispatch names no transform",
      bad=[{"lib/dispatch/a.c": "int is_vmap(int level);\n"}, {"lib/dispatch/a.h": "int jvp;\n"},
           {"lib/dispatch/a.c": 'const char *name = "grad";\n'}],
      good={"lib/dispatch/a.c": "/* as vmap does */\nint gradual; // jvp\n"})
def dispatch_is_blind(tree):
    word = rf"(?<![A-Za-z])(?:{TRANSFORMS})(?![a-z])"
    for path in tree.select("lib/dispatch/"):
        for place, name in found(tree, path, word, without_comments):
            yield f"{place}: dispatch names the transform {name}"


KERNELS_MAY = re.compile(
    r"lib/kernels/.*|lamina/base\.h|std\w+\.h|string\.h|math\.h|float\.h|limits\.h|fenv\.h|complex\.h|assert\.h|"
    r"errno\.h|inttypes\.h|sched\.h|sys/mman\.h|\w*intrin\.h|arm_neon\.h|cblas\.h|lapacke?\.h|fftw3\.h")


@rule("kernels see shapes, strides and pointers only",
      bad=[{"lib/kernels/a.c": '#include "lib/tensor/value.h"\n'}, {"lib/kernels/a.c": "#include <lamina/tensor.h>\n"},
           {"lib/kernels/simd/a.c": '#include "../../base/alloc.h"\n'}],
      good={"lib/kernels/simd/a.c": '#include "lib/kernels/kernels.h"\n#include "loops.h"\n#include <math.h>\n'
                                    "#include <cblas.h>\n#include <lamina/base.h>\n",
            "lib/kernels/simd/loops.h": "/* a */\n"})
def kernels_see_memory_only(tree):
    for path in tree.select("lib/kernels/"):
        for line, name, quoted in tree.includes(path):
            near = os.path.normpath(os.path.join(os.path.dirname(path), name))
            is_near = quoted and near in tree.paths and near.startswith("lib/kernels/")
            if not KERNELS_MAY.fullmatch(name) and not is_near:
                yield f"{path}:{line}: a kernel must not include {name}"


# What the rooms of the primitives name among themselves: rows, types of parameters, operations without public form.
PRIMITIVES_OWN = re.compile(r"lam__(?:row_\w+|\w+_params|axis_set|apply\d|(?:times_)?integer_pow)")


@rule("derivative and batch rules call public operations only",
      bad=[{"lib/primitives/a.c": "static void jvp_sin(lam_rule *r) {\n    lam__value *v = 0;\n}\n"},
           {"lib/primitives/a.c": "static void vjp_sin(lam_rule *r) {\n    use(r->in[0]->value);\n}\n"},
           {"lib/primitives/a.c": "static void batch_sin(lam_rule *r) {\n    lam__dispatch_one(r);\n}\n"}],
      good={"lib/primitives/a.c": "static void slope_sin(lam_rule *r) {\n    lam_cos(lam__rules_first(r)); }\n"
                                  "static void eval_sin(lam_call *c) {\n    lam__kernels_loop(c->in[0]->value);\n}\n",
            "lib/primitives/rules.h": "/* shared by rules */\n"})
def rules_are_public(tree):
    paths = tree.select("lib/primitives/")
    own = {os.path.splitext(os.path.basename(p))[0] for p in paths}
    for path in paths:
        for name, first, _, body in functions(code_only(tree.text(path))):
            if not re.match(r"(?:jvp|vjp|batch|slope|transpose)_", name):
                continue
            for match in re.finditer(r"->\s*value\b|\blam__([a-z0-9]+)\w*", body):
                if match.group(1) not in own and not PRIMITIVES_OWN.fullmatch(match.group()):
                    yield f"{path}:{first + line_of(body, match.start()) - 1}: {name} uses {match.group()}"


# ---- the public headers -----------------------------------------------------------------------------------------

WITH_OPTIONS = re.compile(r"LAM_API\b[^;{]*?\b(lam_\w+)\(([^;{]*?)const (lam_\w+_options) \*\w+\);")


@rule("each call with options has a form for C++ in options.h",
      bad=[{"include/lamina/a.h": "LAM_API int lam_a(int x, const lam_a_options *options);\n",
            "include/lamina/options.h": "inline int lam_b(int x, const lam_a_options &options) {}\n"}],
      good={"include/lamina/a.h": "LAM_API int lam_a(int x, const lam_a_options *options);\n",
            "include/lamina/options.h": "inline int lam_a(int x, const lam_a_options &options) {}\n"})
def options_by_reference(tree):
    table = "include/lamina/options.h"
    have = " ".join(code_only(tree.text(table)).split()) if table in tree.paths else ""
    for path in tree.select("include/", suffixes=".h"):
        for match in WITH_OPTIONS.finditer(code_only(tree.text(path))):
            name, before, options = match.group(1), " ".join(match.group(2).split()), match.group(3)
            if f"{name}({before}{' ' if before else ''}const {options} &options)" not in have:
                yield f"{path}: {name} is not in {table} with `const {options} &options`"


# ---- what a library must not do -------------------------------------------------------------------------------

HEAP = ["malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "strdup", "strndup", "alloca"]
HOSTILE = ["printf", "puts", "putchar", "perror", "vprintf", "exit", "_Exit", "_exit", "quick_exit", "abort", "atexit",
           "setjmp", "longjmp", "sigsetjmp", "siglongjmp", "signal", "sigaction", "fesetround", "fesetenv",
           "feupdateenv", "feenableexcept", "setlocale", "rand", "srand", "setenv", "putenv"]


def mentions(names):
    """A call of, or a pointer to, one of these functions; not a member or variable of that name."""
    any_of = "|".join(names)
    called = rf"(?<![\w.>])(?:{any_of})(?=\s*\()"
    pointed_to = rf"(?<=[=,(:?{{] )(?:{any_of})(?=\s*[,;)}}])|(?<=[({{&])(?:{any_of})(?=\s*[,;)}}])"
    return rf"{called}|{pointed_to}|\b(?:stdout|stderr|_Thread_local)\b"


@rule("no heap, output, exit, jump or global state outside lib/base/alloc",
      bad=[{"lib/a.c": f"void f(void) {{ {call}; }}\n"}
           for call in ("void *p = malloc(3)", "exit(1)", 'printf("x")', "fprintf(stderr, x)", "setjmp(b)",
                        "fesetround(0)", 'setlocale(0, "C")', "g(1, free)", "abort()")]
          + [{"lib/base/alloc.c": "void f(void) { abort(); }\n"}, {"transforms/a.c": "void f(void) { free(p); }\n"}],
      good={"lib/base/alloc.c": "void f(void *p) { free(p); }\n",
            "lib/a.c": "/* free(p), abort() */ void f(lam *p, FILE *to) { p->free(p); fprintf(to, x); }\n",
            "tests/a.c": "void f(void) { free(malloc(1)); }\n"})
def library_is_polite(tree):
    for path in tree.select("lib/", "transforms/"):
        allocator = re.match(r"lib/base/alloc\w*\.[ch]$", path)
        names = HOSTILE if allocator else HOSTILE + HEAP
        for place, name in found(tree, path, mentions(names), code_only):
            yield f"{place}: the library must not use {name}"


def is_constant(declaration):
    """Whether a declared variable can never be written: const after its last star, or anywhere if it has none."""
    to_function = re.search(r"\(\*\s*(const\b)?", declaration)
    if to_function:
        return to_function.group(1) is not None
    return re.search(r"\bconst\b", declaration[declaration.rfind("*") + 1:]) is not None


# A definition at file scope begins at the left margin, one inside a function with `static`.
VARIABLE = (r"\bstatic\b[^;={]*[;={]|"
            r"^(?!(?:static|extern|typedef|return)\b|(?:struct|union) \w+;)"
            r"[A-Za-z_][\w ]*[ *]\w+(?:\[[^\]\n]*\])*\s*[=;]")


@rule("all state belongs to a context; kernels may remember facts about the machine, atomically",
      bad=[{"lib/a.c": "static int count;\n"}, {"transforms/a.c": "void f(void) {\n    static int made = 0;\n}\n"},
           {"lib/a.c": "static const char *name = 0;\n"}, {"lib/a.c": "static void (*hook)(int);\n"},
           {"lib/kernels/a.c": "static int threads;\n"}, {"lib/a.c": "static _Atomic int count;\n"},
           {"lib/a.c": "lam_ctx lam__failed = {0};\n"}],
      good={"lib/a.c": "static const int a[] = {1};\nstatic const char *const n = 0;\nstatic int f(int *x);\n"
                       "static int *f(int x) {\n    return 0;\n}\nstatic void (*const t[])(int *) = {f};\n"
                       "struct a;\nconst lam_row lam__row = {0};\nextern int mallctl;\ntypedef int b;\n",
            "lib/kernels/a.c": "static _Atomic int chosen;\n"})
def state_is_in_contexts(tree):
    for path in tree.select("lib/", "transforms/"):
        for place, words in found(tree, path, f"(?m){VARIABLE}", code_only):
            declaration, end = words[:-1].rstrip(), words[-1]
            is_function = "(*" not in declaration and declaration.endswith(")")
            remembers = path.startswith("lib/kernels/") and re.search(r"\b_Atomic\b|\batomic_\w+", declaration)
            if end != "{" and not is_function and not is_constant(declaration) and not remembers:
                yield f"{place}: a variable outside any context: {' '.join(declaration.split())}"


# ---- sizes ----------------------------------------------------------------------------------------------------

MAX_FILE, MAX_FUNCTION, MAX_WIDTH = 500, 60, 120


@rule("files have at most 500 lines of at most 120 columns",
      bad=[{"lib/a.c": "/* a */\n" + "int a;\n" * 500}, {"lib/a.c": "/* " + "a" * 120 + " */\n"},
           {"lib/a.c": "int a; \n"}, {"lib/a.c": "\tint a;\n"}],
      good={"lib/a.c": "/* a */\n" + "int a;\n" * 499, "examples/data/a.h": "0, " * 90 + "\n"})
def files_are_short(tree):
    for path in tree.select(suffixes=(".c", ".h", ".def", ".cpp", ".inc", ".py", "meson.build")):
        if path.startswith("examples/data/"):
            continue
        lines = tree.text(path).splitlines()
        if len(lines) > MAX_FILE:
            yield f"{path}: {len(lines)} lines, more than {MAX_FILE}"
        for number, line in enumerate(lines, 1):
            if len(line) > MAX_WIDTH:
                yield f"{path}:{number}: {len(line)} columns, more than {MAX_WIDTH}"
            if line != line.rstrip() or "\t" in line:
                yield f"{path}:{number}: tab or blank at the end of the line"


@rule("functions have at most 60 lines",
      bad=[{"lib/a.c": "int f(int a) {\n" + "    a++;\n" * 59 + "}\n"},
           {"tests/a.c": "START_TEST(long_one) {\n" + "    a++;\n" * 59 + "}\nEND_TEST\n"}],
      good={"lib/a.c": "int f(int a) {\n" + "    a++;\n" * 58 + "}\n",
            "lib/b.c": "static const int t[] = {\n" + "1,\n" * 70 + "};\n"})
def functions_are_short(tree):
    for path in tree.select():
        for name, first, last, _ in functions(code_only(tree.text(path))):
            if last - first + 1 > MAX_FUNCTION:
                yield f"{path}:{first}: {name} has {last - first + 1} lines, more than {MAX_FUNCTION}"


# ---- words ----------------------------------------------------------------------------------------------------

@rule("a source begins with a comment that says what it keeps true",
      bad=[{"lib/a.c": "int a;\n"}, {"include/lamina/a.h": "#ifndef A\n"}],
      good={"lib/a.c": "/* What this is. */\nint a;\n", "tests/a.cpp": "// What this is.\n"})
def files_introduce_themselves(tree):
    for path in tree.select("include/", "lib/", "transforms/", "tests/", "examples/"):
        if not tree.text(path).startswith(("/*", "//")):
            yield f"{path}: does not begin with a comment"


PROTOTYPE = re.compile(r"^LAM_API\b[^;{]*?\b(\w+)\s*\([^;{]*;", re.M)


def docstring(text, start, end):
    """The comment that follows a prototype on its line, or ends on the line before it, or ''."""
    behind = re.match(r"[ \t]*(/\*.*?\*/)", text[end:], re.S)
    if behind:
        return behind.group(1)
    before = text[:start]
    return before[before.rfind("/*"):] if before.endswith("*/\n") else ""


def public_prototypes(tree):
    for path in tree.select("include/", suffixes=".h"):
        text = tree.text(path)
        for match in PROTOTYPE.finditer(without_comments(text)):
            yield path, line_of(text, match.start()), match.group(1), docstring(text, match.start(), match.end())


@rule("every public function says what it does and how it fails",
      bad=[{"include/lamina/a.h": "/* a */\n\nLAM_API int lam_a(void);\n"},
           {"include/lamina/a.h": "/* Adds. */\nLAM_API int lam_a(void);\n"},
           {"include/lamina/a.h": "/* A.\n * Fails never. */\nLAM_API int lam_a(void);\nLAM_API int lam_b(void);\n"}],
      good={"include/lamina/a.h": "/* A.\n * Fails   never. */\nLAM_API lam_t *lam_a(int a,\n    void (*f)(int));\n"
                                  "LAM_API int lam_b(void); /* B. Fails never. */\n"})
def functions_are_documented(tree):
    for path, line, name, doc in public_prototypes(tree):
        if not re.match(r"/\*\s*[^\s*].*?[.:;]", doc, re.S):
            yield f"{path}:{line}: {name} has no docstring"
        elif not re.search(r"\bFails?\b", doc):
            yield f"{path}:{line}: the docstring of {name} does not say how it fails"


@rule("notes are cited and what is cited exists, and what must be kept in step has two ends",
      bad=[{"lib/a.c": "/* KEEP " + "IN STEP: loops */\n"}, {"lib/a.c": "/* See NOTE" + " [no such]. */\n"},
           {"lib/a.c": "/* NOTE" + " [alone]\n * Why. */\n"}],
      good={"lib/a.c": "/* KEEP " + "IN STEP: loops */\n/* NOTE" + " [title]\n * Why. */\n",
            "lib/b.c": "/* KEEP " + "IN STEP: loops */\n/* see NOTE" + " [title] */\n"})
def citations_hold(tree):
    tags, titles, cited = {}, {}, []
    for path in tree.select(suffixes=(".c", ".h", ".def", ".py", "meson.build", ".md", ".map")):
        text = tree.text(path)
        for match in re.finditer(r"KEEP " r"IN STEP: ([\w-]+)", text):
            tags.setdefault(match.group(1), []).append(f"{path}:{line_of(text, match.start())}")
        for match in re.finditer(r"(^[ \t]*(?:/?\*+|#|//)?[ \t]*)?NOTE \[([^\]\n]+)\]", text, re.M):
            if match.group(1) is not None:
                titles.setdefault(match.group(2), []).append(f"{path}:{line_of(text, match.start())}")
            else:
                cited.append((f"{path}:{line_of(text, match.start())}", match.group(2)))
    for tag, places in tags.items():
        if len(places) < 2:
            yield f"{places[0]}: nothing else is kept in step with '{tag}'"
    for place, title in cited:
        if title not in titles:
            yield f"{place}: cites a note '{title}' that does not exist"
    for title, places in titles.items():
        if len(places) == 1 and title not in {name for _, name in cited}:
            yield f"{places[0]}: nothing cites the note '{title}', so it needs no title"


UNFINISHED = "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "not " + "implemented", "un" + "implemented"])


@rule("nothing is unfinished by its own words",
      bad=[{"lib/a.c": "/* TO" + "DO: all */\n"}, {"README.md": "This is not " + "implemented.\n"}],
      good={"lib/a.c": "/* todos los dias */\n"})
def nothing_is_unfinished(tree):
    for path in tree.select(suffixes=(".c", ".h", ".def", ".cpp", ".py", ".md", "meson.build")):
        for place, words in found(tree, path, rf"\b(?:{UNFINISHED})\b", str):
            yield f"{place}: '{words}'"


MACHINE_PATH = r"(?<![\w.*}/\])-])/(?:work|root|home|Users|tmp)(?=/|\s|$|[\"'`:;,.)])"
REGISTRIES = r"\b(?:" + "|".join(r"\.".join(host) for host in [
    ("pypi", "org"), ("pythonhosted", "org"), ("deb", "debian", "org"), ("archive", "ubuntu", "com"),
    ("registry", "npmjs", "org"), ("crates", "io"), ("proxy", "golang", "org"), ("conda", "anaconda", "org"),
    ("ghcr", "io"), ("docker", "io"), ("wrapdb", "mesonbuild", "com")]) + r")\b"


@rule("no path of a machine and no registry host",
      bad=[{"README.md": "cd /" + "work/main\n"}, {".ci/run": "pip install -i https://pypi" + ".org/simple x\n"},
           {"lib/a.c": 'fopen("/' + 'tmp/x", "r")\n'}],
      good={"README.md": "a/home/b and homework, see build/tmp/x\n"})
def no_machine_is_named(tree):
    for path in tree.paths:
        for place, words in found(tree, path, f"{MACHINE_PATH}|{REGISTRIES}", str):
            yield f"{place}: names {words}"


TOP_LEVEL = {"README.md", "LICENSE", "meson.build", "meson_options.txt"}
TOP_FOLDERS = {"include", "lib", "transforms", "tests", "examples"}


@rule("the top level holds what was agreed",
      bad=[{"notes.md": "x\n"}, {"src/a.c": "int a;\n"}],
      good={"README.md": "x\n", ".gitignore": "x\n", "lib/a.c": "int a;\n", ".ci/run": "x\n"})
def top_level_is_fixed(tree):
    for path in tree.paths:
        top, _, rest = path.partition("/")
        if not top.startswith(".") and top not in (TOP_FOLDERS if rest else TOP_LEVEL):
            yield f"{path}: does not belong at the top level"


# ---- registries -----------------------------------------------------------------------------------------------

def listed(tree, path):
    """True if a meson.build at or above the file's folder names the file, or another C file includes it."""
    folder, name = os.path.split(path)
    while True:
        build = os.path.join(folder, "meson.build")
        relative = os.path.relpath(path, folder or ".")
        forms = {relative, os.path.splitext(relative)[0], name, os.path.splitext(name)[0]}
        if build in tree.paths and any(f"'{form}'" in tree.text(build) for form in forms):
            return True
        if not folder:
            break
        folder = os.path.dirname(folder)
    included = (inner for other in tree.select() for _, inner, quoted in tree.includes(other) if quoted)
    return any(os.path.basename(inner) == name for inner in included)


@rule("every source is built",
      bad=[{"lib/base/a.c": "int a;\n", "lib/meson.build": "files('base/b.c')\n"},
           {"tests/base/a.c": "int a;\n", "tests/meson.build": "rooms = {'base': ['b']}\n"}],
      good={"lib/base/a.c": "int a;\n", "lib/meson.build": "files('base/a.c')\n", "lib/x/t.c": "int t;\n",
            "lib/x/u.h": '#include "lib/x/t.c"\n', "tests/base/b.c": "int b;\n",
            "tests/meson.build": "rooms = {'base': ['b']}\n"})
def every_source_is_built(tree):
    for path in tree.select("lib/", "transforms/", "tests/", "examples/", suffixes=(".c", ".cpp")):
        if not listed(tree, path):
            yield f"{path}: no meson.build lists it"


def primitive_names(tree):
    path = "lib/primitives/primitives.def"
    if path not in tree.paths:
        return []
    return re.findall(r"^\s*LAM__PRIMITIVE\((\w+)", without_comments(tree.text(path)), re.M)


DEF, SIN = "/* All. */\nLAM__PRIMITIVE(sin)\n", "LAM_API lam_tensor *lam_sin(lam_tensor *x);\n"


@rule("every primitive has a prototype in ops.h and a row in the case table",
      bad=[{"lib/primitives/primitives.def": DEF, "include/lamina/ops.h": "/* none */\n",
            "tests/primitives/cases.c": "{.name = \"sin\"}\n"},
           {"lib/primitives/primitives.def": DEF, "include/lamina/ops.h": SIN,
            "tests/primitives/cases.c": "{.name = \"cos\"}, /* sin */\n"}],
      good={"lib/primitives/primitives.def": DEF,
            "include/lamina/ops.h": SIN,
            "tests/primitives/cases.c": "{.name = \"sin\"}\n"})
def primitives_are_complete(tree):
    headers = "".join(without_comments(tree.text(p)) for p in tree.select("include/", suffixes=".h"))
    cases = "".join(without_comments(tree.text(p)) for p in tree.select("tests/primitives/cases"))
    called, words = set(re.findall(r"\blam_(\w+)\s*\(", headers)), set(re.findall(r"\w+", cases))
    for name in primitive_names(tree):
        if name not in called:
            yield f"primitive {name}: no prototype lam_{name} in the public headers"
        if name not in words:
            yield f"primitive {name}: no row in tests/primitives/cases"


HELPERS = "const lam__emit_helper lam__emit_%s[] = {\n    {\"%s\",\n     \"text\"},\n    {NULL, NULL},\n};\n"


@rule("helpers of emitted C have names of their own",
      bad=[{"lib/program/a.c": HELPERS % ("a", "less"), "lib/program/b.c": HELPERS % ("b", "less")}],
      good={"lib/program/a.c": HELPERS % ("a", "less"), "lib/program/b.c": HELPERS % ("b", "equal")})
def helpers_differ(tree):
    seen = {}
    for path in tree.select("lib/program/", suffixes=".c"):
        for table in re.findall(r"^const lam__emit_helper \w+\[\] = \{\n(.*?)^\};", tree.text(path), re.M | re.S):
            for name in re.findall(r'^    \{"(\w+)",', table, re.M):
                if name in seen:
                    yield f"{path}: the helper {name} is in {seen[name]} too, and only one of them is ever found"
                seen[name] = path
