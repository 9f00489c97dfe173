//! The command line: arguments in, reports out.

fn main() {}
