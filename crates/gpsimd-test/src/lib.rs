#![doc = include_str!("../README.md")]
//!
//! # Its parts
//!
//! A [`Pattern`] is what an op takes, extents left open; a [`Case`] fills them in and says which ways the call goes: eight
//! cores or one, plain or checked images, at fixed addresses or by record. [`Tester`] holds the loaded libraries and judges.

mod case;
mod compare;
mod discover;
mod judge;
mod junit;
mod made;
mod plan;
mod report;
mod rules;
mod run;
mod shrink;
mod ways;

pub use case::{Case, Dim, Group, Pattern, Slot};
pub use compare::{Tolerance, Worst, worst};
pub use judge::{Reference, Tester};
pub use junit::junit;
pub use made::{Kind, Made};
pub use plan::Shard;
pub use report::{Failure, GroupReport, OpReport};
pub use rules::{RULES, Rule, RuleEntry};
pub use run::Wish;
pub use ways::{Way, WayKind};
