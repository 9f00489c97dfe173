/* SPDX-License-Identifier: Apache-2.0
   Last object of an image.  Ends the constructor and destructor lists and,
   from _init, runs the constructors last to first, down to the -1 that
   crtbegin.S put there. */
	.section .ctors,"aw"
	.align	4
	.global	__CTOR_END__
__CTOR_END__:
	.word	0
	.section .dtors,"aw"
	.align	4
	.global	__DTOR_END__
__DTOR_END__:
	.word	0
	.text
	.align	4
__do_global_ctors_aux:
	entry	a1, 32
	movi	a2, __CTOR_END__ - 4
1:	l32i	a8, a2, 0
	addi	a2, a2, -4
	addi	a3, a8, 1
	beqz	a3, 2f
	callx8	a8
	j	1b
2:	retw
	.section .init,"ax"
	movi	a8, __do_global_ctors_aux
	callx8	a8
