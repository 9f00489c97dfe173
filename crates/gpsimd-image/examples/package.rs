//! How long strip, pack and verify of images take in memory: `package ROUNDS IMAGE...` prints two medians in
//! nanoseconds, of strip and pack of all images, and of verifying all files.

use std::hint::black_box;
use std::time::Instant;

use gpsimd_image::verify::{FileEntry, verify};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().ok_or("package ROUNDS IMAGE...")?.parse()?;
    let names: Vec<String> = arguments.collect();
    let images = names.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    let (mut pack_times, mut verify_times) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let begin = Instant::now();
        let mut made = Vec::new();
        for image in &images {
            let stripped = gpsimd_image::strip(black_box(image))?;
            let packed = gpsimd_image::pack(&stripped)?;
            made.push((stripped, packed));
        }
        pack_times.push(begin.elapsed().as_nanos());
        let begin = Instant::now();
        let mut entries = Vec::new();
        for ((name, image), (stripped, packed)) in names.iter().zip(&images).zip(&made) {
            let stem = name.trim_end_matches(".so").rsplit('/').next().unwrap_or_default();
            entries.push(FileEntry::new(format!("{stem}.so"), image));
            entries.push(FileEntry::new(format!("{stem}.stripped.so"), stripped));
            entries.push(FileEntry::new(format!("{stem}.packed.so"), packed));
        }
        let report = verify(black_box(&entries));
        verify_times.push(begin.elapsed().as_nanos());
        if !report.is_clean() {
            return Err("the images do not pass the checks".into());
        }
    }
    println!("{} {}", median(pack_times), median(verify_times));
    Ok(())
}

fn median(mut times: Vec<u128>) -> u128 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
