// Entry of qemu's tests, which end by themselves.
    .text
    .literal_position
    .align 4
    .global _start
_start:
    movi a1, stack_top
    j main
    .bss
    .align 16
    .skip 0x1000
stack_top:
