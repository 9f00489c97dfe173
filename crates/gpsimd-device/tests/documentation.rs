//! `docs/device-model.md` lists every check and every cost as the code has them.

#![allow(clippy::unwrap_used)]

use gpsimd_device::{CHECKS, Severity};

fn page() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/device-model.md");
    std::fs::read_to_string(path).unwrap()
}

fn row(entry: &gpsimd_device::Check) -> String {
    let severity = match entry.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    format!("| `{}` | {severity} | {} | {} | {} |", entry.name, entry.title, entry.cause, entry.remedy)
}

#[test]
fn every_check_has_its_row() {
    let page = page();
    let missing: Vec<String> =
        CHECKS.iter().map(row).filter(|row| !page.lines().any(|line| line == row)).collect();
    assert!(missing.is_empty(), "docs/device-model.md lacks these rows:\n{}", missing.join("\n"));
    let rows = page.lines().filter(|line| line.starts_with("| `run::")).count();
    assert_eq!(rows, CHECKS.len(), "docs/device-model.md has rows for checks that do not exist");
}

#[test]
fn every_cost_is_stated() {
    let page = page();
    let costs = gpsimd_device::Costs::default();
    let rows = [
        format!("| load through a window | + {} |", costs.window_load),
        format!("| store through a window | + {} |", costs.window_store),
        format!("| moving a window | + {} |", costs.window_move),
        format!("| DMA transfer | + {}, and 1 per {} bytes |", costs.dma_start, costs.dma_bytes_per_cycle),
    ];
    for row in rows {
        assert!(page.contains(&row), "docs/device-model.md lacks: {row}");
    }
}
