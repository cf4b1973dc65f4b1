#!/usr/bin/env python3
"""Runs an example and compares what it prints with a file: check_output.py EXPECTED PROGRAM [ARGUMENT...].

Text must agree exactly. A number with a fraction or exponent may differ by one unit of its last printed digit,
since the last digit of a correctly computed value depends on how a machine rounds. The program must exit with 0
and write nothing to its standard error. One of another machine is run by what Meson runs such programs by.
"""
import itertools
import os
import re
import shlex
import subprocess
import sys
from decimal import Decimal

NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?")


def unit(text):
    """The value of one unit in the last digit of a printed number."""
    return Decimal(1).scaleb(Decimal(text).as_tuple().exponent)


def same_line(expected, got):
    if expected == got:
        return True
    if NUMBER.sub("#", expected).split() != NUMBER.sub("#", got).split():
        return False
    pairs = zip(NUMBER.findall(expected), NUMBER.findall(got))
    return all(abs(Decimal(a) - Decimal(b)) <= max(unit(a), unit(b)) for a, b in pairs)


def differences(expected, got):
    lines = itertools.zip_longest(expected.splitlines(), got.splitlines())
    for number, (want, have) in enumerate(lines, 1):
        if want is None or have is None or not same_line(want, have):
            yield f"line {number}:\n  expected: {want!r}\n  got:      {have!r}"


def main(expected_path, *command):
    wrapper = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
    run = subprocess.run([*wrapper, *command], capture_output=True, text=True, check=False)
    problems = []
    if run.returncode != 0:
        problems.append(f"exit status {run.returncode}")
    if run.stderr:
        problems.append(f"standard error:\n{run.stderr}")
    with open(expected_path, encoding="utf-8") as file:
        problems.extend(differences(file.read(), run.stdout))
    print("\n".join(problems) if problems else f"{expected_path}: as expected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
