//! Eight simulated cores around xtensa-iss: memory map, windows, SDMA, loading, dispatch, checks.
