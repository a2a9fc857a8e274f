#!/usr/bin/env python3
"""Validates platform files against platforms/schema.json:  platform_schema.py SCHEMA FILE…

Fails where the Python package jsonschema is not installed.
"""
import json
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed: ./dev setup installs what tests need")
    sys.exit(1)

# Changes to a valid file that the schema must notice.
WRONG = {
    "zero bandwidth": lambda d: d["node_types"][0]["nic"].update(bandwidth=0),
    "unknown unit": lambda d: d["node_types"][0]["nic"].update(bandwidth="10 Gbps"),
    "no count": lambda d: d["node_types"][0].pop("count"),
    "unknown field": lambda d: d["node_types"][0].update(colour="red"),
    "unknown source": lambda d: d["node_types"][0]["workers"][0]["kernels"][0].update(source="guessed"),
    "two durations": lambda d: d["node_types"][0]["workers"][0]["kernels"][0].update(bytes=1, flops=1),
    "not unavailable": lambda d: d["node_types"][0]["workers"][0]["kernels"].append(
        {"kernel": "dnothing", "unavailable": False}
    ),
    "unknown topology": lambda d: d["topology"].update(kind="torus"),
}


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            platform = json.load(file)
        for error in validator.iter_errors(platform):
            print(f"{path}: {error.json_path}: {error.message}")
            failures += 1
        for name, change in WRONG.items():
            changed = json.loads(json.dumps(platform))
            change(changed)
            if validator.is_valid(changed):
                print(f"{path}: accepted although: {name}")
                failures += 1
    print(f"{len(sys.argv) - 2} files, {failures} failures")
    return 1 if failures or len(sys.argv) < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
