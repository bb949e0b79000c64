//! Memory orders, one type per kind of operation, so that an impossible label
//! (an acquire store) cannot be built. None of them has `<`: acquire and
//! release cannot be compared. `join` is the least upper bound.

/// Order of a load, and of a compare-exchange that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadOrder {
    /// No ordering beyond coherence.
    Relaxed,
    /// Also `memory_order_consume`.
    Acquire,
    /// Acquire, and part of the order of all SC events.
    SeqCst,
}

/// Order of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreOrder {
    /// No ordering beyond coherence.
    Relaxed,
    /// Publishes what its thread knows.
    Release,
    /// Release, and part of the order of all SC events.
    SeqCst,
}

/// Order of a read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwOrder {
    /// No ordering beyond coherence and atomicity.
    Relaxed,
    /// The read acquires.
    Acquire,
    /// The write releases.
    Release,
    /// Both.
    AcqRel,
    /// Both, and part of the order of all SC events.
    SeqCst,
}

/// Order of a thread fence. A relaxed fence does nothing and has no place here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FenceOrder {
    /// Earlier relaxed reads acquire.
    Acquire,
    /// Later relaxed writes release.
    Release,
    /// Both.
    AcqRel,
    /// Both, and part of the order of all SC events.
    SeqCst,
}

impl LoadOrder {
    /// The name in C without `memory_order_`: what reports print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::SeqCst => "seq_cst",
        }
    }

    /// Whether the load acquires.
    pub fn acquires(self) -> bool {
        self != Self::Relaxed
    }

    /// Whether the load is an SC event.
    pub fn is_sc(self) -> bool {
        self == Self::SeqCst
    }

    /// The weakest order at least as strong as both.
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::SeqCst, _) | (_, Self::SeqCst) => Self::SeqCst,
            (Self::Acquire, _) | (_, Self::Acquire) => Self::Acquire,
            _ => Self::Relaxed,
        }
    }
}

impl StoreOrder {
    /// The name in C without `memory_order_`: what reports print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::Release => "release",
            Self::SeqCst => "seq_cst",
        }
    }

    /// Whether the store releases.
    pub fn releases(self) -> bool {
        self != Self::Relaxed
    }

    /// Whether the store is an SC event.
    pub fn is_sc(self) -> bool {
        self == Self::SeqCst
    }

    /// The weakest order at least as strong as both.
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::SeqCst, _) | (_, Self::SeqCst) => Self::SeqCst,
            (Self::Release, _) | (_, Self::Release) => Self::Release,
            _ => Self::Relaxed,
        }
    }
}

impl RmwOrder {
    /// The name in C without `memory_order_`: what reports print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcqRel => "acq_rel",
            Self::SeqCst => "seq_cst",
        }
    }

    /// Whether the read half acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Whether the write half releases.
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }

    /// Whether the operation is an SC event.
    pub fn is_sc(self) -> bool {
        self == Self::SeqCst
    }

    /// The weakest order at least as strong as both.
    pub fn join(self, other: Self) -> Self {
        if self.is_sc() || other.is_sc() {
            return Self::SeqCst;
        }
        let acquires = self.acquires() || other.acquires();
        let releases = self.releases() || other.releases();
        match (acquires, releases) {
            (false, false) => Self::Relaxed,
            (true, false) => Self::Acquire,
            (false, true) => Self::Release,
            (true, true) => Self::AcqRel,
        }
    }

    /// What remains of the order when the operation only reads.
    pub fn read_half(self) -> LoadOrder {
        match self {
            Self::Relaxed | Self::Release => LoadOrder::Relaxed,
            Self::Acquire | Self::AcqRel => LoadOrder::Acquire,
            Self::SeqCst => LoadOrder::SeqCst,
        }
    }
}

impl FenceOrder {
    /// The name in C without `memory_order_`: what reports print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcqRel => "acq_rel",
            Self::SeqCst => "seq_cst",
        }
    }

    /// Whether earlier relaxed reads acquire.
    pub fn acquires(self) -> bool {
        self != Self::Release
    }

    /// Whether later relaxed writes release.
    pub fn releases(self) -> bool {
        self != Self::Acquire
    }

    /// Whether the fence is an SC event.
    pub fn is_sc(self) -> bool {
        self == Self::SeqCst
    }

    /// The weakest order at least as strong as both.
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::SeqCst, _) | (_, Self::SeqCst) => Self::SeqCst,
            _ if self == other => self,
            _ => Self::AcqRel,
        }
    }
}
