//! From a request to outputs: a pure plan and the run of it. Knows no terminal.
