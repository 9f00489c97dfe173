#!/bin/sh
# Makes what icecc sends to its servers: a toolchain that came in an archive, as the root of a file system.
#
#   environment.sh TOOLCHAIN DIRECTORY
#
# TOOLCHAIN is the directory of an imported toolchain: `gpsimd-build toolchain show` prints it. Writes
# DIRECTORY/NAME.tar.gz, which is named like the toolchain because servers tell environments apart by their names, and
# prints its path, for ICECC_VERSION. A toolchain built from packages cannot be sent: icecc compiles here what is compiled
# with -B. Needs a POSIX shell, GNU tar and ldd.
set -eu

toolchain=$1
mkdir -p "$2"
directory=$(cd "$2" && pwd)
archive=$directory/$(basename "$toolchain").tar.gz
target=xtensa-lx106-elf
root=$(mktemp -d "$directory/.environment.XXXXXX")
trap 'rm -rf "$root"' EXIT

# the launchers look for the loader in the directories above them, and for the core's configuration beside these
mkdir -p "$root/usr" "$root/tmp" "$root/bin"
cp -a "$toolchain/programs/." "$root/usr/"
cp -a "$toolchain/lib" "$root/"
# a server calls compilers and assembler by their plain names
for program in gcc g++ as; do
    cp -a "$root/usr/bin/$target-$program" "$root/usr/bin/$program"
    cp -a "$root/usr/host/real/bin/$target-$program" "$root/usr/host/real/bin/$program"
done
# a server tries whether it can start anything by this one
cp -L /bin/true "$root/bin/"
ldd /bin/true | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done

tar -C "$root" -czf "$archive.new" bin lib lib64 tmp usr
mv "$archive.new" "$archive"
echo "$archive"
