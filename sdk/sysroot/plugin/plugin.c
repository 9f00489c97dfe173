/* SPDX-License-Identifier: Apache-2.0
   Exports the core's options, in the form that binutils (and newer
   compilers) ask for; the instruction table is linked beside it. */
#include "q7-config.h"
#define XTENSA_CONFIG_DEFINITION
#include "xtensa-dynconfig.h"
XTENSA_CONFIG_INSTANCE_LIST;
/* For compilers that read the same plugin (GCC 13 and later; binutils 2.40
   ignores these).  Everything in these structures is an int. */
int plugin_is_GPL_compatible;
#ifndef XTENSA_CONFIG_V3_ENTRY_LIST
const int xtensa_config_v3[4] = { 0, 0, 0, 0 };          /* clamps depbits exclusive xea3 */
const int xtensa_config_v4[5] = { 16, 1, 1, 0, 0 };      /* data width, unaligned access */
#endif
#undef XTENSA_CONFIG_ENTRY
#define S_(x) #x
#define S(x) S_(x)
#define XTENSA_CONFIG_ENTRY(a) "__" #a "=" S(a)
const char *const xtensa_config_strings[] = { XTENSA_CONFIG_ENTRY_LIST, 0 };
