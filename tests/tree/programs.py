"""Lists the external programs that scripts of the shell call: python3 programs.py SCRIPT...

Prints "PROGRAM SCRIPT" for each, but for the shell's own commands, functions, and names with a folder or a variable in
them. What begins a command is called, and what follows a command that calls another one, as `timeout` does.
"""

import re
import sys

OPENING = set("if then elif else while until do ! { time".split())  # a command follows
OWN = set(
    "exit for case esac fi done } in . : [ alias bg break cd continue echo export false fg getopts jobs kill local printf pwd read "
    "readonly return set shift test times true type ulimit umask unalias unset wait function command eval exec trap".split()
)
# Commands that call what follows their options and so many more words.
CALLERS = {"calls": 1, "command": 0, "env": 0, "eval": 0, "exec": 0, "nice": 0, "nohup": 0, "timeout": 1, "trap": 0}
CALLERS.update({"unshare": 0, "wait_until": 0, "xargs": 0})
WITH_VALUE = {"timeout": "-s -k --signal", "xargs": "-n -P -I", "env": "-u", "nice": "-n"}
NAME = re.compile(r"[A-Za-z_][\w.+-]*$")


class Script:
    """A script's text, read from the beginning to the end."""

    def __init__(self, text):
        self.text, self.at = text, 0
        self.called, self.functions, self.here = set(), set(), []

    def looking(self, pattern):
        found = re.compile(pattern, re.S).match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found

    def quoted(self, end):
        """Reads text in which commands are substituted, up to `end`; returns it."""
        begin = self.at
        while not self.looking(end) and self.at < len(self.text):
            self.substitution() or self.looking(r"\\.|.")
        return self.text[begin : self.at - 1]

    def substitution(self):
        if self.looking(r"\$\(\("):
            return self.quoted(r"\)\)") or True
        if self.looking(r"\$\("):
            return self.commands(")") or True
        if self.looking(r"\$\{"):
            return self.quoted(r"\}") or True
        return self.looking("`") and (self.commands("`") or True)

    def word(self):
        """Reads a word; returns it without quotes, and with $ for what is substituted. Empty: there is none here."""
        word, begin = "", self.at
        while self.at < len(self.text):
            found = self.looking(r"[^\s;|&()<>'\"\\`$]+") or self.looking(r"'([^']*)'") or self.looking(r"\\(.)")
            if found:
                word += found[found.lastindex or 0]
            elif self.looking('"'):
                word += self.quoted('"')
            elif self.substitution() or self.looking(r"\$"):
                word += "$"
            else:
                break
        return word if self.at > begin else None

    def here_documents(self):
        for end in self.here:
            self.looking(r"(?:(?!\s*" + re.escape(end) + r"\n)[^\n]*\n)*[^\n]*\n?")
        self.here = []

    def commands(self, closing):
        words, patterns = [], []  # of each `case` that is open: whether a pattern comes next
        while self.at < len(self.text):
            if closing and not (patterns and patterns[-1]) and self.looking(re.escape(closing)):
                break
            if self.looking(r"[ \t]+|\\\n|#[^\n]*"):
                continue
            here = self.looking(r"\d*<<-?\s*(?=['\"\\\w])")
            if here:
                self.here.append(self.word())
            elif self.looking(r"\d*[<>]+[&|]?\s*"):
                self.word()
            elif words and NAME.match(words[-1]) and self.looking(r"\(\s*\)"):
                self.functions.add(words.pop())
            elif patterns and patterns[-1]:
                if self.looking(r"esac\b"):
                    patterns.pop()
                elif self.looking(r"\)"):
                    words, patterns[-1] = [], False
                else:
                    self.looking(r"[|(\n;&]") or self.word()
            elif self.looking(r"[;|&()\n]+"):
                self.call(words)
                ends = self.text[: self.at].rstrip(" \n").endswith(";;")
                if self.text[self.at - 1] == "\n":
                    self.here_documents()
                words = []
                if patterns and ends:
                    patterns[-1] = True
            else:
                words.append(self.word())
                if words[-1] is None:
                    raise SystemExit(f"programs.py: can't read {self.text[self.at:self.at + 40]!r}")
                if words[-1] == "in" and len(words) >= 3 and words[-3] == "case":
                    words, patterns = [], patterns + [True]
                elif words == ["esac"] and patterns:
                    patterns.pop()
        self.call(words)

    def call(self, words):
        words = list(words)
        while words and (words[0] in OPENING or re.match(r"\w+=", words[0])):
            words.pop(0)
        if not words:
            return
        name = words.pop(0)
        if name not in OWN and NAME.match(name):
            self.called.add(name)
        if name in ("sh", "bash") and "-c" in words[:-1]:
            self.inner(words[words.index("-c") + 1])
        elif name in ("trap", "eval") and words:
            self.inner(words[0])
        elif name == "find":
            for option in ("-exec", "-execdir"):
                if option in words:
                    self.call(words[words.index(option) + 1 :])
        elif name in CALLERS:
            while words and words[0].startswith("-"):
                taken = words.pop(0)
                if taken in ("-v", "-V") and name == "command":
                    return
                if taken in WITH_VALUE.get(name, "").split() and words:
                    words.pop(0)
            self.call(words[CALLERS[name] :])

    def inner(self, text):
        script = Script(text)
        script.commands("")
        self.called |= script.called
        self.functions |= script.functions


def main():
    """Functions of fixtures are known in all scripts."""
    scripts, shared = {}, set()
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            scripts[path] = Script(file.read())
        scripts[path].commands("")
        if path.endswith("_fixture.sh"):
            shared |= scripts[path].functions
    for path, script in scripts.items():
        for name in sorted(script.called - script.functions - shared):
            print(name, path)


if __name__ == "__main__":
    main()
