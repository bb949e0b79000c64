//! The pieces that random programs are made of, each drawn as a profile wants.

use wmfix_analysis::{
    CasStrength, Comparison, FenceOrder, LoadOrder, LoopExit, RmwOrder, StoreOrder,
};

use super::generate::Profile;
use super::program::{Builder, Instruction, Location, Mutex, Register};
use crate::rng::Rng;

/// A program in the making.
pub(super) struct Draft<'r> {
    /// Where chance comes from.
    pub(super) rng: &'r mut Rng,
    /// What it should look like.
    profile: Profile,
    /// What there is so far.
    pub(super) builder: Builder,
    /// Its locations.
    locations: Vec<Location>,
    /// Its mutex, once there is one.
    mutex: Option<Mutex>,
    /// How many registers there are.
    registers: usize,
}

impl<'r> Draft<'r> {
    pub(super) fn new(rng: &'r mut Rng, profile: &Profile) -> Self {
        let mut builder = Builder::default();
        let locations = ["x", "y", "z", "w"][..profile.locations]
            .iter()
            .map(|name| builder.location(name))
            .collect();
        Self {
            rng,
            profile: *profile,
            builder,
            locations,
            mutex: None,
            registers: 0,
        }
    }

    pub(super) fn location(&mut self) -> Location {
        self.rng.pick(&self.locations)
    }

    fn register(&mut self) -> Register {
        self.registers += 1;
        self.builder.register(&format!("r{}", self.registers))
    }

    /// Between one and this many accesses, with fences.
    pub(super) fn accesses(&mut self, most: usize) {
        for _ in 0..self.rng.range(1, most) {
            self.maybe_fence();
            let location = self.location();
            let access = self.any_access(location);
            self.builder.push(access);
        }
    }

    pub(super) fn any_access(&mut self, location: Location) -> Instruction {
        if self.rng.percent(self.profile.blocking) {
            return if self.rng.percent(50) {
                self.wait(location)
            } else {
                self.blocking_cas(location)
            };
        }
        if self.rng.percent(self.profile.cas) {
            return self.cas(location);
        }
        if self.rng.percent(self.profile.rmw) {
            return self.rmw(location);
        }
        if self.rng.percent(50) {
            self.store(location)
        } else {
            self.load(location)
        }
    }

    /// An access that writes, or one that reads; sometimes one that does both.
    pub(super) fn cycle_access(&mut self, write: bool, location: usize) -> Instruction {
        let location = self.locations[location];
        if self.rng.percent(self.profile.rmw) {
            return match self.rng.below(20) {
                0..15 => self.rmw(location),
                15..18 => self.cas(location),
                _ => self.blocking_cas(location),
            };
        }
        if write {
            self.store(location)
        } else if self.rng.percent(6) {
            self.wait(location)
        } else {
            self.load(location)
        }
    }

    fn store(&mut self, location: Location) -> Instruction {
        Instruction::Store {
            location,
            value: self.rng.pick(&[1, 1, 2]),
            order: if self.rng.percent(self.profile.sc) {
                StoreOrder::SeqCst
            } else if self.rng.percent(self.profile.relaxed) {
                StoreOrder::Relaxed
            } else {
                StoreOrder::Release
            },
        }
    }

    fn load(&mut self, location: Location) -> Instruction {
        Instruction::Load {
            register: self.register(),
            location,
            order: self.load_order(),
        }
    }

    fn rmw(&mut self, location: Location) -> Instruction {
        let (register, order) = (self.register(), self.rmw_order());
        if self.rng.percent(70) {
            Instruction::FetchAdd {
                register,
                location,
                value: self.rng.pick(&[0, 1]),
                order,
            }
        } else {
            Instruction::Exchange {
                register,
                location,
                value: self.rng.pick(&[1, 2]),
                order,
            }
        }
    }

    fn cas(&mut self, location: Location) -> Instruction {
        let success = self.rmw_order();
        Instruction::CompareExchange {
            register: self.register(),
            location,
            expected: self.rng.pick(&[0, 0, 1]),
            desired: self.rng.pick(&[1, 2]),
            success,
            failure: if self.rng.percent(50) {
                success.read_half()
            } else {
                self.load_order()
            },
            strength: self
                .rng
                .pick(&[CasStrength::Strong, CasStrength::Strong, CasStrength::Weak]),
        }
    }

    fn blocking_cas(&mut self, location: Location) -> Instruction {
        let success = self.rmw_order();
        Instruction::BlockingCompareExchange {
            location,
            expected: self.rng.pick(&[0, 0, 1]),
            desired: self.rng.pick(&[1, 2]),
            success,
            failure: success.read_half(),
        }
    }

    fn wait(&mut self, location: Location) -> Instruction {
        let comparison = if self.rng.percent(75) {
            Comparison::Equal
        } else {
            self.rng.pick(&[
                Comparison::NotEqual,
                Comparison::GreaterOrEqual,
                Comparison::Less,
            ])
        };
        Instruction::Wait {
            location,
            exit: LoopExit {
                comparison,
                ..LoopExit::equal(self.rng.pick(&[0, 1, 1, 2]))
            },
            order: self.load_order(),
        }
    }

    fn load_order(&mut self) -> LoadOrder {
        if self.rng.percent(self.profile.sc) {
            LoadOrder::SeqCst
        } else if self.rng.percent(self.profile.relaxed) {
            LoadOrder::Relaxed
        } else {
            LoadOrder::Acquire
        }
    }

    fn rmw_order(&mut self) -> RmwOrder {
        if self.rng.percent(self.profile.sc) {
            RmwOrder::SeqCst
        } else if self.rng.percent(self.profile.relaxed) {
            self.rng
                .pick(&[RmwOrder::Relaxed, RmwOrder::Acquire, RmwOrder::Release])
        } else {
            RmwOrder::AcqRel
        }
    }

    pub(super) fn fence(&mut self) -> Option<Instruction> {
        if self.rng.percent(self.profile.sc_fence) {
            let order = FenceOrder::SeqCst;
            return Some(Instruction::Fence { order });
        }
        if self.rng.percent(self.profile.weak_fence) {
            let order =
                self.rng
                    .pick(&[FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel]);
            return Some(Instruction::Fence { order });
        }
        None
    }

    pub(super) fn some_fence(&mut self) -> Instruction {
        let order = self
            .rng
            .pick(&[FenceOrder::SeqCst, FenceOrder::Acquire, FenceOrder::Release]);
        Instruction::Fence { order }
    }

    pub(super) fn maybe_fence(&mut self) {
        if let Some(fence) = self.fence() {
            self.builder.push(fence);
        }
    }

    pub(super) fn skip(&mut self, register: Register, count: u8) -> Instruction {
        let value = self.rng.pick(&[0, 1]);
        if self.rng.percent(50) {
            Instruction::SkipIf {
                register,
                value,
                count,
            }
        } else {
            Instruction::SkipUnless {
                register,
                value,
                count,
            }
        }
    }

    pub(super) fn locked(&mut self, instruction: Instruction) {
        let mutex = *self.mutex.get_or_insert_with(|| self.builder.mutex("m"));
        self.builder.push(Instruction::Lock { mutex });
        self.builder.push(instruction);
        self.builder.push(Instruction::Unlock { mutex });
    }
}
