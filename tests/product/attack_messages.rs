//! Hand-offs through the kernel: what is written before a message is sent may be
//! read by whoever has received it. For each way to send one, a correct program,
//! which is not reported, and a broken one, which is.

use wmfix_tests::product::{CommandResult, World};
use wmfix_tests::tools::{Need, need};

/// A way to hand over.
struct HandOff {
    globals: &'static str,
    setup: &'static str,
    send: &'static str,
    receive: &'static str,
}

impl HandOff {
    /// A program whose sender writes once more after it has sent, if told.
    fn program(&self, broken: bool) -> String {
        let HandOff {
            globals,
            setup,
            send,
            receive,
        } = self;
        let late = if broken { "data = 2;" } else { "" };
        format!(
            "#define _GNU_SOURCE\n\
             #include <assert.h>\n#include <pthread.h>\n#include <signal.h>\n\
             #include <stdatomic.h>\n#include <stdint.h>\n#include <stdio.h>\n\
             #include <string.h>\n#include <unistd.h>\n\
             static int data;\n\
             {globals}\n\
             static void *sender(void *unused) {{ data = 1; {send} {late} return unused; }}\n\
             static void *receiver(void *unused) {{ {receive} assert(data > 0); return unused; }}\n\
             int main(void) {{\n\
             {setup}\n\
             pthread_t first, second;\n\
             pthread_create(&first, 0, receiver, 0);\n\
             pthread_create(&second, 0, sender, 0);\n\
             pthread_join(first, 0);\n\
             pthread_join(second, 0);\n\
             puts(\"done\");\n\
             return 0;\n}}\n"
        )
    }

    fn check(&self, broken: bool, strategy: &str) -> (CommandResult, serde_json::Value) {
        let world = World::new();
        world.write("prog.c", &self.program(broken));
        let ran = CommandResult::of(world.wmfix("gcc").args([
            "check",
            "prog.c",
            "--runs",
            "8",
            "--format",
            "json",
            "--strategy",
            strategy,
        ]));
        let report = ran.json();
        (ran, report)
    }

    /// The correct program is silent under either scheduling, the broken one has
    /// a race on the data.
    fn holds(&self) {
        need(&[Need::Program("gcc")]);
        for strategy in ["pct", "os"] {
            let (ran, report) = self.check(false, strategy);
            assert_eq!(
                (ran.code, &report["verdict"]),
                (Some(0), &"clean".into()),
                "{strategy}: {report}\n{}",
                ran.stderr
            );
        }
        let (ran, report) = self.check(true, "pct");
        assert_eq!(ran.code, Some(1), "{report}\n{}", ran.stderr);
        assert_eq!(report["races"][0]["location"], "data", "{report}");
    }
}

#[test]
fn a_pipe() {
    HandOff {
        globals: "static int ends[2];",
        setup: "assert(pipe(ends) == 0);",
        send: "char byte = 1; assert(write(ends[1], &byte, 1) == 1);",
        receive: "char byte; assert(read(ends[0], &byte, 1) == 1);",
    }
    .holds();
}

#[test]
fn the_end_of_a_pipe() {
    HandOff {
        globals: "static int ends[2];",
        setup: "assert(pipe(ends) == 0);",
        send: "close(ends[1]);",
        receive: "char byte; assert(read(ends[0], &byte, 1) == 0);",
    }
    .holds();
}

#[test]
fn an_event_counter() {
    HandOff {
        globals: "#include <sys/eventfd.h>\nstatic int counter;",
        setup: "counter = eventfd(0, 0);",
        send: "assert(eventfd_write(counter, 1) == 0);",
        receive: "eventfd_t value; assert(eventfd_read(counter, &value) == 0);",
    }
    .holds();
}

#[test]
fn a_pair_of_sockets() {
    HandOff {
        globals: "#include <sys/socket.h>\nstatic int ends[2];",
        setup: "assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);",
        send: "assert(send(ends[1], \"x\", 1, 0) == 1);",
        receive: "char byte; assert(recv(ends[0], &byte, 1, 0) == 1);",
    }
    .holds();
}

#[test]
fn a_connection_over_the_network() {
    HandOff {
        globals: "#include <netinet/in.h>\n#include <sys/socket.h>\n\
            static int listener; static struct sockaddr_in address;",
        setup: "listener = socket(AF_INET, SOCK_STREAM, 0);\
            address.sin_family = AF_INET; address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\
            assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);\
            socklen_t len = sizeof address;\
            assert(getsockname(listener, (struct sockaddr *)&address, &len) == 0);\
            assert(listen(listener, 1) == 0);",
        send: "int s = socket(AF_INET, SOCK_STREAM, 0);\
            assert(connect(s, (struct sockaddr *)&address, sizeof address) == 0);\
            assert(sendto(s, \"x\", 1, 0, 0, 0) == 1);",
        receive: "int s = accept(listener, 0, 0); assert(s >= 0);\
            char byte; assert(recvfrom(s, &byte, 1, 0, 0, 0) == 1);",
    }
    .holds();
}

