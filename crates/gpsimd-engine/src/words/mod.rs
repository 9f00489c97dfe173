//! What the other rooms talk about: requests, actions, images, the device SDK, errors; and the ground they stand on.
//!
//! Unaware of all other rooms.

pub(crate) mod action;
pub(crate) mod digest;
pub(crate) mod disk;
pub(crate) mod error;
pub(crate) mod failed;
pub(crate) mod images;
pub(crate) mod kit;
pub(crate) mod lock;
pub(crate) mod request;
pub(crate) mod sdk;
