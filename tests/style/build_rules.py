"""The style rules that need a tool: compilers for the headers, nm for what the library exports. A tool that the
build does not name (see check_style.py) is looked for on the path; every compiler found is used.
"""
import os
import re
import shutil
import subprocess
import tempfile

from rules import rule
from source import without_comments

STRICT = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-pragma-once-outside-header"]
COMPILERS = [("gcc", "c", "c11"), ("clang", "c", "c11"), ("g++", "c++", "c++17"), ("clang++", "c++", "c++17")]


def compiled(root, headers, compiler, language, standard, before=""):
    """What a compiler says to headers included first and in this order, or behind what users may have before, or ''."""
    command = [compiler, "-x", language, f"-std={standard}", *STRICT, "-I", os.path.join(root, "include"), "-"]
    source = before + "".join(f"#include <{os.path.relpath(header, 'include')}>\n" for header in headers)
    run = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return ""
    lines = run.stderr.splitlines()
    return next((line for line in lines if "error" in line), "fails without a message")


@rule("each public header compiles alone, as C11 and as C++17, and behind complex.h with its macros",
      bad=[{"include/lamina/a.h": "size_t lam_a(void);\n"}, {"include/lamina/a.h": "int lam_a(int class);\n"},
           {"include/lamina/a.h": "int lam_a(int complex);\n"}],
      good={"include/lamina/a.h": "#include <stddef.h>\nsize_t lam_a(void);\n"})
def headers_stand_alone(tree):
    compilers = [c for c in COMPILERS if shutil.which(c[0])]
    if not compilers:
        yield "no compiler was found"
    headers = tree.select("include/", suffixes=".h")
    for compiler, language, standard in compilers:
        trials = [([header], "") for header in headers]
        if language == "c":
            trials.append((headers, "#include <complex.h>\n"))
        for trial, before in trials:
            problem = compiled(tree.root, trial, compiler, language, standard, before)
            if problem:
                yield f"{', '.join(trial)}: {compiler} -std={standard}: {problem}"


def exported(library):
    run = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return [line.split()[-1].split("@")[0] for line in run.stdout.splitlines() if line.strip()]


def library_of(tree, folder):
    """The library that was built, or, in the self-test, one made of the tree's own lib/*.c."""
    if "library" in tree.tools:
        return tree.tools["library"]
    path = os.path.join(folder, "library.so")
    sources = [os.path.join(tree.root, p) for p in tree.select("lib/", suffixes=".c")]
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, *sources], check=True)
    return path


@rule("the library exports what the public headers declare and nothing else",
      bad=[{"lib/a.c": "int helper(void) { return 1; }\n"},
           {"lib/a.c": "int lam_b(void) { return 1; }\n", "include/lamina/a.h": "/* lam_b is not declared */\n"}],
      good={"lib/a.c": "int lam_a(void) { return 1; }\n", "include/lamina/a.h": "int lam_a(void);\n"})
def exports_are_public(tree):
    declared = set()
    for header in tree.select("include/", suffixes=(".h", ".def")):
        declared |= set(re.findall(r"\blam_\w+", without_comments(tree.text(header))))
    with tempfile.TemporaryDirectory() as folder:
        for name in exported(library_of(tree, folder)):
            pattern_made = name.startswith("lam__")  # pasted together by a list in literals.h
            if not name.startswith("lam_"):
                yield f"the library exports {name}"
            elif name not in declared and not pattern_made:
                yield f"the library exports {name}, which no public header declares"
