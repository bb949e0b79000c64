//! Shards as an array of Slurm: a controller and one node are started for the test,
//! in a folder of their own.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::report_support::{PETERSON, need_tools, wmfix};
use serde_json::Value;
use wmfix_tests::product::{self, CommandResult, World};
use wmfix_tests::tools::{Need, cannot_run, need};

/// A node that has not come up after this long does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The daemons of a cluster with one node; they end with it.
struct Cluster {
    daemons: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The node before the controller, and that before what authenticates them.
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Cluster {
    /// Starts one below a folder, or says why that cannot be done here.
    fn start(folder: &Path) -> Result<Self, String> {
        for name in ["state", "spool"] {
            fs::create_dir_all(folder.join(name)).expect("a folder");
        }
        let configuration = folder.join("slurm.conf");
        fs::write(&configuration, text(folder)).expect("a configuration");
        let key = folder.join("munge.key");
        let made = Command::new("/usr/sbin/mungekey")
            .arg("--create")
            .arg(format!("--keyfile={}", key.display()))
            .output();
        let made = made.map_err(|error| format!("mungekey: {error}"))?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into_owned());
        }
        let mut cluster = Self { daemons: vec![] };
        let option = |name: &str, file: &str| format!("--{name}={}", folder.join(file).display());
        cluster.daemon(
            Command::new("/usr/sbin/munged")
                .args(["--foreground", "--force", "--num-threads=1"])
                .arg(option("key-file", "munge.key"))
                .arg(option("socket", "munge.socket"))
                .arg(option("pid-file", "munged.pid"))
                .arg(option("log-file", "munged.log"))
                .arg(option("seed-file", "munged.seed")),
        )?;
        for name in ["slurmctld", "slurmd"] {
            let mut daemon = Command::new(format!("/usr/sbin/{name}"));
            cluster.daemon(daemon.arg("-D").env("SLURM_CONF", &configuration))?;
        }
        cluster.wait_until_idle(folder, &configuration)?;
        Ok(cluster)
    }

    fn daemon(&mut self, command: &mut Command) -> Result<(), String> {
        command.stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let started = command.spawn();
        self.daemons
            .push(started.map_err(|error| format!("{command:?}: {error}"))?);
        Ok(())
    }

    /// Waits until the node takes jobs.
    fn wait_until_idle(&mut self, folder: &Path, configuration: &Path) -> Result<(), String> {
        let started = Instant::now();
        loop {
            let state = Command::new("sinfo")
                .args(["--noheader", "--format=%T"])
                .env("SLURM_CONF", configuration)
                .output()
                .map_err(|error| format!("sinfo: {error}"))?;
            if state.stdout.trim_ascii() == b"idle" {
                return Ok(());
            }
            let mut daemons = self.daemons.iter_mut();
            let ended = daemons.any(|daemon| !matches!(daemon.try_wait(), Ok(None)));
            if ended || started.elapsed() > PATIENCE {
                let logs = ["munged.log", "slurmctld.log", "slurmd.log"];
                let logs = logs.map(|name| fs::read_to_string(folder.join(name)));
                let logs = logs.map(Result::unwrap_or_default).concat();
                return Err(format!("Slurm does not start here: {logs}"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// The configuration of a cluster whose only node is this machine.
fn text(folder: &Path) -> String {
    let said = |program: &str, option: &str| {
        let output = CommandResult::well(Command::new(program).arg(option));
        output.stdout.trim().to_owned()
    };
    let (host, user) = (said("hostname", "-s"), said("id", "-un"));
    let ports = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let [controller, node] = ports.map(|port| port.local_addr().expect("a port").port());
    let folder = folder.display();
    format!(
        "ClusterName=one\nSlurmctldHost={host}(127.0.0.1)\n\
         SlurmctldPort={controller}\nSlurmdPort={node}\n\
         SlurmUser={user}\nSlurmdUser={user}\n\
         AuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\nCredType=cred/munge\n\
         StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n\
         SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd.pid\n\
         SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
         JobAcctGatherType=jobacct_gather/none\nReturnToService=2\n\
         DependencyParameters=kill_invalid_depend\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
         PartitionName=main Nodes={host} Default=YES State=UP\n"
    )
}

#[test]
fn an_array_of_slurm_gives_the_findings_and_the_repair_of_one_machine() {
    need_tools();
    let package = |path| Need::File(path, "slurm-wlm");
    need(&[
        package("/usr/sbin/slurmctld"),
        package("/usr/sbin/slurmd"),
        package("/usr/bin/sbatch"),
        Need::File("/usr/sbin/mungekey", "munge"),
    ]);
    let world = World::new();
    world.write("peterson.c", PETERSON);
    let alone = wmfix(
        &world,
        "suggest peterson.c --runs 40 --shard 1/1 --shard-dir alone",
    );
    assert_eq!(alone.code, Some(1), "{alone:?}");

    let place = World::new();
    let folder = place.path();
    let _cluster = Cluster::start(folder).unwrap_or_else(|why| cannot_run(why));
    // As docs/scaling.md has it. The first task of an array is not always 0.
    world.write(
        "job",
        "#!/bin/sh\n#SBATCH --array=3-5\n#SBATCH --output=/dev/null\ncd \"$SLURM_SUBMIT_DIR\"\n\
         \"$WMFIX\" suggest peterson.c --runs 40 --jobs 1 --shard-dir shards || test $? = 1\n",
    );
    let slurm = |program: &str| {
        let mut command = world.command(program);
        command
            .env("SLURM_CONF", folder.join("slurm.conf"))
            .env("WMFIX", product::wmfix())
            .env("WMFIX_REAL_CC", "gcc");
        command
    };
    let submitted = slurm("sbatch").args(["--parsable", "job"]).output();
    let submitted = CommandResult::from(submitted.expect("sbatch"));
    assert_eq!(submitted.code, Some(0), "{submitted:?}");
    let dependency = format!("--dependency=afterok:{}", submitted.stdout.trim());
    let merged = CommandResult::of(
        slurm("srun")
            .args(["--quiet", &dependency])
            .arg(product::wmfix())
            .args(["merge", "shards", "--format", "json"]),
    );
    let logs = || fs::read_to_string(folder.join("slurmd.log"));
    assert_eq!(merged.code, Some(1), "{merged:?} {:?}", logs());
    assert_eq!(
        fs::read_dir(world.path().join("shards"))
            .expect("it")
            .count(),
        3
    );
    let one = wmfix(&world, "merge alone --format json");
    let without_seconds = |mut report: Value| {
        report["runs"]["seconds"].take();
        report
    };
    assert_eq!(without_seconds(merged.json()), without_seconds(one.json()));
}
