//! Two `distcc` servers on the loopback interface.
//!
//! Unaware of what they compile.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::ninja;
use crate::soak::yard::Yard;

pub struct Servers([Server; 2]);

impl Servers {
    pub fn start(yard: &Yard) -> Result<Servers> {
        Ok(Servers([Server::start(yard)?, Server::start(yard)?]))
    }

    /// Ninja whose compiles go to the servers; what none of them compiles is an error, not compiled here.
    pub fn spread(&self, yard: &Yard, directory: &str) -> Result<Command> {
        let hosts = self.0.each_ref().map(|server| format!("127.0.0.1:{}/2", server.port));
        let state = yard.path("distcc");
        fs::create_dir_all(&state)?;
        let mut command = ninja(yard, directory);
        command.env("DISTCC_HOSTS", hosts.join(" ")).env("DISTCC_FALLBACK", "0").env("DISTCC_DIR", state);
        Ok(command)
    }

    /// How many sources each has compiled.
    pub fn shares(&self) -> Result<Vec<usize>> {
        self.0.iter().map(Server::compiled).collect()
    }
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
