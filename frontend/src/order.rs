//! Memory orders as source text names them. Orders are a lattice, not a line:
//! there is no `<` here, because acquire and release cannot be compared.

/// A memory order named in C or C++ text. `consume` reads as [`MemoryOrder::Acquire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrder {
    /// `memory_order_relaxed`
    Relaxed,
    /// `memory_order_acquire`, `memory_order_consume`
    Acquire,
    /// `memory_order_release`
    Release,
    /// `memory_order_acq_rel`
    AcqRel,
    /// `memory_order_seq_cst`
    SeqCst,
}

impl MemoryOrder {
    /// The order's name without any prefix, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcqRel => "acq_rel",
            Self::SeqCst => "seq_cst",
        }
    }

    /// Whether an operation of this order acquires what it reads.
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Whether an operation of this order releases what came before it.
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }

    /// The weakest order that is at least as strong as both.
    pub fn join(self, other: Self) -> Self {
        if self == Self::SeqCst || other == Self::SeqCst {
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
}

#[cfg(test)]
mod tests {
    use super::MemoryOrder::{self, *};

    const ALL: [MemoryOrder; 5] = [Relaxed, Acquire, Release, AcqRel, SeqCst];

    #[test]
    fn join_is_the_least_upper_bound() {
        let at_least = |a: MemoryOrder, b: MemoryOrder| a.join(b) == a;
        for a in ALL {
            for b in ALL {
                let joined = a.join(b);
                assert!(at_least(joined, a) && at_least(joined, b));
                for upper in ALL
                    .into_iter()
                    .filter(|&u| at_least(u, a) && at_least(u, b))
                {
                    assert!(at_least(upper, joined), "{a:?} join {b:?}");
                }
            }
        }
        assert_eq!(Acquire.join(Release), AcqRel);
    }
}
