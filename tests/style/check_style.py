#!/usr/bin/env python3
"""Checks the project against the rules of its README that a program can check.

check_style.py --root DIR --library FILE   checks a tree and the shared library built from it
check_style.py --self-test                 checks the rules: each must report its broken files and pass its good ones

The last line has the form of Check's, so that .ci/run counts rules as it counts tests.
"""
import argparse
import os
import sys
import tempfile

import build_rules  # noqa: F401  (registers its rules)
from rules import RULES, public_prototypes
from source import Tree


def write_tree(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


def problems_of(check, files):
    with tempfile.TemporaryDirectory() as root:
        write_tree(root, files)
        return list(check(Tree(root)))


def self_test():
    """Yields (title, complaints) for each rule about the rule itself."""
    for title, check, bad, good in RULES:
        complaints = [f"does not report {files}" for files in bad if not problems_of(check, files)]
        complaints += [f"wrongly reports: {problem}" for problem in problems_of(check, good)]
        yield title, complaints if bad else ["has no seeded violation"]


def check_tree(tree):
    for title, check, _, _ in RULES:
        yield title, list(check(tree))


def report(results):
    failures = 0
    for title, problems in results:
        failures += bool(problems)
        print(f"{'FAIL' if problems else 'ok  '} {title}")
        for problem in problems:
            print(f"       {problem}")
    print(f"{100 * (len(RULES) - failures) // len(RULES)}%: Checks: {len(RULES)}, Failures: {failures}, Errors: 0")
    return 1 if failures else 0


def print_coverage(tree):
    docs = [doc for _, _, _, doc in public_prototypes(tree)]
    if docs:
        print(f"public functions: {len(docs)}, documented: {100 * sum(map(bool, docs)) / len(docs):.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--root")
    parser.add_argument("--library")
    options = parser.parse_args()
    if options.self_test:
        return report(self_test())
    if not options.root or not options.library:
        parser.error("--root and --library are needed")
    tree = Tree(os.path.abspath(options.root), {"library": os.path.abspath(options.library)})
    print_coverage(tree)
    return report(check_tree(tree))


if __name__ == "__main__":
    sys.exit(main())
