//! Tests of the model and the libraries: analysis, brute force, frontend,
//! rewriter, repair search. They must not depend on the `wmfix` command.

// For a file of the runtime that `model_spins` includes.
extern crate alloc;
#[macro_use]
extern crate wmfix_test_attribute;

mod cases_corpus;
mod docs_limits;
mod docs_links;
mod examples_build;
mod examples_truth;
mod model_brute;
mod model_emit;
mod model_explore;
mod model_labels;
mod model_long;
mod model_named;
mod model_predict;
mod model_races;
mod model_ranges;
mod model_reference;
mod model_spins;
mod model_truth;
mod model_weak;
mod model_witness;
mod repair_corpus;
mod repair_layers;
mod repair_named;
mod repair_plain;
mod repair_relax;
mod rewriter_compiles;
mod rewriter_execution;
mod rewriter_golden;
mod rewriter_packages;
mod rewriter_relax;
mod sites_broken;
mod sites_corpus;
mod sites_fuzz;
mod sites_parsing;
mod sites_precision;
mod sites_recall;
mod sites_registry;
mod sites_tree;
mod structure_cycles;
mod structure_manifests;
mod structure_map;

use std::path::Path;
use std::process::ExitCode;

use wmfix_tests::harness;

fn main() -> ExitCode {
    harness::run(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/model")))
}
