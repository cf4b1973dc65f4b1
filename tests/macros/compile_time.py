"""How long a twelve-deep expression of two-operand macros takes to compile, beside the same file without it.

An argument is mentioned twice, so twelve levels make 2^12 copies of the innermost one: NOTE [short expansions] in
literals.h says what keeps this cheap. Prints medians of five in CPU seconds; fails only if something does not compile,
for nothing asserts on time. Usage: compile_time.py INCLUDE_DIR [COMPILER...]
"""

import resource
import statistics
import subprocess
import sys

DEPTH = 12
RUNS = 5
OPERANDS = ["2.0", "1", "x"]


def nested(depth):
    """lam_add and lam_mul in turn, with the nested side, and the kind of the other operand, changing at every level."""
    text = "x"
    for level in range(depth):
        name, other = ("lam_add", "lam_mul")[level % 2], OPERANDS[level % 3]
        text = f"{name}({text}, {other})" if level % 2 else f"{name}({other}, {text})"
    return text


def source(depth):
    return f"""
#define LAMINA_OPS_H
#include <lamina/base.h>
lam_tensor *lam_add(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_mul(lam_tensor *x, lam_tensor *y);
#include <lamina/literals.h>
lam_tensor *probe(lam_tensor *x);
lam_tensor *probe(lam_tensor *x) {{ return {nested(depth)}; }}
"""


def seconds(compiler, include, depth):
    """CPU seconds of one compilation; raises if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-I", include]
    command = [compiler, *options, "-x", "c", "-S", "-o", "/dev/null", "-"]
    subprocess.run(command, input=source(depth), text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    include, compilers = sys.argv[1], sys.argv[2:] or ["gcc", "clang"]
    for compiler in compilers:
        deep, flat = (
            statistics.median(seconds(compiler, include, depth) for _ in range(RUNS)) for depth in (DEPTH, 1)
        )
        print(f"{compiler}: {DEPTH} deep {deep:.3f} s, 1 deep {flat:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
