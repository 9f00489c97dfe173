//! Entry points for fuzzers: outside bytes in, no panic, and what is promised holds.

use gpsimd_lsp::CpuId;

use crate::verify::{FileEntry, verify};
use crate::{Rebase, pack, strip, summary, unpack};

/// Strips; what comes out strips to itself and survives packing.
pub fn fuzz_strip(data: &[u8]) {
    if let Ok(stripped) = strip(data) {
        assert_eq!(strip(&stripped).as_ref(), Ok(&stripped));
        if let Ok(packed) = pack(&stripped) {
            assert_eq!(unpack(&packed), Ok(&stripped[..]));
        }
    }
}

/// Unpacks.
pub fn fuzz_unpack(data: &[u8]) {
    let _ = unpack(data);
}

/// Verifies the bytes in every role, alone and beside themselves.
pub fn fuzz_verify(data: &[u8]) {
    let names = ["k_cpu0.so", "k_cpu0.stripped.so", "k_cpu0.packed.so", "k_cpu1.stripped.so", "k.so", "k.o"];
    verify(&names.map(|name| FileEntry::new(name, data)));
    if let Ok(summary) = summary(data, gpsimd_lsp::Variant::Single) {
        crate::map_svg(&summary, "fuzz");
    }
}

/// Rebases to the last core.
pub fn fuzz_rebase(data: &[u8]) {
    if let (Ok(rebase), Some(last)) = (Rebase::of(data), CpuId::all().next_back()) {
        assert_eq!(rebase.image_for(last).len(), data.len());
    }
}

/// Reads signatures; every text stays short.
pub fn fuzz_signatures(data: &[u8]) {
    for function in crate::signatures(data).unwrap_or_default() {
        let texts = function.params.iter().map(|param| &param.ty).chain([&function.result]);
        assert!(texts.into_iter().all(|ty| ty.written.len() < 1 << 16), "{function}");
    }
}
