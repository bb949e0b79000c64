//! The fork server: the program stops just before `main`, with its constructors
//! run and its libraries loaded, and forks a run for every request of the tool.
//! Used only if nothing before `main` did what a fork cannot give to every run;
//! then a run is what it is with a start of its own, but for the time. The
//! conversation is described in `wmfix_trace`'s `serve`.

use alloc::vec::Vec;
use core::ffi::c_int;
use core::mem::{size_of, zeroed};

use wmfix_trace::{CANNOT, Obstacle, READY};

use crate::arena;
use crate::config::{RuntimeConfig, cannot_start};
use crate::environment;
use crate::real;
use crate::start;
use crate::stuck;
use crate::sys::{self, raw_syscall};
use crate::turn::{self, Held, MODE, mode};
use crate::volatile;

/// Says that this program can be a server: its name has the version of the
/// conversation.
#[unsafe(no_mangle)]
static __wmfix_fork_server_1: u8 = 1;

/// Where the socket is moved to, so that the program's own descriptors have the
/// numbers that they always have.
const SOCKET_FROM: usize = 900;

/// Serves, if the program is asked to, and returns in every run.
pub(crate) fn serve() {
    let Some(address) = environment::server_address() else {
        return;
    };
    // Inside of the runtime, so that what it calls is not taken for the program's.
    let Some(mut held) = turn::enter() else {
        return;
    };
    let obstacle = obstacle(&mut held);
    let Ok(socket) = connect(address) else {
        cannot_start(format_args!("cannot reach the wmfix that started this"));
    };
    if let Some(obstacle) = obstacle {
        send(socket, &[CANNOT, obstacle as u8]);
        sys::exit_now(0);
    }
    // What every run does from here on is in its own trace.
    held.state().recorder.discard();
    send(socket, &[READY]);
    while let Some(request) = receive_request(socket) {
        let child = fork();
        if child == 0 {
            close(socket);
            become_run(held, request);
            return;
        }
        let pid = u32::try_from(child).unwrap_or(0);
        system(libc::SYS_setpgid, &[pid as usize, pid as usize]);
        send(socket, &pid.to_le_bytes());
        if pid != 0 && !wait_for(pid, socket) {
            break;
        }
    }
    // The tool is gone, or has heard enough.
    sys::exit_now(0)
}

/// Says how the run ended, and collects it when the tool has taken note of that;
/// false if the tool is gone.
fn wait_for(pid: u32, socket: usize) -> bool {
    // SAFETY: a record of the kernel's, which fills it.
    let mut info = unsafe { zeroed::<libc::siginfo_t>() };
    let wait = |info: *mut libc::siginfo_t, options: c_int| {
        let arguments = [
            libc::P_PID as usize,
            pid as usize,
            info as usize,
            options as usize,
            0,
        ];
        while system(libc::SYS_waitid, &arguments) == -(libc::EINTR as isize) {}
    };
    wait(&mut info, libc::WEXITED | libc::WNOWAIT);
    let killed = info.si_code != libc::CLD_EXITED;
    // SAFETY: the kernel has filled in how a child ended.
    let status = unsafe { info.si_status() };
    let mut end = [u8::from(killed); 5];
    end[1..].copy_from_slice(&status.to_le_bytes());
    let mut noted = [0];
    let goes_on = send(socket, &end) && receive(socket, &mut noted);
    if !goes_on {
        // Nobody else will end what the run has left behind.
        system(
            libc::SYS_kill,
            &[(pid as usize).wrapping_neg(), libc::SIGKILL as usize],
        );
    }
    wait(core::ptr::null_mut(), libc::WEXITED);
    goes_on
}

/// What stands between the state of now and a run of its own.
fn obstacle(held: &mut Held) -> Option<Obstacle> {
    let found = [
        (
            held.state().scheduler.threads.len() != 1 || count_of(b"/proc/self/task\0") != Some(1),
            Obstacle::Thread,
        ),
        (has_children(), Obstacle::Process),
        (has_files(), Obstacle::File),
        (shares_memory(), Obstacle::SharedMemory),
        (has_printed(), Obstacle::Output),
        (offset(0) > 0, Obstacle::Input),
        (has_timers(), Obstacle::Timer),
        (stuck::clock_was_read(), Obstacle::Clock),
        (handles_children(), Obstacle::ChildSignal),
        (held.state().has_events(), Obstacle::Events),
    ];
    found
        .into_iter()
        .find_map(|(there, obstacle)| there.then_some(obstacle))
}

