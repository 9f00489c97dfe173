//! Says of each schema what a device would get, or every reason why it cannot.
//!
//! `cargo run --example check -- 'my::scale(Tensor a, float s) -> Tensor' 'my::sort(Tensor x, bool down) -> Tensor'`

use std::process::ExitCode;

use miette::Diagnostic as _;

fn main() -> ExitCode {
    let mut status = ExitCode::SUCCESS;
    for text in std::env::args().skip(1) {
        match gpsimd_schema::signature(&text) {
            Ok(signature) => println!("{signature}"),
            Err(refusal) => {
                println!("{refusal}");
                for cause in &refusal.causes {
                    println!("  {cause}");
                    if let Some(help) = cause.help() {
                        println!("    {help}");
                    }
                }
                status = ExitCode::FAILURE;
            }
        }
    }
    status
}
