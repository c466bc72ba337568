"""Runs all benchmarks, or those named: `python -m benchmarks [--json] [NAME ...]`."""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path

from benchmarks import Row


def main() -> int:
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    names = [module.name for module in modules if not module.name.startswith("_")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure; one table.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(names)} (default: all)")
    parser.add_argument("--json", action="store_true", help="print a JSON list of {name, value, unit, reach, ok}")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in names]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(names)}")
    rows: list[Row] = []
    for name in options.names or names:
        module = importlib.import_module(f"benchmarks.{name}")
        if not hasattr(module, "rows"):
            continue
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        measured = module.rows()
        rows += measured
        if not options.json:
            print_rows(measured)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        missed = [row["name"] for row in rows if row["ok"] is False]
        print(f"{len(rows)} numbers; not reached: {', '.join(missed) or 'none'}")
    return 0


def print_rows(rows: list[Row]) -> None:
    for row in rows:
        verdict = {True: "ok", False: "NOT REACHED", None: ""}[row["ok"]]
        measured = f"{row['name']:62}{row['value']:12.3g} {row['unit']:12}{row['reach'] or '':10}"
        print(f"{measured}{verdict:13}{row.get('note', '')}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
