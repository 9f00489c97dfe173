/* SPDX-License-Identifier: Apache-2.0
   int setjmp(jmp_buf), void longjmp(jmp_buf, int) for the windowed ABI.  A
   frame's registers live in save areas on the stack once all windows are
   spilled; setjmp copies those of its caller, longjmp puts them back and
   returns into them as setjmp would. */

/* jmp_buf: 0-3 caller's a0-a3, 4 our return address, 5 our stack pointer,
   6-13 caller's a4-a7 or a4-a11 (by the size of the call to setjmp). */
	.section .text.setjmp,"ax"
	.align	4
	.global	setjmp
	.type	setjmp,@function
setjmp:	entry	a1, 32
	movi	a8, xthal_window_spill
	callx8	a8
	addi	a7, a1, -16		/* caller's a0-a3 */
	l32i	a3, a7, 0
	l32i	a4, a7, 4
	l32i	a5, a7, 8
	l32i	a6, a7, 12
	s32i	a3, a2, 0
	s32i	a4, a2, 4
	s32i	a5, a2, 8
	s32i	a6, a2, 12
	s32i	a0, a2, 16
	s32i	a1, a2, 20
	extui	a5, a0, 30, 2
	addi	a5, a5, -1		/* groups of four extra registers */
	addi	a4, a4, -16
	l32i	a4, a4, 4		/* sp of the caller's caller */
	slli	a6, a5, 4
	addi	a4, a4, -16
	sub	a4, a4, a6
	addi	a7, a2, 24
	j	2f
1:	l32i	a3, a4, 0
	l32i	a6, a4, 4
	s32i	a3, a7, 0
	s32i	a6, a7, 4
	l32i	a3, a4, 8
	l32i	a6, a4, 12
	s32i	a3, a7, 8
	s32i	a6, a7, 12
	addi	a4, a4, 16
	addi	a7, a7, 16
	addi	a5, a5, -1
2:	bnez	a5, 1b
	movi	a2, 0
	retw
	.size	setjmp, .-setjmp

	.section .text.longjmp,"ax"
	.align	4
	.global	longjmp
	.type	longjmp,@function
longjmp:
	entry	a1, 32
	movi	a8, xthal_window_spill
	callx8	a8
	/* only this window is live now: put the saved frame back */
	l32i	a0, a2, 16
	l32i	a1, a2, 20
	addi	a7, a1, -16
	l32i	a8, a2, 0
	l32i	a4, a2, 4
	l32i	a5, a2, 8
	l32i	a6, a2, 12
	s32i	a8, a7, 0
	s32i	a4, a7, 4
	s32i	a5, a7, 8
	s32i	a6, a7, 12
	extui	a5, a0, 30, 2
	addi	a5, a5, -1
	addi	a4, a4, -16
	l32i	a4, a4, 4
	slli	a6, a5, 4
	addi	a4, a4, -16
	sub	a4, a4, a6
	addi	a7, a2, 24
	j	2f
1:	l32i	a8, a7, 0
	l32i	a6, a7, 4
	s32i	a8, a4, 0
	s32i	a6, a4, 4
	l32i	a8, a7, 8
	l32i	a6, a7, 12
	s32i	a8, a4, 8
	s32i	a6, a4, 12
	addi	a4, a4, 16
	addi	a7, a7, 16
	addi	a5, a5, -1
2:	bnez	a5, 1b
	movi	a2, 1
	movnez	a2, a3, a3
	retw
	.size	longjmp, .-longjmp
