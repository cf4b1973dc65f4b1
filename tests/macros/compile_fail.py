"""What must not compile does not, and its corrected version does; what must stay short in the expansion is short.

Each row is a language, a rule, a wrong line and the right one. The wrong one must fail without any warning turned into
an error, except where the language is "c, warning". The right one is compiled with warnings as errors, so a row cannot
pass because of an unrelated mistake around it. Usage: compile_fail.py INCLUDE_DIR [COMPILER...]; a name that
ends in ++ is a C++ compiler. Prints `N passed, N failed`; fails if any did.
"""

import re
import subprocess
import sys

PRELUDE = """
#define LAMINA_OPS_H
#include <lamina/base.h>
#ifdef __cplusplus
extern "C" {
#endif
lam_tensor *lam_mul(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_add(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_add_(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_mul_(lam_tensor *x, lam_tensor *y);
lam_tensor *lam_where(lam_tensor *c, lam_tensor *x, lam_tensor *y);
lam_tensor *lam_clamp(lam_tensor *x, lam_tensor *lo, lam_tensor *hi);
lam_tensor *lam_fma(lam_tensor *x, lam_tensor *y, lam_tensor *z);
void use_list(lam_list list);
void use_axes(lam_axes axes);
void set(lam_tensor **out, size_t n_out);
void use(lam_tensor *x);
#ifdef __cplusplus
}
#endif
%s
struct leaves { lam_tensor *weight, *bias; };
struct texts { char name[5]; };
struct wide { lam_tensor *weight; long double rate; };
struct nested { lam_tensor *weight; struct { lam_tensor *inner[2]; } part; };
struct with_int { lam_tensor *weight; int steps; };
struct with_double { lam_tensor *weight; double rate; };
struct with_bool { lam_tensor *weight; bool on; };
struct with_text { lam_tensor *weight; char name[5]; };
struct with_other { lam_tensor *weight; const char *name; };
void probe(lam_tensor *x, struct leaves *leaves, const struct leaves *fixed, struct texts *texts, struct wide *wide,
           struct nested *nested, struct with_int *with_int, struct with_double *with_double,
           struct with_bool *with_bool, struct with_other *with_other, double *number);
void probe(lam_tensor *x, struct leaves *leaves, const struct leaves *fixed, struct texts *texts, struct wide *wide,
           struct nested *nested, struct with_int *with_int, struct with_double *with_double,
           struct with_bool *with_bool, struct with_other *with_other, double *number) {
    (void)x; (void)leaves; (void)fixed; (void)texts; (void)wide; (void)nested; (void)with_int; (void)with_double;
    (void)with_bool; (void)with_other; (void)number;
    %s
}
"""

# ops.h would include literals.h; here the prelude stands for ops.h. In C++ every listed name needs its prototype.
LITERALS_C = "#include <lamina/literals.h>"
LITERALS_CXX = """
#define DECLARE(name) lam_tensor *lam_##name(lam_tensor *x, lam_tensor *y);
extern "C" {
DECLARE(sub) DECLARE(div) DECLARE(rem) DECLARE(pow) DECLARE(max) DECLARE(min) DECLARE(atan2) DECLARE(hypot) DECLARE(eq)
DECLARE(ne) DECLARE(lt) DECLARE(le) DECLARE(gt) DECLARE(ge) DECLARE(logaddexp) DECLARE(xlogy) DECLARE(copysign)
DECLARE(logaddexp2) DECLARE(xlog1py) DECLARE(nextafter) DECLARE(igamma) DECLARE(igammac) DECLARE(betaln)
DECLARE(shift_left) DECLARE(shift_right_logical) DECLARE(shift_right_arithmetic) DECLARE(mod) DECLARE(floor_divide)
DECLARE(and) DECLARE(or) DECLARE(xor) DECLARE(fmax) DECLARE(fmin) DECLARE(heaviside) DECLARE(gcd) DECLARE(lcm)
DECLARE(float_power) DECLARE(zeta) DECLARE(comb) DECLARE(beta) DECLARE(boxcox) DECLARE(boxcox1p) DECLARE(poch)
DECLARE(sub_) DECLARE(div_)
}
#include <lamina/literals.h>
"""


