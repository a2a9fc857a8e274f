"""check_loops.py LIBRARY: what is compiled for other processors than the program is (src/tesela/kernels/loops) brings nothing along that the
linker could take for the same function of another level: of each such object one symbol, its table, is seen outside."""

import subprocess
import sys

library = sys.argv[1]
listing = subprocess.run(["nm", "--defined-only", "--demangle", library], capture_output=True, text=True, check=True).stdout
seen, member = {}, ""
for line in listing.splitlines():
    if line.endswith(":"):
        member = line[:-1]
    elif member == "loops.cpp.o" and line:
        kind, name = line.split(maxsplit=2)[1:]
        if not kind.islower() or kind in "uvw":
            seen[name] = kind
wrong = [f"{name} ({kind})" for name, kind in seen.items() if not (name.startswith("tesela::loops::") and name.endswith("::functions"))]
if wrong or not seen:
    sys.exit("symbols of loops.cpp that other objects see: " + (", ".join(wrong) or "none, so this test looks at nothing"))
