//! The headers of scenario files, which this binary carries: the wrappers find them
//! without a flag, and `wmfix scenarios --headers` writes them.

/// The headers, by their paths in an include folder.
pub(crate) const SCENARIO_HEADERS: [(&str, &str); 11] = [
    (
        "wmfix/scenarios.h",
        include_str!("../headers/wmfix/scenarios.h"),
    ),
    (
        "wmfix/scenarios.hpp",
        include_str!("../headers/wmfix/scenarios.hpp"),
    ),
    (
        "wmfix/scenarios/declare.h",
        include_str!("../headers/wmfix/scenarios/declare.h"),
    ),
    (
        "wmfix/scenarios/enumerate.h",
        include_str!("../headers/wmfix/scenarios/enumerate.h"),
    ),
    (
        "wmfix/scenarios/judge.h",
        include_str!("../headers/wmfix/scenarios/judge.h"),
    ),
    (
        "wmfix/scenarios/macros.h",
        include_str!("../headers/wmfix/scenarios/macros.h"),
    ),
    (
        "wmfix/scenarios/main.h",
        include_str!("../headers/wmfix/scenarios/main.h"),
    ),
    (
        "wmfix/scenarios/orders.h",
        include_str!("../headers/wmfix/scenarios/orders.h"),
    ),
    (
        "wmfix/scenarios/report.h",
        include_str!("../headers/wmfix/scenarios/report.h"),
    ),
    (
        "wmfix/scenarios/run.h",
        include_str!("../headers/wmfix/scenarios/run.h"),
    ),
    (
        "wmfix/scenarios/scenario.h",
        include_str!("../headers/wmfix/scenarios/scenario.h"),
    ),
];
