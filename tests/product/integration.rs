//! wmfix where people already work: a commit hook of pre-commit, a ctest, the
//! scripts of CI systems, manual pages, a browser.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::report_support::{STORE_BUFFERING, TWO_CAUSES, need_tools, wmfix};
use wmfix_tests::product::{self, CommandResult, World};
use wmfix_tests::project::root;
use wmfix_tests::tools::{Need, need};

/// The same with nothing to find.
fn repaired() -> String {
    STORE_BUFFERING.replace("relaxed", "seq_cst")
}

/// A command in a world that finds wmfix on its PATH.
fn with_wmfix(world: &World, program: &str) -> Command {
    let mut command = world.command(program);
    let folder = product::wmfix().parent().expect("a folder");
    let path = std::env::var("PATH").expect("a PATH");
    command.env("PATH", format!("{}:{path}", folder.display()));
    command.env("WMFIX_REAL_CC", "gcc");
    command
}

fn git(world: &World, words: &[&str]) {
    CommandResult::well(
        world
            .command("git")
            .args(["-c", "user.name=x", "-c", "user.email=x@y"])
            .args(words),
    );
}

fn git_in(world: &World, folder: &Path, words: &[&str]) {
    let mut all = vec!["-C", folder.to_str().expect("a name")];
    all.extend(words);
    git(world, &all);
}

fn script(world: &World, name: &str, text: &str) -> PathBuf {
    let path = world.write(name, text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script");
    path
}

#[test]
fn a_hook_checks_only_if_a_file_with_atomics_changes() {
    need_tools();
    let world = World::new();
    world.write("sb.c", STORE_BUFFERING);
    world.write("plain.c", "int plain(void) { return 1; }\n");
    // Whatever takes time would build something first.
    let none = wmfix(&world, "hook plain.c");
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""), "{none:?}");
    let found = wmfix(&world, "hook --runs 20 plain.c sb.c");
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.stdout.contains("sb.c:"), "{found:?}");
    let bad = wmfix(&world, "hook --no-such-option sb.c");
    assert_eq!(bad.code, Some(2), "{bad:?}");
}

/// pre-commit installs a hook of `language: rust` by `cargo install --path .` in a
/// clone of the hook's repository. A build of that takes minutes, so `cargo` here
/// asks the real one whether the root is a package with that program, and then puts
/// the program in place that these tests were built with. With `WMFIX_PRE_COMMIT=build`
/// nothing stands in for anything: the last commit is tagged in a clone, and built.
#[test]
fn pre_commit_installs_the_hook_from_a_tag_and_runs_it() {
    need_tools();
    need(&[Need::Program("pre-commit"), Need::Program("cargo")]);
    let world = World::new();
    let hooks = world.path().join("hooks");
    let builds = std::env::var_os("WMFIX_PRE_COMMIT").is_some_and(|how| how == "build");
    match builds {
        true => clone_of_the_project(&world),
        false => files_that_install(&world, &hooks),
    }
    world.write("project/sb.c", STORE_BUFFERING);
    world.write("project/plain.c", "int plain(void) { return 1; }\n");
    let config = format!(
        "repos:\n  - repo: {}\n    rev: v0.1.0\n    hooks:\n      - id: wmfix-check\n        args: ['--runs', '20']\n",
        hooks.display()
    );
    world.write("project/.pre-commit-config.yaml", &config);
    let project = world.path().join("project");
    git_in(&world, &project, &["init", "-q"]);
    git_in(&world, &project, &["add", "-A"]);
    let pre_commit = |file: &str| {
        let path = std::env::var("PATH").expect("a PATH");
        let mut command = world.command("pre-commit");
        command
            .current_dir(&project)
            .args(["run", "--verbose", "--files", file])
            .env("PRE_COMMIT_HOME", world.path().join("pre-commit"))
            .env(
                "PATH",
                format!("{}:{path}", world.path().join("bin").display()),
            )
            .env("REAL_CARGO", env!("CARGO"))
            .env("WMFIX", product::wmfix())
            .env("WMFIX_REAL_CC", "gcc");
        CommandResult::of(&mut command)
    };
    let found = pre_commit("sb.c");
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(found.stdout.contains("stale value"), "{found:?}");
    let plain = pre_commit("plain.c");
    assert_eq!(plain.code, Some(0), "{plain:?}");
    world.write("project/sb.c", &repaired());
    git_in(&world, &project, &["add", "-A"]);
    let clean = pre_commit("sb.c");
    assert_eq!(clean.code, Some(0), "{clean:?}");
    if builds {
        let installed = world.path().join("pre-commit");
        let built = CommandResult::well(world.command("find").arg(installed).args([
            "-path",
            "*/bin/wmfix-hook",
            "-type",
            "f",
        ]));
        assert_eq!(built.stdout.lines().count(), 1, "it was built: {built:?}");
    }
}

