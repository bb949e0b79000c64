//! A litmus test as a C program that runs it many times and counts the outcome.

use super::build::{Instruction, LitmusTest, Observed};
use super::herd::{name_of, names};

/// How often the program tries.
const ROUNDS: u32 = 100_000;

/// The text.
pub(crate) fn plain(test: &LitmusTest) -> String {
    let names = names(test);
    let count = test.threads.len();
    let mut text = format!(
        "/* {}: counts how often the outcome comes about that no interleaving has.\n   \
         cc -O2 -pthread FILE.c && ./a.out */\n\
         #include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\n",
        test.name
    );
    for name in &names {
        text += &format!("static atomic_ullong {name};\n");
    }
    text += "static pthread_barrier_t barrier;\n";
    for (thread, code) in test.threads.iter().enumerate() {
        for register in registers(code) {
            text += &format!("static unsigned long long p{thread}_r{register};\n");
        }
    }
    for (number, thread) in test.threads.iter().enumerate() {
        text += &format!(
            "\nstatic void *p{number}(void *unused)\n{{\n    for (int i = 0; i < {ROUNDS}; i++) {{\n        \
             pthread_barrier_wait(&barrier);\n"
        );
        for one in thread {
            text += &format!("        {};\n", instruction(one, number, test, &names));
        }
        text += "        pthread_barrier_wait(&barrier);\n    }\n    return unused;\n}\n";
    }
    let resets: Vec<String> = (names.iter().zip(&test.variables))
        .map(|(name, (_, value))| format!("        atomic_store(&{name}, {value}ull);\n"))
        .collect();
    let outcome: Vec<String> = test
        .outcome
        .iter()
        .map(|(observed, value)| match observed {
            Observed::Register(thread, register) => format!("p{thread}_r{register} == {value}ull"),
            Observed::Variable(object) => {
                format!(
                    "atomic_load(&{}) == {value}ull",
                    name_of(object, test, &names)
                )
            }
        })
        .collect();
    let starts: Vec<String> = (0..count)
        .map(|n| format!("    pthread_create(&threads[{n}], 0, p{n}, 0);\n"))
        .collect();
    text += &format!(
        "\nint main(void)\n{{\n    pthread_t threads[{count}];\n    int seen = 0;\n    \
         pthread_barrier_init(&barrier, 0, {});\n{}    for (int i = 0; i < {ROUNDS}; i++) {{\n{}        \
         pthread_barrier_wait(&barrier);\n        pthread_barrier_wait(&barrier);\n        \
         seen += {};\n    }}\n    for (int i = 0; i < {count}; i++)\n        pthread_join(threads[i], 0);\n    \
         printf(\"%d of {ROUNDS}\\n\", seen);\n    return 0;\n}}\n",
        count + 1,
        starts.concat(),
        resets.concat(),
        outcome.join(" && ")
    );
    text
}

fn registers(code: &[Instruction]) -> impl Iterator<Item = usize> {
    code.iter().filter_map(|one| match one {
        Instruction::Load { register, .. } | Instruction::Exchange { register, .. } => {
            Some(*register)
        }
        Instruction::Store { .. } | Instruction::Fence { .. } => None,
    })
}

fn instruction(one: &Instruction, thread: usize, test: &LitmusTest, names: &[String]) -> String {
    match one {
        Instruction::Load {
            register,
            variable,
            order,
        } => format!(
            "p{thread}_r{register} = atomic_load_explicit(&{}, memory_order_{order})",
            name_of(variable, test, names)
        ),
        Instruction::Store {
            variable,
            value,
            order,
        } => format!(
            "atomic_store_explicit(&{}, {value}ull, memory_order_{order})",
            name_of(variable, test, names)
        ),
        Instruction::Exchange {
            register,
            variable,
            value,
            order,
        } => format!(
            "p{thread}_r{register} = atomic_exchange_explicit(&{}, {value}ull, memory_order_{order})",
            name_of(variable, test, names)
        ),
        Instruction::Fence { order } => format!("atomic_thread_fence(memory_order_{order})"),
    }
}