def times(item, count):
    return ", ".join([item] * count)


# language ("c", "c, warning", "c++" or "both"), rule, wrong, right
ROWS = [
    ("both", "two floating literals", "use(lam_mul(2.0, 3.0));", "use(lam_mul(2.0, x));"),
    ("both", "two integer literals", "use(lam_mul(2, 3));", "use(lam_mul(x, 3));"),
    ("both", "two zeros", "use(lam_mul(0, 0));", "use(lam_mul(0, x));"),
    ("both", "zero and a number", "use(lam_mul(0, 3.0));", "use(lam_mul(x, 3.0));"),
    ("both", "unsigned and floating", "use(lam_add(1ull, 2.0f));", "use(lam_add(1ull, x));"),
    ("both", "a pointer to something else", "use(lam_mul(x, number));", "use(lam_mul(x, *number));"),
    ("both", "a struct as operand", "use(lam_mul(x, *leaves));", "use(lam_mul(x, leaves->bias));"),
    ("both", "a string as branch of where", 'use(lam_where(x, x, "1"));', "use(lam_where(x, x, 1));"),
    ("both", "a pointer as bound of clamp", "use(lam_clamp(x, number, 1));", "use(lam_clamp(x, *number, 1));"),
    ("both", "a string as factor of fma", 'use(lam_fma(x, "2", x));', "use(lam_fma(x, 2, x));"),
    ("c, warning", "a number that is rebound", "use(lam_add_(2, x));", "use(lam_add_(x, 2));"),
    ("c++", "a number that is rebound", "use(lam_add_(2, x));", "use(lam_add_(x, 2));"),
    ("both", "a pointer to something else, in place", "use(lam_mul_(x, number));", "use(lam_mul_(x, *number));"),
    ("both", "a missing operand", "use(lam_mul(x));", "use(lam_mul(x, x));"),
    ("both", "tree of chars", "use_list(LAM_TREE(texts));", "use_list(LAM_TREE(leaves));"),
    ("both", "tree with a wider member", "use_list(LAM_TREE(wide));", "use_list(LAM_TREE(nested));"),
    ("both", "tree of an incomplete type", "use_list(LAM_TREE(x));", "use_list(LAM_TREE(&x));"),
    ("both", "outputs into a wider member", "set(LAM_OUT(wide));", "set(LAM_OUT(nested));"),
    ("c, warning", "outputs into const", "set(LAM_OUT(fixed));", "set(LAM_OUT(leaves));"),
    ("c++", "outputs into const", "set(LAM_OUT(fixed));", "set(LAM_OUT(leaves));"),
    ("both", "leaves of a member of chars", "use_axes(LAM_AXES(LAM_LEAVES(struct with_text, name)));",
     "use_axes(LAM_AXES(LAM_LEAVES(struct nested, weight)));"),
    ("both", "leaves of a type of chars", "use_axes(LAM_AXES((int)LAM_LEAF_COUNT(struct texts)));",
     "use_axes(LAM_AXES((int)LAM_LEAF_COUNT(struct leaves)));"),
    ("both", "leaves of a wider tree", "use_axes(LAM_AXES(LAM_LEAVES(struct wide, weight)));",
     "use_axes(LAM_AXES(LAM_LEAVES(struct nested, part.inner)));"),
    ("both", "a number in a list", "use_list(LAM_LIST(x, 2.0));", "use_list(LAM_LIST(x, NULL));"),
    ("c", "65 tensors", f"use_list(LAM_LIST({times('x', 65)}));", f"use_list(LAM_LIST({times('x', 64)}));"),
    ("c", "65 axes", f"use_axes(LAM_AXES({times('1', 65)}));", f"use_axes(LAM_AXES({times('1', 64)}));"),
    ("c", "200 axes", f"use_axes(LAM_AXES({times('1', 200)}));", "use_axes(LAM_AXES(1, 1));"),
    ("c++", "tree with an int", "use_list(LAM_TREE(with_int));", "use_list(LAM_TREE(leaves));"),
    ("c++", "tree with a double", "use_list(LAM_TREE(with_double));", "use_list(LAM_TREE(leaves));"),
    ("c++", "tree with a bool", "use_list(LAM_TREE(with_bool));", "use_list(LAM_TREE(leaves));"),
    ("c++", "tree with another pointer", "use_list(LAM_TREE(with_other));", "use_list(LAM_TREE(leaves));"),
    ("c++", "outputs into a double", "set(LAM_OUT(with_double));", "set(LAM_OUT(leaves));"),
    ("c++", "a fractional size", "(void)LAM_DIMS(2.5);", "(void)LAM_DIMS(2);"),
    ("c++", "a truncated axis", "use_axes(LAM_AXES(1ll << 40));", "use_axes(LAM_AXES(1 << 4));"),
]

