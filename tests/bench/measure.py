"""What tests/bench/run and tests/bench/cost share: the machine, runs and their times, the counts of operations.

Python's standard library alone, so that it works where nothing is installed. BUILD is a build tree or a folder that
tests/gpu-stage has made.
"""

import glob
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time


class Failure(Exception):
    """One line for the user."""


# ---- operations and bytes: derived in doc/notes/benchmark-results.md ---------------------------------------------

# Of the drift, a face and axis: arithmetic, and sums for the coordinates that it reads.
DRIFT_OPERATIONS = {"lorenz96": 8, "lorenz63": 6, "linear": 8}


def operations_a_cell(scheme, dimension, model):
    """A raw cell and step."""
    drift = DRIFT_OPERATIONS[model]
    if scheme.startswith("split"):
        return dimension * ((53 if scheme.startswith("split7") else 42) + drift + 4)
    return dimension * (1.5 * 28 + 7 + 4 * drift)


def bytes_a_cell(scheme, dimension, precision):
    """Compulsory traffic of the density, a raw cell and step."""
    real = 8 if precision == "double" else 4
    return 2 * real * dimension if scheme.startswith("split") else 5 * real


# ---- programs ----------------------------------------------------------------------------------------------------


def program(build, name):
    """The program's path in a build tree or a staged folder; None if it is not there."""
    for folder in ("bin", ".", "tests/bench", "tests/accuracy"):
        path = os.path.join(build, folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    return None


def required(build, name):
    path = program(build, name)
    if not path:
        raise Failure(f"there is no {name} in {build}: run 'make {name}' there, or make a folder with tests/gpu-stage")
    return path


def answer(command, limit=None):
    """Standard output of a command; '' if there is no such command or it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=limit)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


# ---- the machine -------------------------------------------------------------------------------------------------


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def caches():
    """Of the first processor: "L2 2048K", and how many share it."""
    found = []
    for folder in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        kind = read(f"{folder}/type")
        if kind != "Instruction":
            shared = sum(
                int(b or a) - int(a) + 1
                for a, b in re.findall(r"(\d+)(?:-(\d+))?", read(f"{folder}/shared_cpu_list"))
            )
            found.append({"level": int(read(f"{folder}/level") or 0), "size": read(f"{folder}/size"), "shared": shared})
    return found


def build_description(build):
    """Compiler and flags: from the build tree, or from what tests/gpu-stage has noted of it."""
    noted = read(os.path.join(build, "build.json"))
    if noted:
        return json.loads(noted)
    lines = dict(re.findall(r"^(CC|CFLAGS|GBEES_CFLAGS|AVX512_CFLAGS) = (.*)$", read(os.path.join(build, "Makefile")), re.M))
    compiler = lines.get("CC", "")
    version = answer(compiler.split() + ["--version"]).split("\n")[0] if compiler else ""
    flags = " ".join(lines.get(key, "") for key in ("GBEES_CFLAGS", "CFLAGS")).strip()
    return {"compiler": f"{compiler}: {version}" if version else compiler, "flags": flags}


def machine(build):
    model = re.search(r"^model name\s*: (.*)$", read("/proc/cpuinfo"), re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", read("/proc/meminfo"), re.M)
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm", "--format=csv,noheader"]
    gpus = answer(query, 60)
    return {
        "processor": model.group(1).strip() if model else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "processors": os.cpu_count(),
        "caches": caches(),
        "memory_bytes": int(memory.group(1)) * 1024 if memory else 0,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load": os.getloadavg()[0],
        "gpus": gpus.split("\n") if gpus else [],
        "gbees": answer([required(build, "gbees-run"), "--version"]),
        "build": build_description(build),
        "date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
    }


def ceilings(build, threads, quick):
    """What the machine can do at most, of tests/bench/ceiling."""
    command = [required(build, "ceiling")] + [f"--threads={n}" for n in sorted(set(threads))]
    if quick:
        command += ["--bytes=4e6", "--repeat=1"]
    text = answer(command)
    if not text:
        raise Failure(f"{command[0]} failed")
    top = json.loads(text)
    gpu = program(build, "ceiling_gpu")
    text = answer([gpu], 60) if gpu else ""
    top["gpus"] = [json.loads(text)] if text else []
    return top


# ---- runs --------------------------------------------------------------------------------------------------------


def backends(build):
    """Names of those that can be used here."""
    lines = answer([required(build, "gbees-run"), "--list", "--json"]).split("\n")
    events = [json.loads(line) for line in lines if line.startswith("{")]
    return [e["name"] for e in events if e["event"] == "backend" and e["usable"]]


def without_audit(build):
    """The option that leaves out the audit, of builds that have one: steps and updates are what is timed."""
    return ["--audit", "off"] if "--audit" in answer([required(build, "gbees-run"), "--help"]) else []


def run_once(build, backend, threads, arguments):
    """The events of one run: (start, records, summary)."""
    command = [required(build, "gbees-run"), "--json", "--no-output", "--progress", "none", "--backend", backend]
    command += ["--threads", str(threads)] + without_audit(build) + arguments
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    events = [json.loads(line) for line in done.stdout.split("\n") if line]
    if done.returncode != 0:
        reasons = [e["text"] for e in events if e["event"] == "error"] or done.stderr.strip().split("\n")[-1:]
        raise Failure(f"{' '.join(arguments)}: {reasons[0] if reasons else 'exit status %d' % done.returncode}")
    start = next(e for e in events if e["event"] == "start")
    return start, [e for e in events if e["event"] == "record"], events[-1]


def spread(seconds):
    """Median, least and most."""
    return {"median_s": statistics.median(seconds), "least_s": min(seconds), "most_s": max(seconds)}


def figures(summary, scheme, precision, dimension, model, seconds):
    """Rates of a run that took so many seconds."""
    raw = summary["raw_cell_updates"]
    return {
        "steps": summary["steps"],
        "cell_updates": summary["cell_updates"],
        "raw_cell_updates": raw,
        "max_cells": summary["max_cells"],
        "peak_bytes": summary["peak_bytes"],
        "cells_per_s": summary["cell_updates"] / seconds,
        "raw_cells_per_s": raw / seconds,
        "bytes_per_s": raw * bytes_a_cell(scheme, dimension, precision) / seconds,
        "operations_per_s": raw * operations_a_cell(scheme, dimension, model) / seconds,
        "operations_per_byte": operations_a_cell(scheme, dimension, model) / bytes_a_cell(scheme, dimension, precision),
    }


# ---- output ------------------------------------------------------------------------------------------------------


def write(path, value):
    """Whole or not at all: a long session may be cut."""
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
    os.replace(path + ".tmp", path)


def engineering(value):
    """1234567 -> '1.23 M'."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:.3g} {letter}"
    return f"{value:.3g} "


def machine_text(where, top):
    """Some lines of Markdown."""
    cache = ", ".join(
        f"L{c['level']} {c['size']}" + (f" for {c['shared']}" if c["shared"] > 1 else "") for c in where["caches"]
    )
    lines = [
        f"- {where['processor']}, {where['cores']} of {where['processors']} processors; {cache};"
        f" {where['memory_bytes'] / 2**30:.0f} GiB; {where['system']}; load {where['load']:.1f} at the start",
        f"- {where['gbees']}; {where['build']['compiler'] or 'compiler unknown'}; {where['build']['flags']};"
        f" instruction set of the CPU backend: {top['isa']}",
    ]
    lines += [f"- {gpu}" for gpu in where["gpus"]]
    return "\n".join(lines + [f"- {where['date']}"])


def ceilings_text(top):
    lines = [
        "| threads | copy | in place | float, multiply-adds | double |",
        "| --: | --: | --: | --: | --: |",
    ]
    for row in top["ceilings"]:
        rates = (row["copy_bytes_per_s"], row["in_place_bytes_per_s"])
        adds = (row["float_operations_per_s"], row["double_operations_per_s"])
        cells = [f"{engineering(v)}B/s" for v in rates] + [f"{engineering(v)}op/s" for v in adds]
        lines.append(f"| {row['threads']} | " + " | ".join(cells) + " |")
    for gpu in top["gpus"]:
        rates = [f"{engineering(gpu['copy_bytes_per_s'])}B/s", "-"]
        rates += [f"{engineering(gpu[key])}op/s" for key in ("float_operations_per_s", "double_operations_per_s")]
        lines.append(f"| {gpu['name']} | " + " | ".join(rates) + " |")
    return "\n".join(lines)


def as_backends(build, wanted):
    """Those of a list of names, or cpu and cuda if the list is empty, that can be used here."""
    usable = backends(build)
    for name in wanted:
        if name not in usable:
            raise Failure(f"the backend {name} can't be used here: gbees-run --list says why")
    return wanted or [name for name in usable if name in ("cpu", "cuda")]


def main(name, body):
    """Runs body(); a Failure is one line on standard error and exit status 1."""
    try:
        body()
    except Failure as failure:
        print(f"{name}: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    # What tests/gpu-stage notes of a build tree.
    print(json.dumps(build_description(sys.argv[1])))