/// A repository with the last commit of this project as a release.
fn clone_of_the_project(world: &World) {
    let project = root();
    let project = project.to_str().expect("a name");
    git(world, &["clone", "-q", "--no-local", project, "hooks"]);
    git_in(world, &world.path().join("hooks"), &["tag", "v0.1.0"]);
}

/// A repository with as much of this project as installing asks for, and a `cargo` that
/// installs without building.
fn files_that_install(world: &World, hooks: &Path) {
    fs::create_dir_all(hooks.join("suggest/src")).expect("a folder");
    for file in [
        "Cargo.toml",
        ".pre-commit-hooks.yaml",
        "suggest/Cargo.toml",
        "suggest/src/main.rs",
    ] {
        fs::copy(root().join(file), hooks.join(file)).expect("a file of the project");
    }
    git_in(world, hooks, &["init", "-q"]);
    git_in(world, hooks, &["add", "-A"]);
    git_in(world, hooks, &["commit", "-qm", "hooks"]);
    git_in(world, hooks, &["tag", "v0.1.0"]);
    let cargo = "#!/bin/sh\n\
        if [ \"$1\" != install ]; then exec \"$REAL_CARGO\" \"$@\"; fi\n\
        [ \"$*\" = \"install --bins --root $4 --path .\" ] || { echo \"unexpected: $*\"; exit 1; }\n\
        # As cargo says it for a virtual manifest.\n\
        grep -q '^\\[package\\]' Cargo.toml || { echo 'found a virtual manifest'; exit 1; }\n\
        name=$(sed -n '/^\\[\\[bin\\]\\]/,/^$/s/^name = \"\\(.*\\)\"/\\1/p' Cargo.toml)\n\
        mkdir -p \"$4/bin\" && ln -s \"$WMFIX\" \"$4/bin/$name\"\n";
    script(world, "bin/cargo", cargo);
}

#[test]
fn the_root_is_a_package_that_cargo_can_install() {
    let metadata = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    let metadata: serde_json::Value =
        serde_json::from_slice(&metadata.stdout).expect("metadata is JSON");
    let manifest = root().join("Cargo.toml");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages
        .iter()
        .find(|package| package["manifest_path"].as_str() == manifest.to_str())
        .expect("a package in the root");
    let programs: Vec<&str> = package["targets"]
        .as_array()
        .expect("targets")
        .iter()
        .filter(|target| target["kind"][0] == "bin")
        .filter_map(|target| target["name"].as_str())
        .collect();
    assert_eq!(programs, ["wmfix-hook"]);
    let hooks = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("the hooks");
    assert!(hooks.contains("entry: wmfix-hook hook\n"), "{hooks}");
}

#[test]
fn a_cmake_project_has_its_checks_as_tests() {
    need_tools();
    need(&[Need::Program("cmake"), Need::Program("ctest")]);
    let world = World::new();
    let module = root().join("integrations/cmake/wmfix.cmake");
    world.write(
        "CMakeLists.txt",
        &format!(
            "cmake_minimum_required(VERSION 3.13)\nproject(t C)\nenable_testing()\n\
             find_package(Threads REQUIRED)\ninclude({})\n\
             foreach(name bad good)\n  add_executable(${{name}} ${{name}}.c)\n  \
             target_link_libraries(${{name}} Threads::Threads)\n  \
             wmfix_add_check(${{name}} RUNS 20 OPTIONS --seed 3)\nendforeach()\n",
            module.display()
        ),
    );
    world.write("bad.c", STORE_BUFFERING);
    world.write("good.c", &repaired());
    CommandResult::well(with_wmfix(&world, "cmake").args(["-S", ".", "-B", "build"]));
    let tested = CommandResult::of(with_wmfix(&world, "ctest").args([
        "--test-dir",
        "build",
        "--output-on-failure",
    ]));
    let line = |name: &str| {
        let mut lines = tested.stdout.lines();
        let line = lines.find(|line| line.contains(&format!(": {name} .")));
        line.unwrap_or_else(|| panic!("no {name}: {tested:?}"))
            .to_owned()
    };
    assert!(line("wmfix.bad").contains("Failed"), "{tested:?}");
    assert!(line("wmfix.good").contains("Passed"), "{tested:?}");
    assert!(
        tested.stdout.contains("may return a stale value"),
        "{tested:?}"
    );
}

