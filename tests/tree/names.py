"""names.py ROOT - names that the headers of core, include and backends/common give to two things: types, structures and
functions. A line each, and exit status 1 if there is one. Headers that no file includes together would compile."""
import collections
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
meanings = collections.defaultdict(set)
for path in sorted(p for top in ("core", "include", "backends/common") for p in (root / top).rglob("*.[ch]")):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    where = str(path.relative_to(root))
    for name in re.findall(r"^(?:typedef )?struct (gbees_\w+) \{", text, re.M):
        meanings[name].add(f"a structure in {where}")
    if path.suffix == ".c":
        continue
    for name in re.findall(r"^typedef (?!struct \w+ \{)[^;{}]*?\b(gbees_\w+)(?:\[\w*\])?;", text, re.M):
        if not re.search(rf"^typedef struct {name} {name};", text, re.M):
            meanings[name].add(f"a type in {where}")
    for name in re.findall(r"^(?!typedef|return)[A-Za-z_][\w *]*?\b(gbees_\w+)\(", text, re.M):
        meanings[name].add(f"a function in {where}")
bad = sorted((name, sorted(found)) for name, found in meanings.items() if len(found) > 1)
for name, found in bad:
    print(f"{name}: {', '.join(found)}: give one of them another name")
sys.exit(1 if bad else 0)
