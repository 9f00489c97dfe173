// SPDX-License-Identifier: Apache-2.0
//
// Helpers for kernels, header-only, C++14, on the documented API alone (dispatch.hpp asks for more and is not among them). docs/kernels.md shows how to
// use them; `gpsimd-build kit` prints them as one file for other toolchains.
#pragma once

#include <gpsimd/fast.hpp>
#include <gpsimd/map.hpp>
#include <gpsimd/pack.hpp>
#include <gpsimd/planes.hpp>
#include <gpsimd/reduce.hpp>
#include <gpsimd/rows.hpp>
#include <gpsimd/share.hpp>
#include <gpsimd/tcm.hpp>