/// The forked process becomes the run that was asked for.
fn become_run(mut held: Held, request: Vec<u8>) {
    let request: &'static [u8] = request.leak();
    let mut strings: Vec<&'static [u8]> = request.split_inclusive(|&byte| byte == 0).collect();
    if strings.len() < 2 {
        cannot_start(format_args!("the request of a run is cut"));
    }
    let variables = strings.split_off(2);
    system(libc::SYS_setpgid, &[0, 0]);
    let (output, input) = (strings[0], strings[1]);
    let created = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
    redirect(output, created, &[1, 2]);
    if input.len() > 1 {
        redirect(input, libc::O_RDONLY, &[0]);
    }
    environment::set_run(variables.leak());
    arena::after_fork();
    turn::after_fork();
    // What constructors have told the scheduler without doing anything yet.
    let helped = held.state().scheduler.outside_help;
    let barriers = core::mem::take(&mut held.state().barriers);
    held.state().drop_filter();
    // The run has a record of its own.
    held.thread().release_frames();
    MODE.store(mode::OFF, core::sync::atomic::Ordering::SeqCst);
    let config = RuntimeConfig::read();
    volatile::configure(config.volatile);
    start::begin_run(config, false);
    held.state().scheduler.outside_help = helped;
    held.state().barriers = barriers;
}

/// Opens a file in place of these descriptors.
fn redirect(path: &[u8], flags: c_int, descriptors: &[usize]) {
    let arguments = [
        libc::AT_FDCWD as usize,
        path.as_ptr() as usize,
        (flags | libc::O_CLOEXEC) as usize,
        0o666,
    ];
    let file = system(libc::SYS_openat, &arguments);
    if file < 0 {
        let name = core::str::from_utf8(&path[..path.len() - 1]).unwrap_or("?");
        cannot_start(format_args!("cannot open {name} (errno {})", -file));
    }
    for &descriptor in descriptors {
        system(libc::SYS_dup3, &[file as usize, descriptor, 0]);
    }
    close(file as usize);
}

/// A fork that nothing of the program notices: handlers that it has registered for
/// forks of its own are not called, if the C library can do that.
fn fork() -> libc::pid_t {
    // SAFETY: a name; a function of this name has this type.
    unsafe {
        let plain = libc::dlsym(libc::RTLD_DEFAULT, c"_Fork".as_ptr());
        if plain.is_null() {
            return real::fork();
        }
        let plain: unsafe extern "C" fn() -> libc::pid_t = core::mem::transmute(plain);
        plain()
    }
}

fn connect(name: &[u8]) -> Result<usize, isize> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    let socket = system(
        libc::SYS_socket,
        &[libc::AF_UNIX as usize, kind as usize, 0],
    );
    let socket = usize::try_from(socket).map_err(|_| socket)?;
    // SAFETY: a record without pointers.
    let mut address = unsafe { zeroed::<libc::sockaddr_un>() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // An abstract name begins with a zero.
    for (byte, &given) in address.sun_path[1..].iter_mut().zip(name) {
        *byte = given as libc::c_char;
    }
    let len = size_of::<libc::sa_family_t>() + 1 + name.len();
    let connected = system(
        libc::SYS_connect,
        &[socket, &raw const address as usize, len],
    );
    if connected < 0 {
        return Err(connected);
    }
    let moved = system(
        libc::SYS_fcntl,
        &[socket, libc::F_DUPFD_CLOEXEC as usize, SOCKET_FROM],
    );
    // Where there is a limit below, the number that it has will do.
    let Ok(moved) = usize::try_from(moved) else {
        return Ok(socket);
    };
    close(socket);
    Ok(moved)
}

fn receive_request(socket: usize) -> Option<Vec<u8>> {
    let mut len = [0; 4];
    if !receive(socket, &mut len) {
        return None;
    }
    let mut request = alloc::vec![0; u32::from_le_bytes(len) as usize];
    receive(socket, &mut request).then_some(request)
}

/// Fills the buffer; false if the tool is gone.
fn receive(socket: usize, buffer: &mut [u8]) -> bool {
    let mut done = 0;
    while done < buffer.len() {
        let rest = &mut buffer[done..];
        let arguments = [socket, rest.as_mut_ptr() as usize, rest.len(), 0, 0, 0];
        match system(libc::SYS_recvfrom, &arguments) {
            len if len > 0 => done += len as usize,
            error if error == -(libc::EINTR as isize) => {}
            _ => return false,
        }
    }
    true
}

/// Sends all of it; false if the tool is gone.
fn send(socket: usize, bytes: &[u8]) -> bool {
    let mut done = 0;
    while done < bytes.len() {
        let rest = &bytes[done..];
        let flags = libc::MSG_NOSIGNAL as usize;
        let arguments = [socket, rest.as_ptr() as usize, rest.len(), flags, 0, 0];
        match system(libc::SYS_sendto, &arguments) {
            len if len > 0 => done += len as usize,
            error if error == -(libc::EINTR as isize) => {}
            _ => return false,
        }
    }
    true
}

fn close(file: usize) {
    system(libc::SYS_close, &[file]);
}

