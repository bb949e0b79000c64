//! The emitted C and C++ sources compile without a warning and run.

use std::path::Path;
use std::process::Command;

use wmfix_tests::litmus::{Program, Rng, Spelling, emit, program, varied, with_plain};
use wmfix_tests::tools::{Need, need};

#[test]
fn every_spelling_compiles() {
    need(&[Need::Program("gcc"), Need::Program("g++")]);
    let everything = program(
        "everything",
        &[
            "x=1.rel; a=y.acq; F.sc; b=fadd(x,1).acqrel; c=xchg(x,2).sc; skipif a 0 1; y=1.rlx; create T3; join T3",
            "d=cas(x,0,1).acqrel.rlx; e=wcas(x,0,1).sc.acq; wait(x!=0).acq; F.acq; F.rel; F.acqrel; skipunless d 1 9; lock m; write p 1; unlock m",
            "bcas(z,0,1).acq; lock m; read p; unlock m; z=0.rel",
        ],
    )
    .unwrap();
    let mut rng = Rng::new(5);
    let mut programs = vec![everything];
    programs.extend((0..6).map(|_| varied(&mut rng)));
    programs.extend((0..6).map(|_| with_plain(&mut rng)));
    let folder = tempfile::tempdir().unwrap();
    for spelling in Spelling::ALL {
        for (n, program) in programs.iter().enumerate() {
            compile(folder.path(), n, program, spelling);
        }
    }
}

#[test]
fn a_program_prints_what_it_did() {
    need(&[Need::Program("gcc"), Need::Program("g++")]);
    let folder = tempfile::tempdir().unwrap();
    let p = program(
        "p",
        &["x=1.rel; a=x.acq; b=fadd(x,2).sc; c=cas(x,3,7).rlx; wait(x==7).acq"],
    )
    .unwrap();
    for spelling in Spelling::ALL {
        let binary = compile(folder.path(), 0, &p, spelling);
        let output = Command::new(binary).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.trim(), "T1.a=1 T1.b=1 T1.c=3 x=7", "{spelling:?}");
    }
}

fn compile(folder: &Path, n: usize, program: &Program, spelling: Spelling) -> std::path::PathBuf {
    let source = folder.join(format!("p{n}.{}", spelling.extension()));
    std::fs::write(&source, emit(program, spelling)).unwrap();
    let binary = folder.join(format!("p{n}"));
    let compiler = if spelling == Spelling::Cpp {
        "g++"
    } else {
        "gcc"
    };
    let output = Command::new(compiler)
        // C17 and C++17 let a failure order be stronger than the success order.
        .args(["-O1", "-pthread", "-Wall", "-Wextra", "-Werror"])
        .args(["-Wno-invalid-memory-model", "-o"])
        .arg(&binary)
        .arg(&source)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{program}{}\n{}",
        emit(program, spelling),
        String::from_utf8_lossy(&output.stderr)
    );
    binary
}
