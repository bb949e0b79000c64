//! What is wrong with the examples and what the cheapest repair is, decided
//! without the tool: the core of each as a litmus program, all execution graphs
//! enumerated, all sets of changes tried. The examples' READMEs say the same.

use std::collections::BTreeSet;

use wmfix_tests::brute::{Axioms, is_robust};
use wmfix_tests::examples::sketch::Sketch;
use wmfix_tests::examples::truth::{cheapest, have_race, spell, stale_operations};
use wmfix_tests::litmus::program;

#[test]
fn store_buffering_needs_a_fence_in_each_thread() {
    let truth = Truth {
        sketches: &[&[
            "@alice_stores x=1.rel; @alice_loads a=y.acq",
            "@bob_stores y=1.rel; @bob_loads b=x.acq",
        ]],
        stale: &["alice_loads", "bob_loads"],
        race: false,
    };
    truth.assert_repaired_by("alice_stores: fence after, bob_stores: fence after");
}

#[test]
fn message_passing_needs_release_and_acquire() {
    let truth = Truth {
        sketches: &[&[
            "write text 1; @length length=5.rlx; @raise ready=1.rlx",
            "@wait wait(ready!=0).rlx; @expected a=length.rlx; read text",
        ]],
        stale: &["expected"],
        race: true,
    };
    truth.assert_repaired_by("raise: release, wait: acquire");
}

#[test]
fn dekker_needs_a_fence_in_each_thread() {
    let truth = Truth {
        sketches: &[&[
            "@ping_up i=1.rel; @ping_looks a=o.acq; skipif a 1 1; write c 1; @ping_down i=0.rel;
             @ping_up i=1.rel; @ping_looks a=o.acq; skipif a 1 1; write c 2; @ping_down i=0.rel",
            "@pong_up o=1.rel; @pong_looks a=i.acq; skipif a 1 1; write c 1; @pong_down o=0.rel",
        ]],
        stale: &["ping_looks", "pong_looks"],
        race: false,
    };
    truth.assert_repaired_by("ping_up: fence after, pong_up: fence after");
}

#[test]
fn peterson_needs_five_changes() {
    // Who has not got in after one look at the flag and the turn ends there. One
    // thread comes twice: only then can the other get in by the turn alone.
    let truth = Truth {
        sketches: &[&[
            "@raise f0=1.rlx; @turn turn=2.rlx;
             @other a=f1.rlx; skipif a 0 2; @whose b=turn.rlx; skipif b 2 9;
             write c 1; @lower f0=0.rlx;
             @raise f0=1.rlx; @turn turn=2.rlx;
             @other a=f1.rlx; skipif a 0 2; @whose b=turn.rlx; skipif b 2 1;
             write c 2",
            "@raise f1=1.rlx; @turn turn=1.rlx;
             @other a=f0.rlx; skipif a 0 2; @whose b=turn.rlx; skipif b 1 2;
             write c 1; @lower f1=0.rlx",
        ]],
        stale: &["other", "turn"],
        race: true,
    };
    truth.assert_repaired_by(
        "lower: release, other: seq_cst, raise: seq_cst, turn: seq_cst, whose: acquire",
    );
    // The same with a site less to look at: two changes at one store.
    truth.assert_repaired_by(
        "lower: release, other: seq_cst, turn: seq_cst, turn: fence before, whose: acquire",
    );
    truth.assert_repaired_by(
        "lower: release, other: acquire, raise: fence after, turn: fence after, whose: acquire",
    );
}

#[test]
fn peterson_that_is_locked_once_needs_four() {
    // The waiting loop is unrolled twice in one thread and once in the other.
    let truth = Truth {
        sketches: &[&[
            "@raise f0=1.rlx; @turn turn=2.rlx;
             @other a=f1.rlx; skipif a 0 6; @whose b=turn.rlx; skipif b 1 4;
             @other a=f1.rlx; skipif a 0 2; @whose b=turn.rlx; skipif b 2 2;
             write c 1; @lower f0=0.rlx",
            "@raise f1=1.rlx; @turn turn=1.rlx;
             @other a=f0.rlx; skipif a 0 2; @whose b=turn.rlx; skipif b 1 2;
             write c 1; @lower f1=0.rlx",
        ]],
        stale: &["other", "turn"],
        race: true,
    };
    truth.assert_repaired_by("lower: release, other: seq_cst, raise: seq_cst, turn: seq_cst");
}

