"""Writes notebooks, with their outputs, as pages of the documentation site: notebook_pages.py FOLDER-OF-NOTEBOOKS FOLDER-OF-PAGES."""

import json
import sys
from pathlib import Path


def text(lines):
    return "".join(lines) if isinstance(lines, list) else lines


def output(cell, number, name, pages):
    """An output as Markdown: text as it stands, a drawing as a file beside the page."""
    data = cell.get("data", {})
    if "image/svg+xml" in data:
        drawing = f"{name}-{number}.svg"
        (pages / drawing).write_text(text(data["image/svg+xml"]), encoding="utf-8")
        return f"![drawing]({drawing})\n"
    shown = text(cell.get("text", data.get("text/plain", "")))
    return f"```text\n{shown.rstrip()}\n```\n"


def page(path, pages):
    blocks, drawings = [], 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = text(cell["source"])
        if cell["cell_type"] == "markdown":
            blocks.append(source + "\n")
            continue
        blocks.append(f"```python\n{source.rstrip()}\n```\n")
        for one in cell["outputs"]:
            drawings += 1
            blocks.append(output(one, drawings, path.stem, pages))
    (pages / f"{path.stem}.md").write_text("\n".join(blocks), encoding="utf-8")


pages = Path(sys.argv[2])
pages.mkdir(parents=True, exist_ok=True)
for notebook in sorted(Path(sys.argv[1]).glob("*.ipynb")):
    page(notebook, pages)
