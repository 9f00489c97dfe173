#!/bin/sh
# Tests, builds and verifies custom ops, and writes down what they were made from: the step that any build server runs.
#
#   publish.sh DIRECTORY SOURCE[:SHAPE_SOURCE]...
#
# DIRECTORY gets the images with their manifests, a JUnit report for each library, SHA256SUMS over what ships, and
# provenance.json, an in-toto statement that names the toolchain. Needs gpsimd-build in PATH with a toolchain installed, and
# a POSIX shell. GPSIMD_TEST_OPTIONS is passed to `gpsimd-build test`; SOURCE_REVISION says which revision this is.
set -eu

directory=$1
shift
mkdir -p "$directory"
work=$directory.work

sources=
for op in "$@"; do
    source=${op%%:*}
    name=${source##*/}
    name=${name%.*}
    set --
    case $op in *:*) set -- --shape-src "${op#*:}" ;; esac
    # GPSIMD_TEST_OPTIONS holds words, not one
    # shellcheck disable=SC2086
    gpsimd-build test "$source" "$@" --out-dir "$work" --junit "$directory/$name.junit.xml" ${GPSIMD_TEST_OPTIONS:-}
    gpsimd-build compile "$source" "$@" --multicore --out-dir "$work" --name "$name"
    gpsimd-build verify "$work/$name"
    # what ships, and not what is kept for the next build
    for file in "$work/$name"_cpu*.stripped.so "$work/$name.manifest.json"; do
        cp -L "$file" "$directory/"
    done
    sources="$sources${sources:+, }\"$source\""
done

gpsimd-build toolchain show --json > "$directory/toolchain.json"
(cd "$directory" && sha256sum -- *.stripped.so *.manifest.json > SHA256SUMS)

# the one line of the answer that is the toolchain's identity: equal identities make equal images
identity=$(sed -n 's/^ *"identity": "\(.*\)",\{0,1\}$/\1/p' "$directory/toolchain.json" | head -n 1)
tool=$(gpsimd-build --version)
subjects=$(sed 's/^\([0-9a-f]*\)  \(.*\)$/{ "name": "\2", "digest": { "sha256": "\1" } }/; $!s/$/,/' "$directory/SHA256SUMS")
cat > "$directory/provenance.json" <<END
{
  "_type": "https://in-toto.io/Statement/v1",
  "subject": [
$subjects
  ],
  "predicateType": "https://slsa.dev/provenance/v1",
  "predicate": {
    "buildDefinition": {
      "buildType": "gpsimd-build compile --multicore",
      "externalParameters": { "sources": [$sources], "revision": "${SOURCE_REVISION:-unknown}" },
      "resolvedDependencies": [
        { "name": "toolchain", "annotations": { "identity": "$identity" } },
        { "name": "gpsimd-build", "annotations": { "version": "$tool" } }
      ]
    },
    "runDetails": { "builder": { "id": "${BUILDER_ID:-local}" } }
  }
}
END
echo "published in $directory: $(grep -c . "$directory/SHA256SUMS") files"