#[test]
fn a_seqlock_needs_the_fence_behind_the_odd_number() {
    let truth = Truth {
        sketches: &[&[
            "@odd s=1.rlx; @x x=1.rlx; @y y=1.rlx; @z z=1.rlx; @even s=2.rel",
            "@before a=s.acq; skipif a 1 4; @copy_x b=x.acq; @copy_y c=y.acq; @copy_z d=z.acq;
             @again e=s.rlx",
        ]],
        stale: &["again"],
        race: false,
    };
    truth.assert_repaired_by("odd: fence after");
}

#[test]
fn a_release_fence_by_hand_is_enough_for_the_seqlock() {
    let program = program(
        "seqlock",
        &[
            "s=1.rlx; F.rel; x=1.rlx; y=1.rlx; s=2.rel; s=3.rlx; F.rel; x=2.rlx; y=2.rlx; s=4.rel",
            "a=s.acq; skipif a 1 4; skipif a 3 3; b=x.acq; c=y.acq; d=s.rlx",
        ],
    );
    assert!(is_robust(&program.unwrap(), Axioms::RC11));
}

#[test]
fn a_seqlock_that_moves_twice_needs_no_more() {
    let truth = Truth {
        sketches: &[&[
            "@odd s=1.rlx; @x x=1.rlx; @y y=1.rlx; @even s=2.rel;
             @odd s=3.rlx; @x x=2.rlx; @y y=2.rlx; @even s=4.rel",
            "@before a=s.acq; skipif a 1 4; skipif a 3 3; @copy_x b=x.acq; @copy_y c=y.acq;
             @again e=s.rlx",
        ]],
        stale: &["again", "copy_y"],
        race: false,
    };
    truth.assert_repaired_by("odd: fence after");
}

#[test]
fn a_treiber_stack_needs_release_and_two_acquires() {
    // The second acquire is for a pop whose compare-exchange fails and tells of
    // a node that was pushed meanwhile.
    let truth = Truth {
        sketches: &[&[
            "write n1 1; @push bcas(h,0,1).rlx; write n2 1; @push bcas(h,1,2).rlx",
            "@top c=h.rlx; skipunless c 1 4; read n1; @pop d=cas(h,1,0).acq.rlx;
             skipunless d 2 1; read n2; skipunless c 2 1; read n2",
        ]],
        stale: &[],
        race: true,
    };
    truth.assert_repaired_by("pop: failure acquire, push: release, top: acquire");
}

#[test]
fn a_ring_needs_release_and_acquire_both_ways() {
    let truth = Truth {
        sketches: &[&[
            "@room wait(s==0).rlx; write p 1; @fill s=1.rlx;
             @room wait(s==0).rlx; write p 2; @fill s=1.rlx",
            "@await wait(s!=0).rlx; read p; @free s=0.rlx;
             @await wait(s!=0).rlx; read p; @free s=0.rlx",
        ]],
        stale: &[],
        race: true,
    };
    truth.assert_repaired_by("await: acquire, fill: release, free: release, room: acquire");
}

#[test]
fn a_chase_lev_deque_needs_three_changes() {
    let truth = Truth {
        sketches: &[
            DEQUE_WITH_TWO_TASKS,
            // The owner takes its last task and comes back for more; a thief that
            // has seen that may still read the old `top`.
            &[
                "@put s0=1.rlx; @publish F.rel; @pushed b=1.rlx;
                 @claim b=0.rlx; @seen t=top.rlx; skipif t 1 2; @get x=s0.rlx;
                 @last c=cas(top,0,1).sc.rlx; @restore b=1.rlx;
                 @claim b=0.rlx; @seen t=top.rlx; @empty b=1.rlx",
                "@top u=top.acq; @bottom v=b.acq; skipif u 1 3; skipif v 0 2; @look y=s0.rlx;
                 @steal w=cas(top,0,1).sc.rlx; @top z=top.acq",
            ],
        ],
        stale: &["bottom", "seen", "top"],
        race: false,
    };
    truth.assert_repaired_by("bottom: seq_cst, claim: release, claim: fence after");
    truth.assert_repaired_by("claim: release, claim: fence after, top: fence after");
}