/// The lines of docs/integration.md, in a real project.
#[test]
fn a_meson_project_has_its_checks_as_tests() {
    need_tools();
    need(&[Need::Program("meson"), Need::Program("ninja")]);
    let page = fs::read_to_string(root().join("docs/integration.md")).expect("the page");
    let (_, rest) = page.split_once("## Meson\n").expect("its part");
    let lines = rest.lines().skip_while(|line| !line.starts_with("    "));
    let lines = lines.map_while(|line| line.strip_prefix("    "));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() < 8, "{lines:?}");
    let world = World::new();
    let programs = ["bad", "good"].map(|name| {
        let lines = lines.join("\n").replace("queue_test", name);
        format!("executable('{name}', '{name}.c', dependencies: dependency('threads'))\n{lines}\n")
    });
    world.write(
        "meson.build",
        &format!("project('t', 'c')\n{}", programs.concat()),
    );
    world.write("bad.c", STORE_BUFFERING);
    world.write("good.c", &repaired());
    CommandResult::well(with_wmfix(&world, "meson").args(["setup", "build"]));
    let tested = CommandResult::of(with_wmfix(&world, "meson").args([
        "test",
        "-C",
        "build",
        "--suite",
        "wmfix",
        "--print-errorlogs",
    ]));
    let line = |name: &str| {
        let mut lines = tested.stdout.lines();
        let line = lines.find(|line| line.contains(&format!("wmfix.{name} ")));
        line.unwrap_or_else(|| panic!("no {name}: {tested:?}"))
            .to_owned()
    };
    assert!(line("bad").contains("FAIL"), "{tested:?}");
    assert!(line("good").contains("OK"), "{tested:?}");
    assert!(tested.stdout.contains("stale value"), "{tested:?}");
}

#[test]
fn the_script_of_the_github_action_leaves_a_report_to_upload() {
    need_tools();
    let world = World::new();
    world.write("sb.c", STORE_BUFFERING);
    world.write("good.c", &repaired());
    let check = root().join("integrations/github/check.sh");
    let run = |path: &str| {
        let _ = fs::remove_file(world.path().join("output"));
        let mut command = with_wmfix(&world, check.to_str().expect("a name"));
        command
            .env("WMFIX_PATH", path)
            .env("WMFIX_OPTIONS", "--runs 20")
            .env("WMFIX_SARIF", "out.sarif")
            .env("GITHUB_OUTPUT", "output");
        let ran = CommandResult::of(&mut command);
        let said = fs::read_to_string(world.path().join("output")).expect("outputs");
        (ran.code, said)
    };
    let (code, said) = run("sb.c");
    assert_eq!(
        (code, said.as_str()),
        (Some(1), "sarif=out.sarif\nstatus=1\n")
    );
    let log = fs::read_to_string(world.path().join("out.sarif")).expect("the report");
    let log: serde_json::Value = serde_json::from_str(&log).expect("SARIF is JSON");
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(
        run("good.c"),
        (Some(0), "sarif=out.sarif\nstatus=0\n".to_owned())
    );
    assert_eq!(run("nothing.c"), (Some(2), "status=2\n".to_owned()));
    let action = fs::read_to_string(root().join("action.yml")).expect("the action");
    assert!(action.contains("integrations/github/check.sh"), "{action}");
}