#[test]
fn a_socket_with_a_name() {
    HandOff {
        globals: "#include <sys/socket.h>\n#include <sys/un.h>\n\
            static int listener; static struct sockaddr_un address;\
            static socklen_t len;",
        // A name that exists only in the kernel.
        setup: "address.sun_family = AF_UNIX;\
            len = sizeof(sa_family_t) + 1 + snprintf(address.sun_path + 1, 40, \"wmfix-%d\", getpid());\
            listener = socket(AF_UNIX, SOCK_STREAM, 0);\
            assert(bind(listener, (struct sockaddr *)&address, len) == 0);\
            assert(listen(listener, 1) == 0);",
        send: "int s = socket(AF_UNIX, SOCK_STREAM, 0);\
            assert(connect(s, (struct sockaddr *)&address, len) == 0);\
            assert(write(s, \"x\", 1) == 1);",
        receive: "int s = accept(listener, 0, 0); assert(s >= 0);\
            char byte; assert(read(s, &byte, 1) == 1);",
    }
    .holds();
}

#[test]
fn being_told_that_a_descriptor_is_ready() {
    let counter = "#include <poll.h>\n#include <sys/epoll.h>\n#include <sys/eventfd.h>\n\
        #include <sys/select.h>\nstatic int counter, set;";
    let setup = "counter = eventfd(0, 0); set = epoll_create1(0);\
        struct epoll_event wanted = { .events = EPOLLIN };\
        assert(epoll_ctl(set, EPOLL_CTL_ADD, counter, &wanted) == 0);";
    let ways = [
        "struct epoll_event event; assert(epoll_wait(set, &event, 1, -1) == 1);",
        "struct pollfd asked = { .fd = counter, .events = POLLIN };\
            while (poll(&asked, 1, 10) == 0) {}",
        "fd_set asked; FD_ZERO(&asked); FD_SET(counter, &asked);\
            assert(select(counter + 1, &asked, 0, 0, 0) == 1 && FD_ISSET(counter, &asked));",
    ];
    for receive in ways {
        HandOff {
            globals: counter,
            setup,
            send: "uint64_t one = 1; assert(write(counter, &one, 8) == 8);",
            receive,
        }
        .holds();
    }
}

#[test]
fn a_signal_that_is_waited_for() {
    HandOff {
        globals: "static sigset_t signals;",
        setup: "sigemptyset(&signals); sigaddset(&signals, SIGUSR1);\
            pthread_sigmask(SIG_BLOCK, &signals, 0);",
        send: "assert(kill(getpid(), SIGUSR1) == 0);",
        receive: "int taken; assert(sigwait(&signals, &taken) == 0 && taken == SIGUSR1);",
    }
    .holds();
}

#[test]
fn a_signal_handler() {
    HandOff {
        globals: "static volatile sig_atomic_t came; static pthread_t target;\n\
            static _Atomic int ready;\n\
            static void handle(int number) { (void)number; came = 1; }",
        setup: "struct sigaction action; memset(&action, 0, sizeof action);\
            action.sa_handler = handle; assert(sigaction(SIGUSR1, &action, 0) == 0);\
            struct sigaction old; assert(sigaction(SIGUSR1, 0, &old) == 0 && old.sa_handler == handle);",
        send: "while (!ready) sched_yield(); assert(pthread_kill(target, SIGUSR1) == 0);",
        receive: "target = pthread_self(); ready = 1; while (!came) sched_yield();",
    }
    .holds();
}

#[test]
fn the_lock_of_a_file() {
    HandOff {
        globals: "static int sent;",
        setup: "",
        send: "flockfile(stdout); sent = 1; funlockfile(stdout);",
        receive: "for (int done = 0; !done;) { flockfile(stdout); done = sent; funlockfile(stdout); }",
    }
    .holds();
}

/// Nobody makes a step while the one who could is asleep in the kernel: whoever
/// waits for a time must be able to go on.
#[test]
fn a_sleeper_goes_on_while_another_is_in_the_kernel() {
    need(&[Need::Program("gcc")]);
    let world = World::new();
    world.write(
        "prog.c",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
         #include <sys/file.h>\n#include <sys/wait.h>\n#include <time.h>\n#include <unistd.h>\n\
         static atomic_int done;\n\
         static void *sleeper(void *ends) {\n\
         usleep(1000); done = 1;\n\
         return write(((int *)ends)[1], \"x\", 1) == 1 ? ends : 0; }\n\
         int main(void) {\n\
         int ends[2]; if (pipe(ends) != 0) return 1;\n\
         // A child that waits for the byte: its end is what main waits for.\n\
         pid_t child = fork();\n\
         if (child == 0) { char byte; _exit(read(ends[0], &byte, 1) == 1 ? 0 : 1); }\n\
         pthread_t thread; pthread_create(&thread, 0, sleeper, ends);\n\
         int status; waitpid(child, &status, 0);\n\
         pthread_join(thread, 0);\n\
         puts(done && status == 0 ? \"ok\" : \"bad\");\n\
         return 0; }\n",
    );
    let ran = CommandResult::of(world.wmfix("gcc").args([
        "check",
        "prog.c",
        "--runs",
        "3",
        "--timeout",
        "20",
        "--format",
        "json",
    ]));
    let report = ran.json();
    assert_eq!(
        (ran.code, &report["verdict"]),
        (Some(0), &"clean".into()),
        "{report}\n{}",
        ran.stderr
    );
}
