#!/usr/bin/env python3
"""Counts what test runs checked: count_checks.py TESTLOG.json... prints "PASSED FAILED", summed over all logs.

A meson test whose output has Check's count, or a line "N passed, N failed", counts as that many checks; any other
counts as one. A test that failed without saying so (crash, timeout) counts as one failure more.
"""
import json
import re
import sys

CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed", re.M)


def counts(test):
    output = test.get("stdout", "")
    passed = failed = 0
    for checks, failures, errors in CHECK.findall(output):
        failed += int(failures) + int(errors)
        passed += int(checks) - int(failures) - int(errors)
    for good, bad in PLAIN.findall(output):
        passed, failed = passed + int(good), failed + int(bad)
    succeeded = test["result"] == "OK"
    if succeeded and passed + failed == 0:
        passed = 1
    if not succeeded and failed == 0:
        failed = 1
    return passed, failed


def main(paths):
    totals = [0, 0]
    for path in paths:
        with open(path, encoding="utf-8") as log:
            for line in log:
                passed, failed = counts(json.loads(line))
                totals[0] += passed
                totals[1] += failed
    print(*totals)


if __name__ == "__main__":
    main(sys.argv[1:])
