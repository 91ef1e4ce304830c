"""Notebook output: small tables and drawings without scripts, in light and dark."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from drystone._result import Comparison, Result
    from drystone._table import Table
    from drystone._workload import Workload

#: Rows of a table that are shown.
ROWS = 10

#: Measures that are shown at a glance: name, what people call it, how it is shown.
GLANCE = (
    ("wait_mean", "mean wait", "time"),
    ("wait_p95", "95 % wait at most", "time"),
    ("wait_max", "longest wait", "time"),
    ("bounded_slowdown_mean", "mean bounded slowdown", "number"),
    ("utilisation", "utilisation", "share"),
)


def duration(seconds: float) -> str:
    """A time in the unit that reads well."""
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} s"


def shown(value: float, how: str) -> str:
    """A value for people."""
    if how == "time":
        return duration(value)
    return f"{value:.1%}" if how == "share" else f"{value:.2f}"


def rows(head: list[str], body: list[list[str]]) -> str:
    """A table of texts."""
    heads = "".join(f"<th style='text-align:left'>{escape(one)}</th>" for one in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in body)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def facts(title: str, pairs: list[tuple[str, str]]) -> str:
    """A heading and what there is to know."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in pairs
    )
    return f"<div><b>{escape(title)}</b><table><tbody>{body}</tbody></table></div>"


def table(given: Table) -> str:
    """The first rows of a table."""
    columns = {name: given[name][:ROWS] for name in given.columns}

    def cell(value: object) -> str:
        if isinstance(value, (float, np.floating)):
            return "" if np.isnan(value) else f"{value:.6g}"
        return "" if value is None else str(value)

    count = min(ROWS, len(given))
    body = [[cell(columns[name][at]) for name in given.columns] for at in range(count)]
    more = f"<div>{len(given):,} rows</div>" if len(given) > count else ""
    return rows(given.columns, body) + more


def workload(given: Workload) -> str:
    """A workload at a glance."""
    pairs = [("jobs", f"{len(given):,}"), ("processors", f"{given.procs:,}")]
    if given.load is not None:
        pairs.append(("offered load", f"{given.load:.3f}"))
    if given.submits is not None:
        pairs.append(("span of submits", duration(given.submits[1] - given.submits[0])))
    rules = given.audit["rules"]
    if rules:
        pairs.append(("cleaning", ", ".join(f"{rule} {records:,}" for rule, records in rules.items())))
    pairs.append(("settings", ", ".join(f"{name}={value}" for name, value in given.settings) or "none"))
    pairs.append(("hash", given.hash))
    return facts(f"Workload {given.name}", pairs)


def cumulative(values: np.ndarray[tuple[int], np.dtype[np.int64]], label: str) -> str:
    """The share of jobs that waited at most so long, on a logarithmic axis, as a small drawing."""
    width, height, left, bottom = 360, 120, 34, 18
    if not len(values):
        return ""
    ordered = np.sort(values)
    most = max(float(ordered[-1]), 10.0)
    across = np.logspace(0, np.log10(most), 90)
    share = np.searchsorted(ordered, across, side="right") / len(ordered)
    x = left + (width - left - 6) * np.log10(across) / np.log10(most)
    y = 6 + (height - bottom - 6) * (1 - share)
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    marks = "".join(
        f"<text x='{left + (width - left - 6) * np.log10(at) / np.log10(most):.0f}' y='{height - 4}' text-anchor='middle'>{name}</text>"
        for at, name in ((1, "1 s"), (60, "1 min"), (3_600, "1 h"), (86_400, "1 d"), (604_800, "1 wk"))
        if at <= most
    )
    levels = "".join(
        f"<text x='{left - 4}' y='{6 + (height - bottom - 6) * (1 - part) + 3:.0f}' text-anchor='end'>{part:.0%}</text>"
        for part in (0.0, 0.5, 1.0)
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' role='img' aria-label='{escape(label)}' "
        f"font-size='9' fill='currentColor'><title>{escape(label)}</title>{marks}{levels}"
        f"<path d='M{left} 6V{height - bottom}H{width - 6}' fill='none' stroke='currentColor' stroke-opacity='.4'/>"
        f"<polyline points='{line}' fill='none' stroke='#2f7ed8' stroke-width='1.5'/></svg>"
    )


def result(given: Result) -> str:
    """A result at a glance, with how long jobs waited."""
    measures = given.measures
    pairs = [(name, shown(measures[key], how)) for key, name, how in GLANCE if key in measures]
    pairs.append(("workload", f"{given.workload.name}, {len(given.workload):,} jobs"))
    drawing = cumulative(given.jobs["wait"], "Share of jobs that waited at most so long")
    return f"{facts(given.policy, pairs)}{drawing}"


def comparison(given: Comparison) -> str:
    """The verdict and the figures that it rests on."""
    sentences = "".join(f"<p>{escape(line)}</p>" for line in given.verdict.splitlines())
    columns = [(key, name, how) for key, name, how in GLANCE if key in given.table]
    values = {key: given.table[key] for key, _, _ in columns}
    body = []
    for at, policy in enumerate(given.policies):
        line = [policy + (" (baseline)" if policy == given.baseline else "")]
        line += ["" if np.isnan(values[key][at]) else shown(float(values[key][at]), how) for key, _, how in columns]
        body.append(line)
    return f"<div>{sentences}{rows(['policy', *(name for _, name, _ in columns)], body)}</div>"


def preformatted(text: str) -> str:
    """Text as it stands."""
    return f"<pre>{escape(text)}</pre>"


class Frame:
    """A page in a frame that runs its own scripts and reaches nothing outside."""

    def __init__(self, page: str, height: int) -> None:
        self.page = page
        self.height = height

    def _repr_html_(self) -> str:
        return (
            f"<iframe sandbox='allow-scripts' srcdoc='{escape(self.page, quote=True)}' "
            f"style='width:100%;height:{int(self.height)}px;border:0'></iframe>"
        )
