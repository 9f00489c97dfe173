#!/bin/sh
# Plays cargo for backend.py and maturin when tool and extension are built already: compiling again would take long, and would
# replace what other tests are using. GPSIMD_TOOL is the tool, GPSIMD_BUILT the extension, GPSIMD_MANIFEST the manifest of its
# crate.
if [ "$1" = build ]; then
    echo "{\"executable\":\"$GPSIMD_TOOL\"}"
    exit
fi
if [ "$1" != rustc ]; then
    exec cargo "$@"
fi
id=$(cargo pkgid --manifest-path "$GPSIMD_MANIFEST")
cat <<END
{"reason":"compiler-artifact","package_id":"$id","manifest_path":"$GPSIMD_MANIFEST","target":{"kind":["cdylib","rlib"],"crate_types":["cdylib","rlib"],"name":"_native","src_path":"${GPSIMD_MANIFEST%Cargo.toml}src/lib.rs","edition":"2024","doc":true,"doctest":false,"test":false},"profile":{"opt_level":"0","debuginfo":2,"debug_assertions":true,"overflow_checks":true,"test":false},"features":[],"filenames":["$GPSIMD_BUILT","${GPSIMD_BUILT%.so}.rlib"],"executable":null,"fresh":true}
{"reason":"build-finished","success":true}
END
