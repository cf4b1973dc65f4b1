"""What the style rules look at: a tree of files and C text without what a rule must not stumble over.

Offsets and line numbers are kept by everything here: comments, strings and directives are blanked, never removed.
"""
import os
import re
import subprocess

C_SUFFIXES = (".c", ".h", ".def", ".cpp", ".inc")
TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.M | re.S)
NAME_AT_END = re.compile(r"([A-Za-z_]\w*)\s*\Z")
EXTERN_AT_END = re.compile(r'extern\s+" *"\s*\Z')
LONGEST_NAME = 200  # with what stands around it: looked for from the end, not through the whole file
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "_Alignof", "_Generic", "defined"}


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text, strings=True):
    """Blanks comments and, where asked, the inside of strings."""
    def replace(match):
        if match.group("comment"):
            return blank(match.group())
        quoted = match.group()
        return quoted if strings else quoted[0] + " " * (len(quoted) - 2) + quoted[-1]
    return TOKEN.sub(replace, text)


def code_only(text):
    """Blanks comments, strings and preprocessor directives: what is left is declarations and statements."""
    return DIRECTIVE.sub(lambda m: blank(m.group()), without_comments(text, strings=False))


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def opening(code, close):
    """Offset of the parenthesis that the one at `close` closes, or -1."""
    depth = 0
    for at in range(close, -1, -1):
        depth += (code[at] == ")") - (code[at] == "(")
        if depth == 0:
            return at
    return -1


def function_name(code, brace):
    """The function whose body begins at `brace`, or None for an initialiser or a struct."""
    head = code[:brace].rstrip()
    while head.endswith(")"):
        left = opening(head, len(head) - 1)
        found = NAME_AT_END.search(head, max(left - LONGEST_NAME, 0), left) if left > 0 else None
        if not found:
            return None
        if found.group(1) == "__attribute__":
            head = head[:found.start()].rstrip()
            continue
        if found.group(1) in ("START_TEST", "END_TEST"):
            return head[left + 1:-1].strip()
        return None if found.group(1) in KEYWORDS else found.group(1)
    return None


def functions(code):
    """(name, first line, last line, body) of each function defined in code_only text."""
    depth, start, name = 0, 0, None
    for match in re.finditer(r"[{}]", code):
        at = match.start()
        if match.group() == "{":
            if depth == 0:
                name, start = function_name(code, at), at
                if EXTERN_AT_END.search(code, max(at - LONGEST_NAME, 0), at):
                    continue
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == 0 and name:
                head = max(code.rfind(mark, 0, start) for mark in (";", "}"))
                first = head + 1 + len(code[head + 1:start]) - len(code[head + 1:start].lstrip())
                yield name, line_of(code, first), line_of(code, at), code[start:at + 1]


class Tree:
    """The project's own files: those git knows or would add; without git, all that are not build output."""

    def __init__(self, root, tools=None):
        self.root = root
        self.tools = tools or {}
        self.paths = sorted(p for p in self._listed() if os.path.isfile(os.path.join(root, p)))
        self._texts = {}

    def _listed(self):
        command = ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        if os.path.exists(os.path.join(self.root, ".git")):
            run = subprocess.run(command, capture_output=True, text=True, check=True)
            return [path for path in run.stdout.split("\0") if path]
        found = []
        for folder, names, files in os.walk(self.root):
            names[:] = [n for n in names if not n.startswith((".git", "build", "__pycache__"))]
            found += [os.path.relpath(os.path.join(folder, f), self.root) for f in files]
        return found

    def text(self, path):
        if path not in self._texts:
            with open(os.path.join(self.root, path), "rb") as file:
                self._texts[path] = file.read().decode("utf-8", errors="replace")
        return self._texts[path]

    def select(self, *prefixes, suffixes=C_SUFFIXES):
        return [p for p in self.paths if p.startswith(prefixes or "") and p.endswith(suffixes)]

    def includes(self, path):
        """(line, name, is_quoted) of each include."""
        for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)', self.text(path), re.M):
            yield line_of(self.text(path), match.start()), match.group(2), match.group(1) == '"'
