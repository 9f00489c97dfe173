//! What a compiler is here: discovery, argument vectors, the open toolchain's install. Runs nothing of the build.