#[test]
fn the_script_of_the_gitlab_template_leaves_code_quality_and_sarif() {
    need_tools();
    let world = World::new();
    world.write("sb.c", STORE_BUFFERING);
    let template = fs::read_to_string(root().join("integrations/gitlab/wmfix.yml")).expect("it");
    let (_, rest) = template.split_once("  script:\n").expect("a script");
    let lines = rest.lines().map_while(|line| line.strip_prefix("    - "));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 1, "{template}");
    let run = |path: &str| {
        let mut shell = with_wmfix(&world, "sh");
        shell
            .args(["-ec", &lines.join("\n")])
            .env("WMFIX_PATH", path)
            .env("WMFIX_OPTIONS", "--runs 20");
        CommandResult::of(&mut shell)
    };
    let report = |name: &str| -> serde_json::Value {
        assert!(template.contains(&format!("      - {name}\n")), "{name}");
        let text = fs::read_to_string(world.path().join(name)).expect("a report");
        serde_json::from_str(&text).expect("JSON")
    };
    let ran = run("sb.c");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    // What the log of the job has is for people.
    assert!(ran.stdout.contains("may return a stale value"), "{ran:?}");
    let quality = report("gl-code-quality-report.json");
    assert_eq!(quality.as_array().map(Vec::len), Some(2), "{quality}");
    let log = report("wmfix.sarif");
    let results = log["runs"][0]["results"].as_array().map(Vec::len);
    assert_eq!(results, Some(2), "{log}");
    world.write("sb.c", &repaired());
    let ran = run("sb.c");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(report("gl-code-quality-report.json"), serde_json::json!([]));
}

#[test]
fn the_manual_has_its_sections_and_help_its_pages() {
    need(&[Need::Program("man")]);
    let world = World::new();
    let page = CommandResult::well(world.wmfix("gcc").arg("man")).stdout;
    world.write("wmfix.1", &page);
    let shown = CommandResult::well(
        world
            .command("man")
            .args(["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "./wmfix.1"])
            .env("MANWIDTH", "80"),
    );
    assert_eq!(shown.stderr, "", "roff has no mistakes");
    for section in ["EXAMPLES", "EXIT STATUS", "FILES", "ENVIRONMENT"] {
        assert!(
            page.contains(&format!(".SH {section}\n"))
                || page.contains(&format!(".SH \"{section}\"\n")),
            "{section}"
        );
    }
    let listed = wmfix(&world, "help").stdout;
    for topic in [
        "configuration",
        "reports",
        "limits",
        "scaling",
        "integration",
    ] {
        assert!(listed.contains(&format!("\n  {topic} ")), "{listed}");
        let told = wmfix(&world, &format!("help {topic}"));
        let page = fs::read_to_string(root().join(format!("docs/{topic}.md"))).expect("a page");
        assert_eq!((told.code, told.stdout), (Some(0), page));
    }
    assert!(wmfix(&world, "help check").stdout.contains("--baseline"));
    let unknown = wmfix(&world, "help limit");
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(
        unknown.stderr.contains("did you mean limits"),
        "{unknown:?}"
    );
}

#[test]
fn a_browser_shows_the_page_at_two_widths_without_errors() {
    need_tools();
    need(&[Need::Program("chromium")]);
    let world = World::new();
    world.write("two.c", TWO_CAUSES);
    let suggested = wmfix(&world, "suggest two.c --runs 20 --output out");
    assert_eq!(suggested.code, Some(1), "{suggested:?}");
    let page = world.path().join("out/report.html");
    let text = fs::read_to_string(&page).expect("the page");
    assert!(!text.contains('`'), "names are code: {text}");
    for width in [1200, 400] {
        // The page has no scripts. One that is put in measures it: whether anything
        // is wider than the window, and whether every arrow has its head.
        let measure = "<script>window.onload=()=>{const d=document;\
            const arrows=[...d.querySelectorAll('path.edge,path.miss')];\
            const heads=arrows.filter(a=>d.querySelector(a.getAttribute('marker-end').slice(4,-1))).length;\
            const ids=[...d.querySelectorAll('a[href^=\"#\"]')].filter(a=>!d.getElementById(a.getAttribute('href').slice(1))).length;\
            d.body.setAttribute('data-measured',[d.documentElement.scrollWidth<=innerWidth+1,arrows.length,heads,d.querySelectorAll('details[open] svg').length,ids,d.getElementById('overview').getBoundingClientRect().width<=innerWidth].join(' '));};</script>";
        world.write(
            "measured.html",
            &text.replace("</head>", &format!("{measure}</head>")),
        );
        let mut chromium = world.command("chromium");
        chromium
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
            ])
            .arg(format!(
                "--user-data-dir={}",
                world.path().join("profile").display()
            ))
            .arg(format!("--window-size={width},900"))
            .args(["--virtual-time-budget=2000", "--dump-dom"])
            .arg(format!(
                "file://{}",
                world.path().join("measured.html").display()
            ));
        let shown = CommandResult::well(&mut chromium);
        assert!(!shown.stderr.contains("CONSOLE"), "{}", shown.stderr);
        let (_, rest) = shown
            .stdout
            .split_once("data-measured=\"")
            .expect("it was measured");
        let (measured, _) = rest.split_once('"').expect("its end");
        let words: Vec<&str> = measured.split(' ').collect();
        assert_eq!(
            words[0], "true",
            "{width}: wider than the window: {measured}"
        );
        assert_eq!(
            words[1], words[2],
            "{width}: arrows without heads: {measured}"
        );
        // Two violations and a race, each with its drawing open.
        assert_eq!(words[3], "3", "{measured}");
        assert_eq!(words[4], "0", "links to nowhere: {measured}");
        assert_eq!(
            words[5], "true",
            "{width}: the table is cut off: {measured}"
        );
    }
}

