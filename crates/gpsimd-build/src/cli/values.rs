//! Values with a closed set of names, which other crates own.
//!
//! Unaware of the arguments that take them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use gpsimd_loader::Generation;
use gpsimd_lsp::Variant;

/// One of the nine link layouts.
pub fn variant() -> impl TypedValueParser<Value = Variant> {
    PossibleValuesParser::new(Variant::all().map(|variant| variant.to_string()))
        .try_map(|name| Variant::all().find(|variant| variant.to_string() == name).ok_or("no such variant"))
}

/// A generation of the device: those of the runtime that ships, wherever one is named.
pub fn generation() -> impl TypedValueParser<Value = Generation> {
    let offered = Generation::OFFERED.map(|generation| PossibleValue::new(generation.name()));
    PossibleValuesParser::new(offered).try_map(|name| name.parse::<Generation>())
}
