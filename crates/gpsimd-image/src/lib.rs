//! Device ELF images: read, check, strip, pack, unpack. Bytes in, bytes out.
