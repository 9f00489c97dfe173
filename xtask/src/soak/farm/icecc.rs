//! `icecc` with two hosts: name spaces with a network between them that nothing else is on, because its daemons broadcast.
//!
//! A host without the toolchain compiles in what it is sent. icecc's package is unpacked, not installed, because installing it
//! starts a daemon. Unaware of what is compiled.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{compare, plan};
use crate::chores::root;
use crate::soak::chroot::base;
use crate::soak::yard::{Yard, good};

const RELEASE: &str = "bookworm";
/// What is started, and where the package has it.
const PROGRAMS: [(&str, &str); 3] = [
    ("icecc", "usr/bin/icecc"),
    ("iceccd", "usr/sbin/iceccd"),
    ("icecc-scheduler", "usr/sbin/icecc-scheduler"),
];
/// Seconds until both daemons have found the scheduler.
const PATIENCE: &str = "12";

/// Two hosts, `one` that has ninja and `two`, and what is built on the first: `$1` a directory of programs, `$2` of logs, `$3`
/// the environment to send, `$4` ninja's file. All of it ends with the first process of these name spaces.
const HOSTS: &str = r#"
programs=$1 logs=$2 environment=$3 plan=$4
mkdir -p /run/icecc
mount -t tmpfs tmpfs /run/icecc
unshare --net --mount sh -c 'mount -t tmpfs tmpfs /run/icecc; echo $$ > "$1/two.pid"; exec sleep infinity' two "$logs" &
until [ -s "$logs/two.pid" ]; do sleep 0.1; done
two=$(cat "$logs/two.pid")
ip link set lo up
ip link add name here type veth peer name there
ip link set there netns "$two"
ip address add 10.77.0.1/24 dev here
ip link set here up
nsenter --target "$two" --net sh -c \
    'ip link set lo up; ip address add 10.77.0.2/24 dev there; ip link set there up'
"$programs/icecc-scheduler" -n farm -l "$logs/scheduler" -vv &
sleep 1
"$programs/iceccd" -s 10.77.0.1 -n farm -N one -m 1 -b "$logs/one.cache" -l "$logs/one" -vv &
nsenter --target "$two" --net --mount \
    "$programs/iceccd" -s 10.77.0.1 -n farm -N two -m 2 -b "$logs/two.cache" -l "$logs/two" -vv &
sleep "$5"
exec env -i PATH=/usr/bin:/bin ICECC_VERSION="$environment" ICECC_PREFERRED_HOST=two ninja -j 4 -f "$plan"
"#;

/// The first library: what the other host compiles is what is compiled here.
pub fn storm(yard: &Yard) -> Result<String> {
    let programs = yard.path("icecc-programs");
    unpack(&programs)?;
    // the daemons become users without rights
    let scratch = tempfile::tempdir()?;
    let logs = scratch.path();
    fs::set_permissions(logs, fs::Permissions::from_mode(0o777))?;
    let launcher = programs.join("icecc").to_string_lossy().into_owned();
    plan(yard, 1, "icecc", &["--launcher", &launcher])?;

    let script = root().join("integrations/icecc/environment.sh");
    let toolchains = yard.home().join("toolchains");
    let imported = fs::read_dir(&toolchains)?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.join("programs").is_dir())
        .with_context(|| format!("no imported toolchain in {}", toolchains.display()))?;
    let made = good(Command::new("sh").arg(script).arg(imported).arg(yard.path("icecc-environment")))?;
    let environment = made.trim();

    let mut hosts = Command::new("unshare");
    hosts.args([
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "sh",
        "-euc",
        HOSTS,
        "hosts",
    ]);
    hosts.arg(&programs).arg(logs).args([environment, "icecc.ninja", PATIENCE]).current_dir(yard.dir());
    good(&mut hosts)?;
    let log = String::from_utf8_lossy(&fs::read(logs.join("two")).context("what the other host logs")?)
        .into_owned();
    let compiled = log.matches("Remote compilation completed with exit code 0").count();
    ensure!(compiled > 0, "the other host compiled nothing:\n{log}");
    let ships = compare(yard, 1, "plain", "icecc")?;
    Ok(format!("icecc: {compiled} compiles by a host without the toolchain, {ships} equal"))
}

/// Scripts that start the package's programs with the libraries of their own release.
fn unpack(programs: &Path) -> Result<()> {
    let system = base(RELEASE, "icecc", &["icecc"])?;
    let system = system.display();
    fs::create_dir_all(programs)?;
    for (name, program) in PROGRAMS {
        let path = programs.join(name);
        let libraries = format!("{system}/usr/lib/x86_64-linux-gnu:{system}/lib/x86_64-linux-gnu");
        let text = format!(
            "#!/bin/sh\nexec '{system}/lib64/ld-linux-x86-64.so.2' --library-path '{libraries}' --argv0 {name} \
             '{system}/{program}' \"$@\"\n"
        );
        fs::write(&path, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
