/* SPDX-License-Identifier: Apache-2.0
   First object of an image.  Marks the beginning of the constructor and
   destructor lists (-1, the end is 0) and, from _fini, runs the destructors
   first to last.  Linked before all others, so its list words come first. */
	.section .ctors,"aw"
	.align	4
	.global	__CTOR_LIST__
__CTOR_LIST__:
	.word	-1
	.section .dtors,"aw"
	.align	4
	.global	__DTOR_LIST__
__DTOR_LIST__:
	.word	-1
	.text
	.align	4
__do_global_dtors_aux:
	entry	a1, 32
	movi	a2, __DTOR_LIST__ + 4
1:	l32i	a8, a2, 0
	addi	a2, a2, 4
	beqz	a8, 2f
	callx8	a8
	j	1b
2:	retw
	.section .fini,"ax"
	movi	a8, __do_global_dtors_aux
	callx8	a8
