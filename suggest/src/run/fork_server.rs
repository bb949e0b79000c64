//! The program as a server of its own runs: started once, it stops just before
//! `main` and forks a process for every run. Knows how to start such a server, what
//! to say to it (`wmfix_trace`'s `serve`), and what it takes to do without one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use object::{Object, ObjectSymbol};
use rustix::process::{Pid, Signal, kill_process_group};
use wmfix_trace::{CANNOT, INHERITED_VARIABLE, Obstacle, READY, SERVER_SYMBOL, SERVER_VARIABLE};

use super::guard;
use super::run_end::RunEnd;
use super::watchdog::{KillReason, RunFiles, Watchdog};

/// How often a start that takes its time is looked at.
const LOOK_EVERY: Duration = Duration::from_micros(200);

/// A server that has not answered by then, when its run is dead, is dead, too.
const SILENCE: Duration = Duration::from_secs(5);

/// A program that waits before `main`.
#[derive(Debug)]
pub(super) struct ForkServer {
    process: Child,
    socket: UnixStream,
}

/// What came of starting a program as a server.
pub(super) enum ServerStart {
    /// It waits for requests.
    Ready(ForkServer),
    /// It cannot serve; why, if it said so.
    Refused(Option<Obstacle>),
}

/// The server is gone, and with it what is known about the run.
#[derive(Debug)]
pub(super) struct ServerLost;

impl From<io::Error> for ServerLost {
    fn from(_: io::Error) -> Self {
        Self
    }
}

/// What a run is asked for with.
pub(super) struct ServerRequest<'a> {
    /// Where what it prints and records goes.
    pub(super) files: &'a RunFiles,
    /// What it gets as its standard input, if not nothing.
    pub(super) input: Option<&'a Path>,
    /// Its part of the environment.
    pub(super) variables: BTreeMap<&'a OsStr, OsString>,
}

/// Whether a program has what it takes to be a server: it was linked by a wrapper
/// of this version.
pub(super) fn can_serve(program: &Path) -> bool {
    let Ok(file) = File::open(program) else {
        return false;
    };
    let bytes = object::ReadCache::new(file);
    let Ok(file) = object::File::parse(&bytes) else {
        return false;
    };
    let mut symbols = file.dynamic_symbols();
    symbols.any(|symbol| symbol.name() == Ok(SERVER_SYMBOL))
}

impl ForkServer {
    /// Starts the command as a server. Its standard streams are set already.
    pub(super) fn start(mut command: Command, watchdog: &Watchdog) -> io::Result<ServerStart> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        // As long for every server: the stack of its runs begins below it.
        let name = format!("wmfix-{}-{number:08}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name)?;
        let listener = UnixListener::bind_addr(&address)?;
        listener.set_nonblocking(true)?;
        command
            .env(SERVER_VARIABLE, &name)
            .env(INHERITED_VARIABLE, inherited_files()?)
            .process_group(0);
        let mut process = command.spawn()?;
        let group = Pid::from_child(&process);
        guard::add(group)?;
        let socket = accept(&listener, &mut process, watchdog)?;
        let Some(socket) = socket else {
            end(&mut process)?;
            return Ok(ServerStart::Refused(None));
        };
        let mut server = Self { process, socket };
        server.socket.set_nonblocking(false)?;
        let mut said = [0];
        Ok(match server.socket.read_exact(&mut said) {
            Ok(()) if said[0] == READY => ServerStart::Ready(server),
            Ok(()) if said[0] == CANNOT => {
                server.socket.read_exact(&mut said)?;
                ServerStart::Refused(Obstacle::from_byte(said[0]))
            }
            _ => ServerStart::Refused(None),
        })
    }

