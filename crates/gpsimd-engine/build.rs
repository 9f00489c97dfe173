//! Rebuilds the crate when the embedded SDK changes, new files included.

fn main() {
    for part in ["include", "src", "host", "native"] {
        println!("cargo:rerun-if-changed=sdk/{part}");
    }
}
