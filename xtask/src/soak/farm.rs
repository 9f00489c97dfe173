//! When one machine is too small: the exported plan of 200 ops under two `distcc` servers, and the same ops under Bazel's
//! sandbox. What ships is byte for byte what a plain build makes, and an input that is not declared is not there.
//!
//! The servers listen on the loopback interface only. Unaware of how the engines distribute.

use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::yard::{Yard, end};
use crate::chores::{root, run};

/// A library holds ten ops at most.
const OPS: usize = 10;
const ARCHIVE: &str = "toolchain.tar.xz";

pub fn storm(yard: &Yard, libraries: usize) -> Result<String> {
    for library in 0..libraries {
        write_library(&yard.path("ops"), library)?;
    }
    // a farm passes no variable on, neither to a toolchain built from packages
    let servers = [Server::start(yard)?, Server::start(yard)?];
    plan(yard, 1, "packages", &["--launcher", "distcc"])?;
    good(&mut spread(yard, "packages", &servers)?)?;

    yard.good(&["toolchain", "export", ARCHIVE])?;
    yard.good(&["toolchain", "install", "--from", ARCHIVE])?;
    plan(yard, libraries, "plain", &[])?;
    plan(yard, libraries, "farm", &["--launcher", "distcc"])?;
    let begin = Instant::now();
    good(&mut ninja(yard, "plain"))?;
    let plain = begin.elapsed();

    let begin = Instant::now();
    good(&mut spread(yard, "farm", &servers)?)?;
    let farmed = begin.elapsed();
    let shares: Vec<usize> = servers.iter().map(Server::compiled).collect::<Result<_>>()?;
    ensure!(shares.iter().all(|share| *share > 0), "one server compiled nothing: {shares:?}");
    let ships = compare(yard, libraries, "plain", "farm")? + compare(yard, 1, "plain", "packages")?;
    undeclared(yard)?;
    drop(servers);
    let bazel = bazel(yard, libraries)?;
    Ok(format!(
        "{} ops in {libraries} libraries: {} compiles by two servers ({shares:?}) in {} s, plain in {} s, \
         {ships} files that ship are equal; {bazel}",
        libraries * OPS,
        shares.iter().sum::<usize>(),
        farmed.as_secs(),
        plain.as_secs()
    ))
}

/// A header and ten sources that include it.
fn write_library(ops: &Path, library: usize) -> Result<()> {
    let directory = ops.join(format!("lib{library}"));
    fs::create_dir_all(&directory)?;
    let factor = format!("constexpr float factor = {library}.5f;\n");
    fs::write(directory.join("factor.hpp"), factor)?;
    for op in 0..OPS {
        let text = format!(
            "#include <gpsimd/kit.hpp>\n#include \"factor.hpp\"\n\
             torch::Tensor op{op}(const torch::Tensor& t) {{\n    torch::Tensor out = get_dst_tensor();\n    \
             gpsimd::map<float(float)>(out, [](float x) {{ return x * factor + {op}.0f; }}, t);\n    return out;\n}}\n"
        );
        fs::write(directory.join(format!("op{op}.cpp")), text)?;
    }
    Ok(())
}

/// Sources and schemas of a library, as arguments.
fn arguments(library: usize) -> Vec<String> {
    let sources = (0..OPS).map(|op| format!("ops/lib{library}/op{op}.cpp"));
    let schemas = (0..OPS).flat_map(|op| ["--schema".to_owned(), format!("my::op{op}(Tensor t) -> Tensor")]);
    sources.chain(schemas).chain(["--name".to_owned(), format!("lib{library}")]).collect()
}

/// `DIR.ninja`, which runs the plan of every library.
fn plan(yard: &Yard, libraries: usize, directory: &str, options: &[&str]) -> Result<()> {
    let mut top = String::from("ninja_required_version = 1.7\n");
    fs::create_dir_all(yard.path(directory))?;
    for library in 0..libraries {
        let file = format!("{directory}/lib{library}.ninja");
        let own = arguments(library);
        let mut line = vec!["plan", "--format", "ninja", "--output", &file, "--out-dir", directory];
        line.extend(own.iter().map(String::as_str));
        line.extend(options);
        yard.good(&line)?;
        writeln!(top, "subninja {file}")?;
    }
    Ok(fs::write(yard.path(format!("{directory}.ninja")), top)?)
}

/// Ninja without a variable but where programs are.
fn ninja(yard: &Yard, directory: &str) -> Command {
    let mut command = Command::new("ninja");
    command.current_dir(yard.dir()).env_clear().env("PATH", "/usr/bin:/bin");
    command.args(["-j", "4", "-f", &format!("{directory}.ninja")]);
    command
}

/// Ninja whose compiles go to the servers; what none of them compiles is an error, not compiled here.
fn spread(yard: &Yard, directory: &str, servers: &[Server]) -> Result<Command> {
    let hosts: Vec<String> = servers.iter().map(|server| format!("127.0.0.1:{}/2", server.port)).collect();
    let state = yard.path("distcc");
    fs::create_dir_all(&state)?;
    let mut command = ninja(yard, directory);
    command.env("DISTCC_HOSTS", hosts.join(" ")).env("DISTCC_FALLBACK", "0").env("DISTCC_DIR", state);
    Ok(command)
}

fn good(command: &mut Command) -> Result<()> {
    let end = end(command)?;
    ensure!(end.code == Some(0), "{command:?}: {:?}\n{}", end.code, end.said);
    Ok(())
}

