//! What a wmfix.toml may say, and what is said about one that is wrong.

use std::fs;
use std::path::Path;

use wmfix_tests::fuzzing::fuzz;

use super::*;

fn parsed(text: &str) -> Result<ProjectConfig, ConfigError> {
    ProjectConfig::parse(text, Path::new("/project/wmfix.toml"))
}

fn mistake(text: &str) -> String {
    parsed(text).unwrap_err().to_string()
}

#[test]
fn the_documented_file_says_what_the_documentation_says() {
    let page = include_str!("../../../docs/configuration.md");
    let block = page.split("```toml\n").nth(1).unwrap();
    let config = parsed(block.split("```").next().unwrap()).unwrap();
    assert_eq!(config.build.system, Some(BuildSystem::Cmake));
    assert_eq!(config.build.configure, ["-DBUILD_TESTING=ON"]);
    assert_eq!(
        config.test.command,
        Some(CommandText::Shell("ctest -L queues".to_owned()))
    );
    assert_eq!(config.test.timeout, Some(Seconds(20.0)));
    assert_eq!(config.run.runs, NonZeroU64::new(200));
    assert_eq!(config.run.strategy, Some(Strategy::Random));
    assert_eq!(config.repair.cost, Some(Cost::Arm64));
    assert_eq!(config.exclude, ["third_party/", "*.bin"]);
    assert!(config.vocabularies.get("foo").is_some());
    let [allow] = &config.allow[..] else {
        panic!("{:?}", config.allow)
    };
    assert!(allow.file.matches(Path::new("src/stats.c")));
    assert!(!allow.file.matches(Path::new("src/deep/stats.c")));
    assert_eq!(allow.kind, Some(AllowedKind::StaleRead));
    assert_eq!(allow.function.as_deref(), Some("stats_count"));
}

#[test]
fn every_key_is_documented() {
    let page = include_str!("../../../docs/configuration.md");
    // An unknown key makes the reader list those that it knows.
    let sections = [
        ("", "zzz = 1"),
        ("build", "[build]\nzzz = 1"),
        ("test", "[test]\nzzz = 1"),
        ("run", "[run]\nzzz = 1"),
        ("repair", "[repair]\nzzz = 1"),
        ("allow", "[[allow]]\nzzz = 1"),
    ];
    for (section, text) in sections {
        let error = toml::from_str::<ConfigText>(text).unwrap_err();
        let keys: Vec<&str> = error.message().split('`').skip(3).step_by(2).collect();
        assert!(!keys.is_empty(), "{error}");
        for key in keys {
            let shown = match section {
                "" => format!("`{key}`"),
                section => format!("`{section}.{key}`"),
            };
            let as_section = format!("[{key}]");
            let known = page.contains(&shown) || section.is_empty() && page.contains(&as_section);
            assert!(known, "{shown} is not in docs/configuration.md");
        }
    }
}

