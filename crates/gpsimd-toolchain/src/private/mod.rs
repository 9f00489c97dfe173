//! The open toolchain without root: the packages are fetched and unpacked below the data directory, a toolchain is built
//! from them there and made one that travels, and they are gone again.
//!
//! So nothing of the system changes, what is left is 90 MB that need nothing of the machine, and it is byte for byte what
//! an export makes where the packages are installed. A killed install is as if it had not run. Unaware of terminals.

mod deb;
mod fetch;
mod starters;

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;

use crate::error::IoContext as _;
use crate::install::{self, Event, Outcome, Recipe, Site, Step};
use crate::travel::More;
use crate::{Home, Machine, OpenToolchain, ToolchainError, open, packages, travel};
use fetch::{Apt, Wanted};

/// Texts that the packages' terms refer to.
const TERMS: &str = "base-files";

/// Installs the open toolchain in `home`, running `jobs` compilers at a time, from packages that `apt-get` fetches for it
/// alone. Where the one that is there is made of the same packages, nothing else is done. `more` goes with it as with an export.
pub fn install<E: From<ToolchainError>>(
    machine: &Machine,
    home: &Home,
    jobs: NonZeroUsize,
    more: More<'_, E>,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Outcome, E> {
    let missing = packages::all(machine);
    let (Some(apt_get), Some(dpkg_deb)) = (missing.private_supply(), machine.program("dpkg-deb")) else {
        return Err(ToolchainError::PackagesMissing { missing }.into());
    };
    let site = Site::take(home, tell)?;
    let work = site.unfinished()?;
    // scripts and links name it
    let place = work.path().canonicalize().context("cannot look at", work.path())?;
    let apt_dir = place.join("apt");
    let mut apt = Apt::new(apt_get, &apt_dir, tell)?;
    let (mut programs, sources) = packages::kinds(machine);
    programs.push(TERMS);
    let wanted = Wanted { programs, sources };
    apt.update()?;
    if let Some(there) = made_of(machine, home, &apt.candidates(&wanted)?)? {
        return Ok(Outcome::AlreadyThere(there));
    }

    let root = place.join("root");
    deb::root(&root)?;
    let debs = apt.fetch(&wanted)?;
    let progress = |step, done, total| tell(Event::Progress { step, done, total });
    for (done, deb) in (0..).zip(&debs) {
        progress(Step::Packages, done, debs.len() as u64);
        deb::unpack(&dpkg_deb, deb, &root)?;
        // as soon as can be: it is all on disk twice
        fs::remove_file(deb).context("cannot remove", deb)?;
    }
    progress(Step::Packages, debs.len() as u64, debs.len() as u64);
    fs::remove_dir_all(&apt_dir).context("cannot remove", &apt_dir)?;
    let unpacked = starters::write_all(&root, &place.join("moved"))?;

    let built = place.join("built");
    let manifest = install::make(&unpacked, Recipe::of(&unpacked)?, &built, &built, jobs, tell)?;
    let built = OpenToolchain::in_dir(&unpacked, built, manifest)?;
    let unfinished = site.unfinished()?;
    progress(Step::Gather, 0, 1);
    let manifest = travel::gather(&unpacked, &built, more, &place, unfinished.path())?;
    progress(Step::Gather, 1, 1);
    let dir = site.toolchains().join(open::travelling_name(&manifest));
    site.publish(unfinished, &dir)?;
    Ok(Outcome::Installed(OpenToolchain::in_dir(machine, dir, manifest)?))
}

/// The toolchain in force, if it is whole and made of packages that are all among these.
fn made_of(
    machine: &Machine,
    home: &Home,
    candidates: &BTreeSet<(String, String)>,
) -> Result<Option<OpenToolchain>, ToolchainError> {
    let Ok(toolchain) = OpenToolchain::discover(machine, home) else { return Ok(None) };
    let packages = toolchain.manifest.travels.as_ref().map(|travels| &travels.packages);
    let is_it = packages.is_some_and(|packages| {
        packages.iter().all(|package| candidates.contains(&(package.name.clone(), package.version.clone())))
    });
    Ok(Some(toolchain).filter(|toolchain| is_it && toolchain.verify().is_ok()))
}
