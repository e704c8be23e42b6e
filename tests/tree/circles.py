#!/usr/bin/env python3
"""circles.py - prints the circles of includes and of calls between the files of a source tree.

    circles.py [--edges] [TREE]

A file includes another one; a file calls another one if it uses a function that is defined there: an exported one
of a .c file, or any one of a header. For each circle the edges between its files are printed, an edge a line, calls
with the functions' names. --edges prints all edges instead. Exit status: 0 without a circle, 1 with one, 2 on error.

The text is read, not the objects, so that the GPU's kernels and all branches of #if are seen. It relies on what
clang-format makes: a function begins in column 0, and its brace stands alone there. A name counts only where a
declaration of it is visible, so that equal names in different modules are different functions.
"""
import collections
import pathlib
import re
import sys

FOLDERS = ('include', 'core', 'backends', 'plugins')
# Where an included name is searched, after the file's own folder.
SEARCHED = ('include', 'core', 'backends', 'backends/cuda', '.')

COMMENTS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)
DIRECTIVE = re.compile(r'^[ \t]*#[^\n]*', re.M)
DEFINE = re.compile(r'^[ \t]*#[ \t]*define[ \t]+\w+(?:\([^)\n]*\))?([^\n]*)', re.M)
DEFINITION = re.compile(r'^[A-Za-z_][^;{}]*?\)\s*(?=\n\{)', re.M)
PROTOTYPE = re.compile(r'^(?!typedef|return|struct \w+ \{)[A-Za-z_][^;{}=]*?\)[\w \n]*;', re.M)
WORD = re.compile(r'(\.|->)?\s*\b([A-Za-z_]\w*)\b(?=(\s*\()?)')


def without_comments(text):
    return COMMENTS.sub(lambda m: ' ' if m[0][0] == '/' else '""', text)


def function_name(head):
    """The function that `head`, a text which ends with its parameters, declares; None if there is none."""
    depth = 0
    for i in range(len(head) - 1, -1, -1):
        depth += {')': 1, '(': -1}.get(head[i], 0)
        if depth == 0 and head[i] == '(':
            name = re.search(r'(\w+)\s*$|\b\w+\(\s*(\w+)\s*\)\s*$', head[:i])  # f(...) or MACRO(f)(...)
            return name and (name[1] or name[2])
    return None


class File:
    """What one file includes, declares, defines and uses."""

    def __init__(self, path, text):
        text = text.replace('\\\n', ' ')
        self.path = path
        self.is_header = path.suffix not in ('.c', '.cu')
        without_strings = without_comments(text)
        self.included_names = INCLUDE.findall(re.sub(r'/\*.*?\*/|//[^\n]*', ' ', text, flags=re.S))
        self.includes = set()
        self.defined, self.own, self.declared = set(), set(), set()
        code = DIRECTIVE.sub('', without_strings)
        for m in DEFINITION.finditer(code):
            name = function_name(m[0].rstrip())
            if name:
                self.own.add(name)
                if self.is_header or not re.search(r'\bstatic\b', m[0]):
                    self.defined.add(name)
        for m in PROTOTYPE.finditer(code):
            name = function_name(m[0][:m[0].rindex(')') + 1])
            if name:
                self.declared.add(name)
        self.declared |= self.defined
        if self.is_header:
            code = PROTOTYPE.sub('', code)
        self.text = code + '\n'.join(DEFINE.findall(without_strings))
        words = [m for m in WORD.finditer(self.text) if not m[1]]
        self.called = {m[2] for m in words if m[3]}
        self.mentioned = {m[2] for m in words} - self.called

    def uses(self, names):
        """Which of the functions `names` the file calls or passes on; it may have variables of such names."""
        return names & self.called | {name for name in names & self.mentioned if not self.has_variable(name)}

    def has_variable(self, name):
        found = re.search(r'(?:(\w+)\s+|\*)\b' + name + r'\s*(?:[;=\[,)]|:\s*\d)', self.text)
        return found is not None and found[1] not in ('return', 'else', 'sizeof')


def read_tree(top):
    paths = sorted(p for folder in FOLDERS for p in (top / folder).rglob('*')
                   if p.suffix in ('.c', '.h', '.cu', '.cuh') and p.is_file())
    files = {p.relative_to(top): File(p.relative_to(top), p.read_text()) for p in paths}
    for file in files.values():
        for name in file.included_names:
            for folder in (file.path.parent, *map(pathlib.Path, SEARCHED)):
                if folder / name in files:
                    file.includes.add(folder / name)
                    break
    return files


def reach(files, start):
    """All files that `start` includes, directly or not, and itself."""
    seen, todo = {start}, [start]
    while todo:
        new = files[todo.pop()].includes - seen
        seen |= new
        todo += new
    return seen


def calls_of(files):
    """{(user, definer): {function}}"""
    reached = {path: reach(files, path) for path in files}
    # A header may rely on what its includers included before it.
    visible = collections.defaultdict(set)
    for path, all_of in reached.items():
        for one in all_of:
            if one == path or not files[path].is_header:
                visible[one] |= all_of
    definers, declarers = collections.defaultdict(set), collections.defaultdict(set)
    for path, file in files.items():
        for name in file.defined:
            definers[name].add(path)
        for name in file.declared:
            declarers[name].add(path)
    calls = collections.defaultdict(set)
    for path, file in files.items():
        for name in file.uses(definers.keys() - file.own):
            for definer in definers[name]:
                if definer == path:
                    continue
                if definer in visible[path] or declarers[name] & visible[path] & visible[definer]:
                    calls[path, definer].add(name)
    return calls


def circles(edges):
    """The sets of nodes that reach each other, of more than one node or with an edge to itself."""
    after = collections.defaultdict(set)
    for a, b in edges:
        after[a].add(b)

    def reachable(start):
        seen, todo = set(), [start]
        while todo:
            new = after[todo.pop()] - seen
            seen |= new
            todo += new
        return seen

    ahead = {a: reachable(a) for a in list(after)}
    found = {frozenset(b for b in ahead[a] if a in ahead.get(b, ())) for a in ahead if a in ahead[a]}
    return sorted(found, key=sorted)


def report(kind, edges):
    found = circles(edges)
    for circle in found:
        print(f'{kind} circle of {len(circle)} files:')
        for (a, b), names in sorted(edges.items()):
            if a in circle and b in circle:
                print(f'    {a} -> {b}' + (f': {", ".join(sorted(names))}' if names else ''))
    return len(found)


def main(arguments):
    show_edges = '--edges' in arguments
    names = [a for a in arguments if a != '--edges']
    top = pathlib.Path(names[0]) if names else pathlib.Path(__file__).resolve().parents[2]
    files = read_tree(top)
    if not files or len(names) > 1:
        print(__doc__.strip() if files else f'{top}: no sources', file=sys.stderr)
        return 2
    included = {(a, b): set() for a, file in files.items() for b in file.includes}
    called = calls_of(files)
    if show_edges:
        for kind, edges in (('include', included), ('call', called)):
            for (a, b), functions in sorted(edges.items()):
                print(kind, a, b, *sorted(functions))
        return 0
    count = report('include', included) + report('call', called)
    print(f'{len(files)} files, {len(included)} includes, {len(called)} calls, {count} circles')
    return 1 if count else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