/// A source that the plan names is taken away: ninja refuses before it starts anything.
fn undeclared(yard: &Yard) -> Result<()> {
    let (source, aside) = (yard.path("ops/lib0/op3.cpp"), yard.path("aside.cpp"));
    fs::rename(&source, &aside)?;
    let end = end(&mut ninja(yard, "farm"))?;
    fs::rename(&aside, &source)?;
    ensure!(end.code == Some(1) && end.said.contains("op3.cpp"), "{:?}\n{}", end.code, end.said);
    Ok(())
}

/// Compares what ships; debug information of preprocessed text is in another order.
fn compare(yard: &Yard, libraries: usize, ours: &str, theirs: &str) -> Result<usize> {
    let (ours, theirs) = (yard.path(ours), yard.path(theirs));
    let mut count = 0;
    for library in 0..libraries {
        for kind in ["stripped.so", "packed.so"] {
            let name = format!("lib{library}.{kind}");
            let same = fs::read(ours.join(&name))? == fs::read(theirs.join(&name)).context(name.clone())?;
            ensure!(same, "{name} has other bytes than in a plain build");
            count += 1;
        }
    }
    Ok(count)
}

/// The same libraries by the rules of `integrations/bazel`, each in a sandbox.
fn bazel(yard: &Yard, libraries: usize) -> Result<String> {
    let Ok(program) = which("bazel") else { bail!("no bazel: apt-get install -y bazel-bootstrap") };
    let workspace = yard.path("bazel");
    fs::create_dir_all(&workspace)?;
    fs::write(workspace.join("WORKSPACE"), "workspace(name = \"ops\")\n")?;
    run(Command::new("cp").arg("-r").arg(yard.path("ops")).arg(&workspace))?;
    fs::copy(root().join("integrations/bazel/gpsimd.bzl"), workspace.join("gpsimd.bzl"))?;
    fs::copy(yard.path(ARCHIVE), workspace.join(ARCHIVE))?;
    fs::copy(yard.tool(), workspace.join("gpsimd-build"))?;
    fs::write(workspace.join("BUILD"), build_file(libraries, "glob([\"ops/lib%d/*.hpp\" % n])"))?;
    let output = yard.path("bazel-output");
    let call = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command
            .current_dir(&workspace)
            .arg(format!("--output_user_root={}", output.display()))
            .args(arguments);
        command
    };
    let build = ["build", "--spawn_strategy=linux-sandbox", "--jobs=2", "--noshow_progress", "//:all"];
    let begin = Instant::now();
    let built = good(&mut call(&build)).and_then(|()| {
        let took = begin.elapsed();
        let made = yard.path("bazel-made");
        fs::create_dir_all(&made)?;
        for library in 0..libraries {
            let from = workspace.join(format!("bazel-bin/lib{library}"));
            run(Command::new("cp").arg("-rL").arg(from.join(".")).arg(&made))?;
        }
        let ships = compare(yard, libraries, "plain", "bazel-made")?;
        fs::write(workspace.join("BUILD"), build_file(libraries, "[]"))?;
        let end = end(&mut call(&build))?;
        let is_missed = end.code == Some(1) && end.said.contains("factor.hpp");
        ensure!(is_missed, "a header that is not declared was found: {:?}\n{}", end.code, end.said);
        Ok(format!(
            "Bazel's sandbox in {} s, {ships} equal, a header not declared is an error",
            took.as_secs()
        ))
    });
    // the server that it leaves behind
    good(&mut call(&["shutdown"]))?;
    built
}

/// A target for every library; `headers` is an expression of its number `n`.
fn build_file(libraries: usize, headers: &str) -> String {
    format!(
        "load(\":gpsimd.bzl\", \"gpsimd_custom_op\", \"gpsimd_toolchain\")\n\
         gpsimd_toolchain(name = \"toolchain\", archive = \"{ARCHIVE}\", tool = \"gpsimd-build\")\n\
         [gpsimd_custom_op(\n    name = \"lib%d\" % n,\n    \
         srcs = [\"ops/lib%d/op%d.cpp\" % (n, k) for k in range({OPS})],\n    hdrs = {headers},\n    \
         schemas = [\"my::op%d(Tensor t) -> Tensor\" % k for k in range({OPS})],\n    \
         multicore = False,\n    toolchain = \":toolchain\",\n) for n in range({libraries})]\n"
    )
}

fn which(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").context("PATH")?;
    let mut found = std::env::split_paths(&path).map(|directory| directory.join(name));
    found.find(|path| path.is_file()).context("not in PATH")
}

/// A compile server, ended when it is dropped.
struct Server {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl Server {
    fn start(yard: &Yard) -> Result<Server> {
        // the kernel names a port that is free
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = yard.path(format!("distccd-{port}.log"));
        let child = Command::new("distccd")
            .args(["--daemon", "--no-detach", "--listen", "127.0.0.1", "--allow", "127.0.0.1"])
            .args(["--port", &port.to_string(), "--jobs", "2", "--enable-tcp-insecure", "--log-stderr"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log)?)
            .spawn()
            .context("distccd")?;
        let server = Server { child, port, log };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(begin.elapsed() < Duration::from_secs(10), "distccd does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// How many sources it has compiled.
    fn compiled(&self) -> Result<usize> {
        Ok(fs::read_to_string(&self.log)?.matches("COMPILE_OK").count())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // asked, it ends its own children; killed, it could not
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}