#[test]
fn the_two_published_fences_keep_a_task_from_being_done_twice() {
    let truth = Truth {
        sketches: &[DEQUE_WITH_TWO_TASKS],
        stale: &["bottom", "seen"],
        race: false,
    };
    truth.assert_repaired_by("claim: fence after, top: fence after");
    truth.assert_repaired_by("bottom: seq_cst, claim: fence after");
}

/// Two tasks are pushed; the owner takes one, a thief tries for both.
const DEQUE_WITH_TWO_TASKS: &[&str] = &[
    "@put s0=1.rlx; @put s1=2.rlx; @publish F.rel; @pushed b=2.rlx;
     @claim b=1.rlx; @seen t=top.rlx; skipif t 2 4; @get x=s1.rlx; skipif t 0 2;
     @last c=cas(top,1,2).sc.rlx; @restore b=2.rlx",
    "@top u=top.acq; @bottom v=b.acq; skipif v 0 7; @look y=s0.rlx;
     @steal w=cas(top,0,1).sc.rlx; @top u=top.acq; @bottom v=b.acq; skipif v 1 2;
     @look y=s1.rlx; @steal w=cas(top,1,2).sc.rlx",
];

#[test]
fn a_reference_count_needs_one_order() {
    let truth = Truth {
        sketches: &[&[
            "write a 1; @leave n=fadd(holders,1).rlx; skipunless n 1 2; read a; read b",
            "write b 1; @leave n=fadd(holders,1).rlx; skipunless n 1 2; read a; read b",
        ]],
        stale: &[],
        race: true,
    };
    truth.assert_repaired_by("leave: acq_rel");
}

#[test]
fn an_mpmc_queue_needs_release_and_acquire_both_ways() {
    let truth = Truth {
        sketches: &[
            // Two cells (the second one's ticket counts from 0 here), two receivers.
            &[
                "@sender a=fadd(ns,1).rlx; @room wait(k0==0).rlx; write p0 1; @sent k0=1.rlx;
                 @sender a=fadd(ns,1).rlx; @room wait(k1==0).rlx; write p1 1; @sent k1=2.rlx;
                 @sender a=fadd(ns,1).rlx; @room wait(k0==2).rlx; write p0 2; @sent k0=3.rlx",
                RECEIVER,
                RECEIVER,
            ],
            // One cell comes round to another receiver.
            &[
                "@room wait(k0==0).rlx; write p0 1; @sent k0=1.rlx;
                 @room wait(k0==2).rlx; write p0 2; @sent k0=3.rlx",
                "@receiver a=fadd(nr,1).rlx; @filled wait(k0==1).rlx; read p0; @received k0=2.rlx;
                 @receiver a=fadd(nr,1).rlx",
                "@receiver a=fadd(nr,1).rlx; skipunless a 2 3;
                 @filled wait(k0==3).rlx; read p0; @received k0=4.rlx",
            ],
        ],
        stale: &[],
        race: true,
    };
    truth.assert_repaired_by("filled: acquire, received: release, room: acquire, sent: release");
}

/// Takes its turn and receives from the cell of that turn.
const RECEIVER: &str = "@receiver a=fadd(nr,1).rlx;
    skipif a 1 3; @filled wait(k0==1).rlx; read p0; @received k0=2.rlx;
    skipif a 0 3; @filled wait(k1==2).rlx; read p1; @received k1=3.rlx";

/// An example's core, in one or more sketches, and what is wrong with it.
struct Truth {
    sketches: &'static [&'static [&'static str]],
    stale: &'static [&'static str],
    race: bool,
}

impl Truth {
    fn assert_repaired_by(&self, repair: &str) {
        let sketches: Vec<Sketch> = self.sketches.iter().map(|s| Sketch::new(s)).collect();
        let stale: BTreeSet<String> = self.stale.iter().map(|&s| s.to_owned()).collect();
        assert_eq!(stale_operations(&sketches), stale);
        assert_eq!(have_race(&sketches), self.race);
        let cheapest: Vec<String> = cheapest(&sketches).iter().map(spell).collect();
        assert!(
            cheapest.iter().any(|found| found == repair),
            "{repair} is not one of the cheapest:\n{}",
            cheapest.join("\n")
        );
    }
}