#[test]
fn a_mistake_has_its_line_its_key_and_what_was_meant() {
    let cases = [
        (
            "[run]\nruns = 10\nstratgy = \"pct\"\n",
            "/project/wmfix.toml:3: unknown key `stratgy` in [run]: did you mean `strategy`?",
        ),
        (
            "\nexlude = []\n",
            "/project/wmfix.toml:2: unknown key `exlude`: did you mean `exclude`?",
        ),
        (
            "[run]\nstrategy = \"ptc\"\n",
            "/project/wmfix.toml:2: unknown value `ptc` for `run.strategy`: did you mean `pct`?",
        ),
        (
            "[run]\nruns = 0\n",
            "/project/wmfix.toml:2: `run.runs`: invalid value: integer `0`, expected a nonzero u64",
        ),
        (
            "[run]\ntime = -1\n",
            "/project/wmfix.toml:2: `run.time`: must be a positive number of seconds",
        ),
        (
            "[test]\nargs = \"one\"\n",
            "/project/wmfix.toml:2: `test.args`: invalid type: string \"one\", expected a sequence",
        ),
        (
            "[test]\ncommand = 7\n",
            "/project/wmfix.toml:2: `test.command`: must be a shell command or a list of words",
        ),
        (
            "exclude = [\"a\", \"b[\"]\n",
            "/project/wmfix.toml:1: `exclude`: invalid path pattern",
        ),
        (
            "[[allow]]\nfile = \"a.c\"\n",
            "/project/wmfix.toml:1: `allow`: missing key `reason`",
        ),
        (
            "[[allow]]\nfile = \"a.c\"\nreason = \" \"\n",
            "/project/wmfix.toml:3: `allow.reason`: must not be empty",
        ),
        (
            "[[allow]]\nfile = \"a.c\"\nreason = \"x\"\nkind = \"stale\"\n",
            "/project/wmfix.toml:4: unknown value `stale` for `allow.kind`: did you mean `stale-",
        ),
        (
            "\n\n[[vocabulary]]\nname = \"foo\"\nstile = \"suffix\"\n",
            "/project/wmfix.toml:5: unknown key `stile` in [vocabulary]: did you mean `style`?",
        ),
        ("[run\n", "/project/wmfix.toml:1: "),
    ];
    for (text, expected) in cases {
        let message = mistake(text);
        assert!(
            message.starts_with(expected),
            "{message}\nexpected: {expected}"
        );
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn a_file_is_found_upwards_to_the_repositorys_root() {
    let outer = tempfile::tempdir().unwrap();
    let outer = outer.path().canonicalize().unwrap();
    let deep = outer.join("repository/src/deep");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir(outer.join("repository/.git")).unwrap();
    fs::write(deep.join("a.c"), "").unwrap();
    fs::write(outer.join(FILE_NAME), "").unwrap();
    assert_eq!(find(&deep), None, "outside of the repository");
    let root = outer.join("repository").join(FILE_NAME);
    fs::write(&root, "").unwrap();
    assert_eq!(find(&deep), Some(root.clone()));
    assert_eq!(find(&deep.join("a.c")), Some(root));
    let near = deep.join(FILE_NAME);
    fs::write(&near, "").unwrap();
    assert_eq!(find(&deep), Some(near.clone()));
    let config = ProjectConfig::about(&deep).unwrap();
    assert_eq!(config.file, Some(near));
}

#[test]
fn an_empty_file_says_what_no_file_says() {
    let config = parsed("").unwrap();
    let none = ProjectConfig::none(Path::new("/project"));
    assert_eq!(config.build, none.build);
    assert_eq!(config.test, none.test);
    assert_eq!(config.run, none.run);
    assert_eq!(config.repair, none.repair);
    assert!(config.exclude.is_empty() && config.allow.is_empty());
}

/// The keys that a section takes, as the reader itself says.
fn keys_of(section: &str, list: bool) -> Vec<String> {
    let text = match (section, list) {
        ("", _) => "no_such_key = 1".to_owned(),
        (section, false) => format!("[{section}]\nno_such_key = 1"),
        (section, true) => format!("[[{section}]]\nno_such_key = 1"),
    };
    let error = toml::from_str::<ConfigText>(&text).expect_err("no such key");
    let (_, expected) = error
        .message()
        .split_once("expected ")
        .expect("a list of keys");
    let keys = expected.split('`').skip(1).step_by(2);
    keys.map(str::to_owned).collect()
}

#[test]
fn every_key_is_in_the_reference_and_in_a_new_file() {
    let reference = include_str!("../../../docs/configuration.md");
    let template = template(&TemplateValues {
        found: "",
        system: "# system = \"none\"",
        test_command: "",
        vocabulary: "",
    });
    let sections = keys_of("", false);
    assert!(sections.contains(&"run".to_owned()), "{sections:?}");
    for section in sections {
        let keys = match section.as_str() {
            // A list of names, and a section with a page of its own.
            "exclude" | "vocabulary" => {
                assert!(reference.contains(&section), "{section}");
                continue;
            }
            "allow" => keys_of("allow", true),
            section => keys_of(section, false),
        };
        for key in keys {
            let named = format!("`{section}.{key}`");
            assert!(reference.contains(&named), "{named} is not documented");
            let line = format!("{key} = ");
            let optional = ["allow.operation"].contains(&&*format!("{section}.{key}"));
            assert!(
                optional || template.contains(&line),
                "{named}: not in the template"
            );
        }
    }
}

/// Whatever is in a wmfix.toml, it is taken or refused with a reason.
#[test]
fn fuzz_wmfix_toml() {
    let page = include_str!("../../../docs/configuration.md");
    let blocks = page.split("```toml\n").skip(1);
    let mut seeds: Vec<Vec<u8>> = blocks
        .filter_map(|block| Some(block.split("```").next()?.as_bytes().to_vec()))
        .collect();
    let other = "exclude = [\"a*\", \"b/{c,d}/**\"]\n[[allow]]\nfile = \"x\"\nreason = \"y\"\n";
    seeds.push(other.as_bytes().to_vec());
    let words = r##"[build] [test] [run] [repair] [[allow]] [vocabulary] command system timeout \
        runs time seed jobs strategy """ ' = { } [ ] ** nan inf \u0000 1979-05-27 #"##;
    let words: Vec<&str> = words.split_whitespace().collect();
    fuzz("wmfix.toml", &seeds, &words, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Err(error) = parsed(&text) {
            assert!(!error.to_string().is_empty());
        }
    });
}

#[test]
fn values_past_every_use_are_refused_with_their_limit() {
    for (text, said) in [
        ("[test]\ncommand = []", "must name a program"),
        ("[test]\ncommand = \" \"", "must name a program"),
        ("[test]\ncommand = [\"\", \"x\"]", "must name a program"),
        ("[test]\ncommand = [\"a\\u0000b\"]", "a NUL"),
        ("[build]\ncommands = [\"cc \\u0000\"]", "a NUL"),
        ("[test]\ntimeout = 1e18", "ten years"),
        ("[run]\ntime = inf", "ten years"),
        ("[run]\ntime = nan", "positive"),
        ("[run]\njobs = 0", "from 1 to 1024"),
        ("[run]\njobs = 18446744073709551615", "jobs"),
        ("[run]\njobs = 100000", "from 1 to 1024"),
    ] {
        let error = mistake(text);
        assert!(error.contains(said), "{text}: {error}");
    }
}
