//! The device's parts, each by itself: addresses, register block, firmware page, DMA queues.
//!
//! Unaware of memory contents, of programs and of calls; everything else imports this.

pub mod firmware;
pub mod map;
pub mod registers;
pub mod sdma;
