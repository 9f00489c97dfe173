// Entry, system calls and stack of the test programs; Linux numbers as qemu-xtensa serves them.
  .bss
  .align 16
  .skip 0x800000
stack_top:
  .text
  .literal_position
  .align 4
  .global _start
_start:
  movi a0, 0
  movi a1, stack_top - 256
  // The outermost frame's save area: its a4..a11 may be spilled below the address it names.
  addi a4, a1, 128
  addi a5, a1, -16
  s32i a4, a5, 4
  movi a4, begin
  callx8 a4
  ill

  .literal_position
  .align 4
  .global _write
_write:
  entry a1, 32
  mov a6, a2
  movi a2, 13
  syscall
  retw

  .literal_position
  .align 4
  .global _exit
_exit:
  entry a1, 32
  mov a6, a2
  movi a2, 118
  syscall
  ill

  .literal_position
  .align 4
  .global _sbrk
_sbrk:
  entry a1, 32
  movi a3, break_now
  l32i a4, a3, 0
  add a5, a4, a2
  s32i a5, a3, 0
  mov a2, a4
  retw
  .data
  .align 4
break_now:
  .long heap
  // A program may bring a larger one.
  .weak heap
  .bss
  .align 16
heap:
  .skip 0x40000
