#!/bin/bash
# What including the SDK costs: CPU time of compiling a file that only includes a header, over that of an empty file, with the
# command that `gpsimd-build compile` runs. Rounds of both take turns, so that a busy machine slows them alike.
#
#   benches/sdk_headers.sh [path of gpsimd-build] [compiles of each]
set -euo pipefail
tool=${1:-gpsimd-build} total=${2:-200} round=20
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

printf '#include <torch/torch.h>\ntorch::Tensor f(const torch::Tensor& x) { return x; }\n' > f.cpp
"$tool" compile f.cpp --schema 'n::f(Tensor x) -> (Tensor y)' > built.txt
compile=$("$tool" compile f.cpp --schema 'n::f(Tensor x) -> (Tensor y)' --dry-run | grep -- '-x c++ .*f\.cpp$' | head -1 |
  sed "s| -MF [^ ]*| -MF $scratch/f.d|; s| -o [^ ]*| -o $scratch/f.o|; s|[^ ]*f\.cpp$|$scratch/timed.cpp|")

# Milliseconds of user and system time of one round.
TIMEFORMAT='%U %S'
timed() {
  { time for ((i = 0; i < round; i++)); do eval "$compile"; done; } 2>&1 | awk '{ print ($1 + $2) * 1000 }'
}

headers=(empty torch/torch.h custom_op.h)
declare -A spent
for ((done = 0; done < total; done += round)); do
  for header in "${headers[@]}"; do
    [[ $header == empty ]] && : > timed.cpp || echo "#include <$header>" > timed.cpp
    spent[$header]=$(echo "${spent[$header]:-0} $(timed)" | awk '{ print $1 + $2 }')
  done
done
for header in "${headers[@]}"; do
  echo "$header ${spent[$header]} ${spent[empty]} $done" |
    awk '{ printf "%-15s %6.1f ms of CPU time a compile, %.2f times an empty file\n", $1, $2 / $4, $2 / $3 }'
done
