//! `cargo run -p gpsimd-fuzz --release -- [COUNT] [TARGET…]`: a storm of mutations over the named targets, or all.

use gpsimd_fuzz::TARGETS;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let names: Vec<String> = arguments.collect();
    for target in
        TARGETS.iter().filter(|target| names.is_empty() || names.iter().any(|name| name == target.name))
    {
        let seeds = target.seeds()?;
        target.storm(&seeds, 1, count);
        println!("{}: {} seeds, {count} mutations, no panic", target.name, seeds.len());
    }
    Ok(())
}
