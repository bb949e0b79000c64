//! What tests notice, and by what violations count → what the report says about it.

use wmfix_trace::Order;

use super::spots::SpotFinder;
use crate::harm::{Criterion, Loss, Notice, Noticed, SeenBy};
use crate::report::model::{
    AskedFor, NoticedWord, ReportedCriterion, ReportedLoss, ReportedNotice,
};
use crate::report::{notice_words, words};

/// By what violations count.
pub(super) fn criterion(criterion: &Criterion) -> ReportedCriterion {
    match criterion {
        Criterion::Correctness { .. } => ReportedCriterion {
            asks_for: AskedFor::Correctness,
            because: None,
        },
        Criterion::Robustness(reason) => ReportedCriterion {
            asks_for: AskedFor::Robustness,
            because: Some(notice_words::because(*reason)),
        },
    }
}

/// What the test of a program notices.
pub(super) fn reported(
    spots: &mut SpotFinder<'_>,
    notice: &Notice,
    programs: &[String],
    by: &Criterion,
) -> ReportedNotice {
    let seen_by = notice.seen_by.as_ref().map(|seen_by| match seen_by {
        SeenBy::Store { store, reader } => format!(
            "the store at {} is undone, which is read at {}",
            words::at(&spots.spot(*store).place),
            words::at(&spots.spot(*reader).place)
        ),
        SeenBy::Order(loss) => notice_words::loss_text(&lost(spots, loss, Noticed::Failure)),
    });
    ReportedNotice {
        program: programs.get(notice.program).cloned().unwrap_or_default(),
        sees: !by.is_blind(notice.program),
        seen_by,
        stores_undone: notice.stores.0,
        stores_noticed: notice.stores.1,
        orders: notice
            .orders
            .iter()
            .map(|(loss, noticed)| lost(spots, loss, *noticed))
            .collect(),
        complete: notice.is_complete && notice.untried.is_none(),
    }
}

fn lost(spots: &mut SpotFinder<'_>, loss: &Loss, noticed: Noticed) -> ReportedLoss {
    let on_failure = loss.had.order == loss.left.order;
    let name = |order: Order| order.name().to_owned();
    let (had, left) = match on_failure {
        true => (loss.had.failure, loss.left.failure),
        false => (loss.had.order, loss.left.order),
    };
    ReportedLoss {
        place: spots.spot(loss.site).place,
        had: name(had),
        left: name(left),
        on_failure,
        noticed: match noticed {
            Noticed::Failure => NoticedWord::Failure,
            Noticed::Race => NoticedWord::Race,
            Noticed::Nothing => NoticedWord::Nothing,
        },
    }
}
