#!/usr/bin/env python3
"""Compiles the C that the documentation shows: check_snippets.py ROOT LIBRARY COMPILER [FLAG...], or --self-test.

Every block that is marked as C compiles without warnings: a program with a main is run as well, and must end with 0,
write nothing to its standard error, and print what a comment beside a lam_print announces; a block with an #include
of its own is a file; one that begins with a type at the margin stands at file scope; any other inside a function with
the names that the tables use (NAMES). So does each call in the last column of a table whose last head is "Lamina".
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

DOCUMENTS = ["README.md", "examples/README.md", "transforms/README.md"]
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused", "-Wno-unused-result"]
INCLUDES = "#include <lamina/lamina.h>\n#include <math.h>\n"
NAMES = """
typedef struct some_tree { lam_tensor *weight, *bias; } some_tree;
extern lam_ctx *ctx;
extern lam_fctx *fc;
extern lam_tensor *x, *y, *w, *b, *c, *i, *v, *dx, *g, *inputs, *labels, *key, *p, *s, *o[2], *do_[2];
extern lam_fn *f, *fwd, *bwd, *rule, *rules[2], *callback, *loss, *solve, *pullback, *linear, *h, *holds, *fns[3];
extern const lam_function *F;
extern lam_vmap_rule vmap_rule;
extern lam_solve_rule linear_solve, tangent_solve;
extern lam_hook *hook;
extern some_tree parameters, gradients;
extern struct { int axis; } attrs;
extern double data[6], memory[6], scale;
extern size_t size;
void snippet(void);
void snippet(void) {
"""


def blocks(text):
    """(line, code) of every block marked as C."""
    for match in re.finditer(r"^```c\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, match.start()) + 2, match.group(1)


def cells(text):
    """(line, code) of every call in the last column of a table that ends in "Lamina"."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        row = [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("|") else None
        inside = row is not None and (inside or row[-1] == "Lamina")
        if inside:
            for code in re.findall(r"`([^`]*\([^`]*)`", row[-1]):
                yield number, code


def normal(text):
    return " ".join(text.split())


class Checker:
    """Compiles and runs, and collects what went wrong."""

    def __init__(self, root, library, compiler):
        self.include = ["-I", os.path.join(root, "include"), "-I", root]
        self.library = os.path.abspath(library)
        self.compiler = compiler
        self.problems = []
        self.count = 0

    def compile(self, place, code, *flags):
        self.count += 1
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "snippet.c"), os.path.join(folder, "snippet")
            with open(source, "w", encoding="utf-8") as file:
                file.write(code)
            last = [source, "-o", program, self.library, "-Wl,-rpath," + os.path.dirname(self.library), "-lm"]
            command = [*self.compiler, *WARNINGS, *self.include, *flags, *(last if not flags else [source])]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                self.problems.append(f"{place}: does not compile:\n{run.stderr}")
            elif not flags:
                self.run(place, code, program)

    def run(self, place, code, program):
        wrapper = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))  # by which Meson runs those of another machine
        run = subprocess.run([*wrapper, program], capture_output=True, text=True, check=False, timeout=60)
        if run.returncode or run.stderr:
            self.problems.append(f"{place}: exit status {run.returncode}\n{run.stderr}")
        for shown in re.findall(r"lam_print\(.*?/\* (\w+\[.*?) \*/", code):
            wanted = normal(shown.removesuffix("...").removesuffix(" "))
            if wanted not in normal(run.stdout):
                self.problems.append(f"{place}: '{wanted}' is not in what it prints:\n{run.stdout}")

    def block(self, place, code):
        here = '#line {1} "{0}"\n'.format(*place.split(":"))
        if "int main(" in code:
            self.compile(place, here + code)
        elif "#include" in code:
            self.compile(place, here + code, "-fsyntax-only")
        elif re.match(r"(static|typedef|LAM_API|lam_\w+ \*?\w+\(.*\{$)", code):
            self.compile(place, INCLUDES + here + code, "-fsyntax-only")
        else:
            self.compile(place, INCLUDES + NAMES + here + code + "}\n", "-fsyntax-only")

    def document(self, name, text):
        for line, code in blocks(text):
            self.block(f"{name}:{line}", code)
        calls = [(line, code if code.endswith((";", "}")) else code + ";") for line, code in cells(text)]
        if calls:  # together, since there are many; each is a block of its own at the line where it stands
            body = "".join(f'\n#line {line} "{name}"\n{{ {code} }}' for line, code in calls)
            self.count += len(calls) - 1
            self.compile(name, INCLUDES + NAMES + body + "\n}\n", "-fsyntax-only")


PROGRAM = '#include <lamina/lamina.h>\nint main(void) {\n    %s\n}\n'
BROKEN = ["```c\nlam_sin(x, y);\n```\n", "```c\nstatic int f(void) {\n    return undeclared;\n}\n```\n",
          "```c\n" + PROGRAM % "return 1;" + "```\n", '```c\n' + PROGRAM % 'fputs("x", stderr);' + "```\n",
          "```c\n" + PROGRAM % "lam_print(stdout, NULL); /* f64[]: 8 */" + "```\n",
          "| JAX | Lamina |\n|---|---|\n| `sin` | `lam_sin(x, y)` |\n"]
WHOLE = ["```c\nlam_sin(x);\n```\n", "```c\nstatic int f(void) {\n    return 1;\n}\n```\n",
         "```c\n" + PROGRAM % "lam_print(stdout, NULL); /* not a tensor, so anything */" + "```\n",
         "| JAX | Lamina |\n|---|---|\n| `sin` | `lam_sin(x)` |\n\n| a | b |\n|---|---|\n| `c` | `lam_sin(x, y)` |\n"]


def self_test(*arguments):
    """Each broken text is reported, each whole one passes."""
    wrong = []
    for texts, reported in ((BROKEN, True), (WHOLE, False)):
        for text in texts:
            checker = Checker(*arguments)
            checker.document("text", text)
            if bool(checker.problems) != reported:
                wrong.append(f"{'passed' if reported else 'reported'}: {text}" + "\n".join(checker.problems))
    print("\n".join(wrong) if wrong else f"{len(BROKEN)} broken texts reported, {len(WHOLE)} whole ones passed")
    return 1 if wrong else 0


def main(root, library, *compiler):
    checker = Checker(root, library, compiler)
    for name in DOCUMENTS:
        with open(os.path.join(root, name), encoding="utf-8") as file:
            checker.document(name, file.read())
    print("\n".join(checker.problems) if checker.problems else f"{checker.count} snippets compile")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        sys.exit(self_test(sys.argv[2], sys.argv[3], sys.argv[4:]))
    sys.exit(main(*sys.argv[1:]))
