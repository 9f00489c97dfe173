/* SPDX-License-Identifier: Apache-2.0
   Special registers as functions: unsigned xthal_get_ccount(void), the cycle
   counter, and unsigned xthal_get_prid(void), the number of the core. */
	.text
	.align	4
	.global	xthal_get_ccount
	.type	xthal_get_ccount,@function
xthal_get_ccount:
	entry	a1, 16
	rsr.ccount a2
	retw
	.size	xthal_get_ccount, .-xthal_get_ccount
	.align	4
	.global	xthal_get_prid
	.type	xthal_get_prid,@function
xthal_get_prid:
	entry	a1, 16
	rsr.prid a2
	retw
	.size	xthal_get_prid, .-xthal_get_prid
