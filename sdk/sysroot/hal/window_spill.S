/* SPDX-License-Identifier: Apache-2.0
   void xthal_window_spill(void), void xthal_window_spill_nw(void). */

/* Spill all register windows but the current one, by a chain of calls deep
   enough to wrap a 64-register file (harmless on smaller ones).  Needs
   windowed code (PS.WOE set) and uses no privileged instruction. */
	.text
	.align	4
	.global	xthal_window_spill
	.type	xthal_window_spill,@function
xthal_window_spill:
	entry	a1, 48
	call12	1f
	retw
	.align	4
1:	.rept	3
	_entry	a1, 48
	mov	a12, a0
	.endr
	_entry	a1, 16
	mov	a8, a8			/* 64 % 12 == 4: touches the last group */
	retw
	.size	xthal_window_spill, .-xthal_window_spill

/* Called with call0 from windowed code (PS.WOE set); on return a2 = 0, a0, a1
   and a3-a7 are kept, a8-a15 are clobbered, every window including the
   caller's own a0-a7 is in memory.  The caller's frame needs the usual
   16-byte extra save area (entry a1, 32 or more). */
	.align	4
	.global	xthal_window_spill_nw
	.type	xthal_window_spill_nw,@function
xthal_window_spill_nw:
	mov	a2, a0
	call8	xthal_window_spill
	mov	a0, a2
	movi	a2, 0
	ret
	.size	xthal_window_spill_nw, .-xthal_window_spill_nw