fn system(number: libc::c_long, given: &[usize]) -> isize {
    let mut arguments = [0; 6];
    arguments[..given.len()].copy_from_slice(given);
    // SAFETY: every call here is given buffers of ours that outlive it, and
    // descriptors and processes that are ours.
    unsafe { raw_syscall(number, arguments) }
}

fn has_children() -> bool {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let arguments = [libc::P_ALL as usize, 0, 0, options as usize, 0];
    system(libc::SYS_waitid, &arguments) != -(libc::ECHILD as isize)
}

/// Whether descriptors are open that the tool has not handed down.
fn has_files() -> bool {
    let inherited = environment::inherited_files();
    let is_known = |name: &[u8]| {
        let standard = [&b"0"[..], b"1", b"2"];
        let mut known = inherited.split(|&byte| byte == b',').chain(standard);
        known.any(|known| known == name)
    };
    let mut others = 0;
    for_each_entry(b"/proc/self/fd\0", |name| {
        others += usize::from(!is_known(name))
    });
    // One is that of the listing itself.
    others > 1
}

/// Whether there is memory that a fork would not copy. The trace is ours.
fn shares_memory() -> bool {
    let Ok(maps) = sys::read_file(b"/proc/self/maps\0") else {
        return true;
    };
    maps.split(|&byte| byte == b'\n').any(|line| {
        let mut words = line
            .split(|&byte| byte == b' ')
            .filter(|word| !word.is_empty());
        let access = words.nth(1).unwrap_or_default();
        access.starts_with(b"rw") && access.ends_with(b"s") && !line.ends_with(b".wmtrace")
    })
}

fn has_printed() -> bool {
    [1, 2].into_iter().any(|descriptor| {
        // SAFETY: a record without pointers, which the call fills.
        let mut status = unsafe { zeroed::<libc::stat>() };
        let arguments = [descriptor, &raw mut status as usize];
        let known = system(libc::SYS_fstat, &arguments) == 0;
        known && status.st_mode & libc::S_IFMT == libc::S_IFREG && status.st_size > 0
    })
}

/// How far a file was read; 0 if that cannot be said.
fn offset(descriptor: usize) -> isize {
    system(libc::SYS_lseek, &[descriptor, 0, libc::SEEK_CUR as usize]).max(0)
}

fn has_timers() -> bool {
    let kinds = [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF];
    let set = kinds.into_iter().any(|kind| {
        // SAFETY: a record without pointers, which the call fills.
        let mut timer = unsafe { zeroed::<libc::itimerval>() };
        system(
            libc::SYS_getitimer,
            &[kind as usize, &raw mut timer as usize],
        );
        timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0
    });
    // A kernel without this file has no such timers to tell of.
    set || sys::read_file(b"/proc/self/timers\0").is_ok_and(|timers| !timers.is_empty())
}

fn handles_children() -> bool {
    // SAFETY: a record of the C library's, which fills it.
    let mut action = unsafe { zeroed::<libc::sigaction>() };
    let known = real::sigaction(libc::SIGCHLD, core::ptr::null(), &mut action) == 0;
    !known || action.sa_sigaction != libc::SIG_DFL
}

fn count_of(folder: &[u8]) -> Option<usize> {
    let mut count = 0;
    for_each_entry(folder, |_| count += 1).then_some(count)
}

/// Calls with the name of each entry of a folder; false if it cannot be read. The
/// path ends in a zero.
fn for_each_entry(path: &[u8], mut each: impl FnMut(&[u8])) -> bool {
    let flags = libc::O_DIRECTORY | libc::O_CLOEXEC;
    let arguments = [
        libc::AT_FDCWD as usize,
        path.as_ptr() as usize,
        flags as usize,
        0,
    ];
    let Ok(folder) = usize::try_from(system(libc::SYS_openat, &arguments)) else {
        return false;
    };
    /// Of an entry, before its name: its number, its position, its length, its kind.
    const NAME_AT: usize = 8 + 8 + 2 + 1;
    let mut buffer = [0u8; 2048];
    let whole = loop {
        let arguments = [folder, buffer.as_mut_ptr() as usize, buffer.len()];
        let len = match system(libc::SYS_getdents64, &arguments) {
            0 => break true,
            len if len < 0 => break false,
            len => len as usize,
        };
        let mut at = 0;
        while at + NAME_AT < len {
            let entry_len = usize::from(u16::from_le_bytes([buffer[at + 16], buffer[at + 17]]));
            let name = &buffer[at + NAME_AT..len.min(at + entry_len)];
            let end = name.iter().position(|&byte| byte == 0);
            let name = &name[..end.unwrap_or(name.len())];
            if name != b"." && name != b".." {
                each(name);
            }
            at += entry_len.max(1);
        }
    };
    close(folder);
    whole
}
