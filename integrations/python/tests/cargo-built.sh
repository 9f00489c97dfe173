#!/bin/sh
# Plays cargo for maturin when the tool is built already: compiling again would replace the program that other tests are
# running. GPSIMD_BUILT is the program, GPSIMD_MANIFEST the manifest of its crate.
if [ "$1" != rustc ]; then
    exec cargo "$@"
fi
id=$(cargo pkgid --manifest-path "$GPSIMD_MANIFEST")
cat <<END
{"reason":"compiler-artifact","package_id":"$id","manifest_path":"$GPSIMD_MANIFEST","target":{"kind":["bin"],"crate_types":["bin"],"name":"gpsimd-build","src_path":"${GPSIMD_MANIFEST%Cargo.toml}src/main.rs","edition":"2024","doc":true,"doctest":false,"test":true},"profile":{"opt_level":"0","debuginfo":2,"debug_assertions":true,"overflow_checks":true,"test":false},"features":[],"filenames":["$GPSIMD_BUILT"],"executable":"$GPSIMD_BUILT","fresh":true}
{"reason":"build-finished","success":true}
END
