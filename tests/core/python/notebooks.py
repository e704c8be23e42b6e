"""Runs the notebooks given: by nbclient where it is installed with a kernel, else their code cells as a script; with
--script always so, as a kernel may be of another Python."""

import json
import os
import sys

os.environ.setdefault("MPLBACKEND", "Agg")


def run_with_client(path):
    """Whether the notebook was run."""
    try:
        import nbformat
        from jupyter_client.kernelspec import NoSuchKernel
        from nbclient import NotebookClient
    except ImportError:
        return False
    try:
        NotebookClient(nbformat.read(path, as_version=4), timeout=300).execute()
    except NoSuchKernel:
        return False
    return True


def run_as_script(path):
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path}, cell {number}", "exec"), names)


always_script = "--script" in sys.argv
for notebook in [name for name in sys.argv[1:] if name != "--script"]:
    how = "by nbclient" if not always_script and run_with_client(notebook) else "as a script"
    if how == "as a script":
        run_as_script(notebook)
    print(f"{notebook}: run {how}")
