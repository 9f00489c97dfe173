/* SPDX-License-Identifier: Apache-2.0 */
	.text
	.align	4
	.global	xthal_get_ccount
	.type	xthal_get_ccount,@function
xthal_get_ccount:
	entry	a1, 16
	rsr.ccount a2
	retw
	.align	4
	.global	xthal_get_prid
	.type	xthal_get_prid,@function
xthal_get_prid:
	entry	a1, 16
	rsr.prid a2
	retw
