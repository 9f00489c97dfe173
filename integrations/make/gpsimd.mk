# GPSIMD custom-op libraries in a Makefile. Needs GNU make.
#
#   vector_add_SOURCES := vector_add.cpp
#   vector_add_OPS     := --schema 'my::vector_add(Tensor a, Tensor b) -> Tensor'
#   vector_add_FLAGS   := --multicore
#   vector_add_CFLAGS  := -DSTACK_SIZE=20000
#   include gpsimd.mk
#   $(eval $(call gpsimd_custom_op,vector_add))
#
# gives the target `vector_add`, which makes $(GPSIMD_OUT)/vector_add*.so and is rebuilt when a source, a header it
# includes or the tool changes. OPS, FLAGS and CFLAGS are shell text. `gpsimd` makes every library, `gpsimd-clean`
# removes $(GPSIMD_OUT).

GPSIMD_BUILD ?= gpsimd-build
GPSIMD_OUT ?= build

# Where the tool is now; empty if it is nowhere, and then the recipe says so.
gpsimd_program := $(shell command -v $(GPSIMD_BUILD) 2>/dev/null)

.PHONY: gpsimd gpsimd-clean

gpsimd-clean:
	rm -rf $(GPSIMD_OUT)

# Outputs are left alone when a rebuild changes nothing in them; the stamp says when that was found out.
define gpsimd_custom_op
.PHONY: $(1)
gpsimd: $(1)
$(1): $(GPSIMD_OUT)/$(1).stamp

$(GPSIMD_OUT)/$(1).stamp: $($(1)_SOURCES) $(gpsimd_program)
	@mkdir -p $(GPSIMD_OUT)
	$(GPSIMD_BUILD) compile --name $(1) --out-dir $(GPSIMD_OUT) \
	    --depfile $(GPSIMD_OUT)/$(1).stamp.d --depfile-target $(GPSIMD_OUT)/$(1).stamp \
	    $($(1)_OPS) $($(1)_FLAGS) $($(1)_SOURCES) $(if $($(1)_CFLAGS),-- $($(1)_CFLAGS))
	@touch $$@

-include $(GPSIMD_OUT)/$(1).stamp.d
endef