# text, how often ARG may stand in the expansion
MENTIONS = [
    ("lam_mul(ARG, x)", 2),
    ("lam_mul(x, ARG)", 2),
    ("lam_where(x, ARG, x)", 2),
    ("lam_where(ARG, x, x)", 1),
    ("lam_clamp(x, x, ARG)", 2),
    ("lam_fma(x, ARG, x)", 2),
    ("lam_add_(x, ARG)", 2),
    ("lam_add_(ARG, x)", 1),
    ("LAM_LIST(ARG)", 1),
    ("LAM_LIST(x, LAM_LIST(LAM_LIST(LAM_LIST(LAM_LIST(ARG)))))", 1),
    ("LAM_DIMS(ARG, 2)", 1),
    ("LAM_AXES(1, ARG)", 1),
]

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]


def is_cxx(compiler):
    return compiler.endswith("++")


def run(compiler, include, source, *options):
    """Exit status and output of one compilation that writes no file."""
    language = ["-x", "c++", "-std=c++17"] if is_cxx(compiler) else ["-x", "c", "-std=c11"]
    command = [compiler, *language, "-I", include, *options, "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def compiles(compiler, include, line, flags):
    source = PRELUDE % (LITERALS_CXX if is_cxx(compiler) else LITERALS_C, line)
    status, _, messages = run(compiler, include, source, "-fsyntax-only", *flags)
    return status == 0, messages


def row_failures(compiler, include, row):
    """The complaints about one row: at most two."""
    language, rule, wrong, right = row
    if compiles(compiler, include, wrong, STRICT if language == "c, warning" else [])[0]:
        yield f"{compiler}: {rule}: compiles: {wrong}"
    good, messages = compiles(compiler, include, right, STRICT)
    if not good:
        yield f"{compiler}: {rule}: does not compile: {right}\n{messages}"


def mention_failures(compiler, include):
    """The expansions that mention an argument more often than they may; C only, where they are macros."""
    for text, most in MENTIONS:
        source = "#define LAMINA_OPS_H\n#include <lamina/literals.h>\nMARK " + text
        _, expanded, _ = run(compiler, include, source, "-E", "-P")
        found = len(re.findall(r"\bARG\b", expanded.partition("MARK")[2]))
        if not 1 <= found <= most:
            yield f"{compiler}: {text} mentions ARG {found} times, may {most}"


def check(compiler, include):
    """How many checks ran, and the complaints."""
    languages = ("both", "c++") if is_cxx(compiler) else ("both", "c", "c, warning")
    rows = [row for row in ROWS if row[0] in languages]
    failures = [failure for row in rows for failure in row_failures(compiler, include, row)]
    if is_cxx(compiler):
        return 2 * len(rows), failures
    return 2 * len(rows) + len(MENTIONS), failures + list(mention_failures(compiler, include))


def main():
    include, compilers = sys.argv[1], sys.argv[2:] or ["gcc", "clang", "g++", "clang++"]
    results = [check(compiler, include) for compiler in compilers]
    failures = [failure for _, found in results for failure in found]
    for failure in failures:
        print(failure)
    print(f"{sum(count for count, _ in results) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
