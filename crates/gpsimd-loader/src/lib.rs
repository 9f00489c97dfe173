//! The host half of loading: prelink to UCPL, library handles, load and unload records.