/// cargo-deb packages what a release build left; here that is the command that these
/// tests were built with, which spares a build of minutes.
#[test]
fn a_debian_package_has_all_that_an_installed_wmfix_needs() {
    need_tools();
    need(&[
        Need::Program("cargo-deb"),
        Need::Program("dpkg-deb"),
        Need::Program("dpkg"),
    ]);
    let world = World::new();
    let release = world.path().join("target/release");
    fs::create_dir_all(&release).expect("a folder");
    fs::copy(product::wmfix(), release.join("wmfix")).expect("the command");
    // With the environment that cargo has, or it does not find its toolchain.
    let made = Command::new(root().join("packaging/deb"))
        .args(["--no-build", "--offline", "--fast", "--no-strip", "--quiet"])
        .arg("--output")
        .arg(world.path().join("wmfix.deb"))
        .env("CARGO_TARGET_DIR", world.path().join("target"))
        .output()
        .expect("a shell");
    assert!(made.status.success(), "{made:?}");
    let package = world.path().join("wmfix.deb");
    let package = package.to_str().expect("a name");
    // Installed into a system of its own, which has nothing else.
    for folder in ["info", "updates", "triggers"] {
        let folder = world.path().join("system/var/lib/dpkg").join(folder);
        fs::create_dir_all(folder).expect("a folder");
    }
    world.write("system/var/lib/dpkg/status", "");
    let root_folder = format!("--root={}", world.path().join("system").display());
    let dpkg = |words: &[&str]| {
        let mut command = world.command("dpkg");
        command.args([&root_folder, "--force-depends", "--force-not-root"]);
        CommandResult::well(command.args(words))
    };
    let is_root = CommandResult::well(world.command("id").arg("-u")).stdout == "0\n";
    match is_root {
        true => dpkg(&["-i", package]),
        // Others may not give files to root, as installing does.
        false => CommandResult::well(world.command("dpkg-deb").args(["-x", package, "system"])),
    };
    let system = world.path().join("system/usr");
    for file in [
        "share/man/man1/wmfix.1.gz",
        "share/bash-completion/completions/wmfix",
        "share/doc/wmfix/copyright",
        "share/doc/wmfix/README.md",
        "share/doc/wmfix/limits.md",
    ] {
        assert!(system.join(file).is_file(), "{file}");
    }
    let fields = CommandResult::well(
        world
            .command("dpkg-deb")
            .args(["-f", package, "Package", "Version"]),
    );
    assert_eq!(
        fields.stdout,
        format!("Package: wmfix\nVersion: {}\n", env!("CARGO_PKG_VERSION"))
    );
    // Used as it is there, the wrappers by their names.
    world.write("sb.c", STORE_BUFFERING);
    let built = world
        .command(system.join("bin/wmfix-cc"))
        .env("WMFIX_REAL_CC", "gcc")
        .args(["-o", "sb", "sb.c", "-pthread"])
        .output();
    assert!(built.expect("the wrapper").status.success());
    let ran = CommandResult::of(
        world
            .command(system.join("bin/wmfix"))
            .args(["run", "--runs", "20", "--", "./sb"]),
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let suggested = CommandResult::of(
        world
            .command(system.join("bin/wmfix"))
            .args(["suggest", "sb.c", "--runs", "20"]),
    );
    assert!(suggested.stdout.starts_with("diff --git"), "{suggested:?}");
    if is_root {
        dpkg(&["-r", "wmfix"]);
        assert!(!system.join("bin/wmfix").exists(), "removed");
    }
}
