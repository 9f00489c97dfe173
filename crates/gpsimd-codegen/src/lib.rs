//! Signatures to wrapper.cpp. Knows no files, no compiler.
