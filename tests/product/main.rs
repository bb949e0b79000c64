//! Tests of the `wmfix` command as its users have it, and of programs that are
//! built and run with it.

#[macro_use]
extern crate wmfix_test_attribute;

mod attack_bounds;
mod attack_files;
mod attack_fuzz;
mod attack_interrupts;
mod attack_messages;
mod attack_programs;
mod attack_tool;
mod cases;
mod cc_arguments;
mod cc_build_systems;
mod contract;
mod examples_repair;
mod explain_litmus;
mod explore;
mod explore_obstacles;
mod explore_orders;
mod explore_random;
mod fork_server;
mod free_runs;
mod fuzz_programs;
mod harm;
mod harm_cases;
mod harm_litmus;
mod harm_report;
mod integration;
mod load;
mod notice;
mod observe_waits;
mod places;
mod project_builds;
mod project_ctest;
mod project_leads;
mod project_location;
mod project_programs;
mod relax;
mod relax_examples;
mod relax_refusals;
mod report_allocations;
mod report_allow;
mod report_baseline;
mod report_contract;
mod report_exchange;
mod report_output;
mod report_sarif;
mod report_support;
mod run_accesses;
mod run_ended;
mod run_failures;
mod run_findings;
mod run_litmus;
mod run_online;
mod run_os;
mod run_outcomes;
mod run_predict;
mod run_programs;
mod run_steps;
mod run_time;
mod runtime_abi;
mod runtime_copies;
mod runtime_faults;
mod runtime_filter;
mod runtime_random;
mod runtime_schedules;
mod runtime_strings;
mod runtime_waiting;
mod scan;
mod scenarios;
mod shards;
mod shards_explore;
mod shards_slurm;
mod stale_together;
mod suggest_accessors;
mod suggest_fences;
mod suggest_kinds;
mod suggest_litmus;
mod suggest_loop;
mod suggest_macros;
mod suggest_patch;
mod suggest_reasons;
mod suggest_volatile;
mod wait_loops;
mod wrong_use;

use std::path::Path;
use std::process::ExitCode;

use wmfix_tests::{harness, product};

fn main() -> ExitCode {
    product::use_binary(env!("CARGO_BIN_EXE_wmfix"));
    harness::run(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/product"
    )))
}
