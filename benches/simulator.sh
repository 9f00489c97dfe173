#!/bin/sh
# Speed of the simulator: one core beside qemu-xtensa, `relu` over 1 Mi elements, eight cores on one and on all processors.
#   benches/simulator.sh path/of/gpsimd-build
set -eu
tool=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$here/.." && cargo run --quiet --release --package xtensa-iss --example speed)
cd "$scratch"
"$tool" compile "$here/../examples/gallery/one_core/relu_elements.cpp" --name relu --op 'relu_rows=my::relu(Tensor x) -> Tensor' >relu.log
"$tool" compile "$here/busy.cpp" --multicore --schema 'my::busy(Tensor t) -> Tensor' >busy.log
for round in 1 2 3; do
    /usr/bin/time -f 'relu 1 Mi elements: %e s' "$tool" run build/relu rand:1024x1024 --like 0 --json >relu.json
    /usr/bin/time -f 'eight cores, all processors: %e s' "$tool" run build/busy rand:16 --like 0 --json >busy.json
    /usr/bin/time -f 'eight cores, one processor: %e s' taskset -c 0 "$tool" run build/busy rand:16 --like 0 --json >busy.json
done
grep -h '"instructions"' relu.json busy.json | tr -d ' ' | sort | uniq -c