    /// Has it fork a run, and waits for the end of that.
    pub(super) fn run(
        &mut self,
        request: &ServerRequest<'_>,
        watchdog: &Watchdog,
    ) -> Result<RunEnd, ServerLost> {
        self.socket.set_read_timeout(None)?;
        self.socket.write_all(&request.bytes())?;
        let mut number = [0; 4];
        self.socket.read_exact(&mut number)?;
        let number = i32::try_from(u32::from_le_bytes(number)).map_err(|_| ServerLost)?;
        let process = Pid::from_raw(number).ok_or(ServerLost)?;
        let watched = watchdog.watch_process(process, Some(request.files));
        let ended = self.wait_for_end(|| watched.is_killed());
        // The server has not collected it: the number is still its own.
        let killed = watched.has_ended()?;
        let end = ended?;
        self.socket.write_all(&[1])?;
        let status = i32::from_le_bytes([end[1], end[2], end[3], end[4]]);
        Ok(match (killed, end[0]) {
            (Some(KillReason::TooLong), _) => RunEnd::TimedOut,
            (Some(KillReason::TooLarge), _) => RunEnd::TooLarge,
            (Some(KillReason::OutOfTime), _) => RunEnd::OutOfTime,
            (Some(KillReason::Interrupted), _) => RunEnd::Interrupted,
            (None, 0) => RunEnd::Exited(status),
            (None, _) => RunEnd::Signalled(status),
        })
    }

    fn wait_for_end(&mut self, is_killed: impl Fn() -> bool) -> Result<[u8; 5], ServerLost> {
        let mut end = [0; 5];
        let mut got = 0;
        let mut silent_since = None;
        self.socket.set_read_timeout(Some(SILENCE / 5))?;
        while got < end.len() {
            match self.socket.read(&mut end[got..]) {
                Ok(0) => return Err(ServerLost),
                Ok(read) => got += read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let now = Instant::now();
                    let since = *silent_since.get_or_insert(now);
                    if !is_killed() {
                        silent_since = None;
                    } else if now.duration_since(since) >= SILENCE {
                        return Err(ServerLost);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(ServerLost),
            }
        }
        Ok(end)
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        // Nothing can be done about a process that cannot be ended.
        let _ended = end(&mut self.process);
    }
}

/// Ends a server with all that is in its group.
fn end(process: &mut Child) -> io::Result<()> {
    let group = Pid::from_child(process);
    let _already_gone = kill_process_group(group, Signal::KILL);
    guard::remove(group)?;
    process.wait()?;
    Ok(())
}

/// Waits until the program connects; `None` if it never will.
fn accept(
    listener: &UnixListener,
    process: &mut Child,
    watchdog: &Watchdog,
) -> io::Result<Option<UnixStream>> {
    let started = Instant::now();
    loop {
        match listener.accept() {
            Ok((socket, _)) => {
                // Anybody on the machine may know the name.
                let peer = rustix::net::sockopt::socket_peercred(socket.as_fd())?;
                if peer.pid == Pid::from_child(process) {
                    return Ok(Some(socket));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        let late = started.elapsed() > watchdog.limit() || watchdog.is_ending();
        if late || process.try_wait()?.is_some() {
            return Ok(None);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// The descriptors that a program started by us has besides the standard ones.
fn inherited_files() -> io::Result<String> {
    /// Set for those that end with us.
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    let mut inherited = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fdinfo")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // One that is closed meanwhile is not handed down.
        let Ok(text) = std::fs::read_to_string(entry.path()) else {
            continue;
        };
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        if flags.is_some_and(|flags| flags & CLOSE_ON_EXEC == 0) {
            inherited.push(name);
        }
    }
    Ok(inherited.join(","))
}

impl ServerRequest<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let mut add = |parts: &[&[u8]]| {
            for part in parts {
                body.extend_from_slice(part);
            }
            body.push(0);
        };
        add(&[self.files.output.as_os_str().as_bytes()]);
        add(&[self.input.map_or(&[], |input| input.as_os_str().as_bytes())]);
        for (name, value) in &self.variables {
            add(&[name.as_bytes(), b"=", value.as_bytes()]);
        }
        let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(&body);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace_folder::TraceFolder;
    use super::*;

    #[test]
    fn a_request_is_a_length_and_strings() {
        let files = RunFiles {
            output: "/o".into(),
            traces: TraceFolder::new(Path::new("/t"), 1),
        };
        let request = ServerRequest {
            files: &files,
            input: None,
            variables: BTreeMap::from([(OsStr::new("A"), "b".into())]),
        };
        assert_eq!(request.bytes(), b"\x08\0\0\0/o\0\0A=b\0");
    }

    #[test]
    fn a_script_is_no_server() {
        assert!(!can_serve(Path::new("/proc/self/status")));
        assert!(!can_serve(Path::new("/no/such/program")));
        assert!(!can_serve(Path::new("/proc/self/exe")));
    }
}
