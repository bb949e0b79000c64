//! Changes the order that a site names. Orders are a lattice: to raise one is to join
//! what is asked for with what is there, so raising twice changes nothing; to assign one
//! leaves nothing of what was there.

use wmfix_frontend::{
    MemoryOrder, OrderForm, OrderSpelling, ParsedFile, Site, SiteOperation, Span, Wrapper,
};

use crate::draft::Draft;
use crate::explicit::{SaidOrders, say_order};
use crate::plain_access::{access_text, missing_header};
use crate::refusal::Refusal;
use crate::spelling::Spelling;

/// Drafts the raise of `site` to at least `order`, on failure to at least
/// `failure`.
pub(crate) fn raise(
    file: &ParsedFile,
    spelling: &Spelling<'_>,
    site: &Site,
    order: MemoryOrder,
    failure: Option<MemoryOrder>,
    draft: &mut Draft,
) -> Result<DraftedOrder, Refusal> {
    let raise = OrderRaise {
        file,
        spelling,
        site,
    };
    let goal = raise.goal(order, failure)?;
    raise.draft(&goal, draft)
}

/// Drafts `site` with exactly these orders.
pub(crate) fn assign(
    file: &ParsedFile,
    spelling: &Spelling<'_>,
    site: &Site,
    order: MemoryOrder,
    failure: Option<MemoryOrder>,
    draft: &mut Draft,
) -> Result<DraftedOrder, Refusal> {
    let assignment = OrderRaise {
        file,
        spelling,
        site,
    };
    let goal = assignment.assigned(order, failure)?;
    assignment.draft(&goal, draft)
}

/// What a draft of an order came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DraftedOrder {
    /// Something is changed.
    pub(crate) changed: bool,
    /// The header that the new text needs, if the file does not have it.
    pub(crate) header: Option<&'static str>,
}

struct OrderRaise<'a> {
    file: &'a ParsedFile,
    spelling: &'a Spelling<'a>,
    site: &'a Site,
}

/// The orders to reach.
struct TargetOrders {
    success: MemoryOrder,
    failure: Option<MemoryOrder>,
    /// A failure that comes out stronger is not good enough.
    exact: bool,
}

impl OrderRaise<'_> {
    fn goal(
        &self,
        order: MemoryOrder,
        failure: Option<MemoryOrder>,
    ) -> Result<TargetOrders, Refusal> {
        let site = self.site;
        let now = self.known(&site.order)?;
        let mut success = now.join(order);
        let mut failure_goal = None;
        if let Some(spelling) = &site.failure_order {
            let failure_now = match spelling.form {
                OrderForm::Implied => implied_failure(now),
                _ => self.known(spelling)?,
            };
            let wanted = failure_now.join(failure.unwrap_or(failure_now));
            self.allow(SiteOperation::Load, wanted)?;
            // Until C17 and C++17 a failure could not be stronger than a success;
            // code that already does so is compiled for a newer standard.
            let newer = now.join(failure_now) != now;
            if !newer {
                success = success.join(wanted);
            }
            failure_goal = Some(wanted);
        } else if let Some(order) = failure {
            return Err(Refusal::OrderNotAllowed {
                operation: site.operation,
                order,
            });
        }
        self.allow(site.operation, success)?;
        Ok(TargetOrders {
            success,
            failure: failure_goal,
            exact: false,
        })
    }

    /// The goal where nothing of what is there is kept.
    fn assigned(
        &self,
        order: MemoryOrder,
        failure: Option<MemoryOrder>,
    ) -> Result<TargetOrders, Refusal> {
        let site = self.site;
        self.known(&site.order)?;
        self.allow(site.operation, order)?;
        let failure = match (&site.failure_order, failure) {
            (Some(spelling), Some(failure)) => {
                if spelling.form != OrderForm::Implied {
                    self.known(spelling)?;
                }
                self.allow(SiteOperation::Load, failure)?;
                Some(failure)
            }
            (None, None) => None,
            _ => return Err(Refusal::CannotSayOrder(site.callee.clone())),
        };
        Ok(TargetOrders {
            success: order,
            failure,
            exact: true,
        })
    }

    fn known(&self, spelling: &OrderSpelling) -> Result<MemoryOrder, Refusal> {
        if let OrderForm::NotLiteral(span) = &spelling.form {
            return Err(Refusal::OrderIsComputed(self.file.slice(span).into_owned()));
        }
        spelling
            .order
            .ok_or_else(|| Refusal::OrderIsComputed(self.site.callee.clone()))
    }

    fn allow(&self, operation: SiteOperation, order: MemoryOrder) -> Result<(), Refusal> {
        use MemoryOrder::{Acquire, Relaxed, Release, SeqCst};
        let allowed = match operation {
            SiteOperation::Load => matches!(order, Relaxed | Acquire | SeqCst),
            SiteOperation::Store => matches!(order, Relaxed | Release | SeqCst),
            SiteOperation::SignalFence => false,
            SiteOperation::Rmw | SiteOperation::CompareExchange { .. } | SiteOperation::Fence => {
                true
            }
        };
        if allowed {
            Ok(())
        } else {
            Err(Refusal::OrderNotAllowed { operation, order })
        }
    }

    fn draft(&self, goal: &TargetOrders, draft: &mut Draft) -> Result<DraftedOrder, Refusal> {
        let site = self.site;
        let without_header = |changed| DraftedOrder {
            changed,
            header: None,
        };
        if let OrderForm::Macro(name) = &site.order.form {
            return self.take_sibling(name, goal, draft).map(without_header);
        }
        if goal.exact && site.order.form == OrderForm::Implied && !self.has_other_name(goal) {
            return self.say_assigned(goal, draft);
        }
        let mut changed = false;
        // A plain access has no order at all.
        if site.order.order != Some(goal.success) || &*site.vocabulary == "plain" {
            self.respell(&site.order, goal.success, draft)?;
            changed = true;
        }
        let (Some(spelling), Some(failure)) = (&site.failure_order, goal.failure) else {
            return Ok(DraftedOrder {
                changed,
                header: missing_header(self.spelling, site, goal.success),
            });
        };
        match (&spelling.form, &site.order.form) {
            (OrderForm::Implied, OrderForm::Literal(success)) => {
                // One argument says both; a second one is only needed for more, or for
                // less where that is asked for.
                let said = implied_failure(goal.success);
                let is_enough = match goal.exact {
                    true => said == failure,
                    false => said.join(failure) == said,
                };
                if !is_enough {
                    let text = format!(", {}", self.argument(failure, success));
                    draft.wrap(success, "", &text);
                    changed = true;
                }
            }
            _ if spelling.order == Some(failure) => {}
            _ => {
                self.respell(spelling, failure, draft)?;
                changed = true;
            }
        }
        Ok(without_header(changed))
    }

    /// Writes orders that the operation leaves out.
    fn say_assigned(
        &self,
        goal: &TargetOrders,
        draft: &mut Draft,
    ) -> Result<DraftedOrder, Refusal> {
        let site = self.site;
        let had = site.failure_order.as_ref().map(|order| match order.order {
            Some(order) => order,
            None => implied_failure(site.order.order.unwrap_or(MemoryOrder::SeqCst)),
        });
        if site.order.order == Some(goal.success) && had == goal.failure {
            return Ok(DraftedOrder::default());
        }
        // A method needs the second order only where the first does not say it.
        let is_method = &*site.vocabulary != "c11";
        let failure = goal
            .failure
            .filter(|&failure| !is_method || failure != implied_failure(goal.success));
        let orders = SaidOrders {
            success: goal.success,
            failure,
        };
        let header = say_order(self.file, self.spelling, site, orders, draft)?;
        Ok(DraftedOrder {
            changed: true,
            header,
        })
    }

    /// Whether another name says the order, or an older builtin has a newer form.
    fn has_other_name(&self, goal: &TargetOrders) -> bool {
        let vocabulary = self.spelling.vocabulary(self.site);
        let suffix = vocabulary.filter(|vocabulary| vocabulary.has_suffixes());
        let suffix = suffix.and_then(|vocabulary| vocabulary.spell(goal.success));
        let is_older = matches!(
            self.site.callee.as_str(),
            "__sync_lock_test_and_set" | "__sync_lock_release"
        );
        suffix.is_some() || is_older
    }

    /// An order written like the one that stands at `like`.
    fn argument(&self, order: MemoryOrder, like: &Span) -> String {
        let text = self.file.slice(like);
        self.spelling
            .respell(&text, order, &self.site.vocabulary)
            .unwrap_or_else(|| self.spelling.order(order, &self.site.vocabulary))
    }

    fn respell(
        &self,
        spelling: &OrderSpelling,
        order: MemoryOrder,
        draft: &mut Draft,
    ) -> Result<(), Refusal> {
        match &spelling.form {
            OrderForm::Literal(span) => {
                let old = self.file.slice(span);
                let new = self
                    .spelling
                    .respell(&old, order, &self.site.vocabulary)
                    .ok_or_else(|| Refusal::UnknownSpelling(old.into_owned()))?;
                draft.replace(span.clone(), new);
                Ok(())
            }
            OrderForm::NotLiteral(span) => {
                Err(Refusal::OrderIsComputed(self.file.slice(span).into_owned()))
            }
            OrderForm::Pasted {
                span,
                prefix,
                suffix,
            } => {
                let old = self.file.slice(span);
                let new = self
                    .spelling
                    .respell_pasted(&old, order, (prefix, suffix))
                    .ok_or_else(|| Refusal::UnknownSpelling(old.into_owned()))?;
                draft.replace(span.clone(), new);
                Ok(())
            }
            OrderForm::Suffix(span) => {
                let (suffix, name) = self.wrapper(span, order)?;
                if !self.spelling.knows(&name) {
                    return Err(Refusal::NoSuchWrapper(name));
                }
                draft.replace(span.clone(), suffix);
                Ok(())
            }
            OrderForm::Macro(name) => Err(self.order_inside(name)),
            OrderForm::Implied => self.say(order, draft),
        }
    }

    /// Calls the wrapper of the same family that has these orders, if there is one.
    fn take_sibling(
        &self,
        name: &str,
        goal: &TargetOrders,
        draft: &mut Draft,
    ) -> Result<bool, Refusal> {
        let site = self.site;
        let said = site.failure_order.as_ref().and_then(|order| order.order);
        if site.order.order == Some(goal.success) && said == goal.failure {
            return Ok(false);
        }
        let outside = || self.order_inside(name);
        let family = self.spelling.wrappers_beside(name).ok_or_else(outside)?;
        let this = family.iter().find(|wrapper| wrapper.name == name);
        let this = this.ok_or_else(outside)?;
        let orders = Some((goal.success, goal.failure));
        let fits = |other: &&Wrapper| other.is_sibling_of(this) && other.orders() == orders;
        let mut named_like = family.iter().filter(|other| other.is_named_like(this));
        let sibling = named_like.find(fits).or_else(|| family.iter().find(fits));
        if let Some(sibling) = sibling {
            draft.replace(site.callee_span.clone(), sibling.name.clone());
            return Ok(true);
        }
        let fits = |other: &&Wrapper| other.serves_by_address(this) && other.orders() == orders;
        let sibling = family.iter().find(fits).ok_or_else(outside)?;
        let object = site.object.as_ref().ok_or_else(outside)?;
        draft.replace(site.callee_span.clone(), sibling.name.clone());
        self.take_address(object, draft);
        Ok(true)
    }

    /// Writes the address of an object in its place.
    fn take_address(&self, object: &Span, draft: &mut Draft) {
        let text = self.file.slice(object);
        let is_postfix = |text: &str| {
            let goes_on = |c: char| c.is_alphanumeric() || "_.:[]->".contains(c);
            text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(goes_on)
        };
        match text.strip_prefix('*') {
            Some(pointer) if is_postfix(pointer) => {
                draft.replace(object.start..object.start + 1, String::new());
            }
            _ if is_postfix(&text) => draft.wrap(object, "&", ""),
            _ => draft.wrap(object, "&(", ")"),
        }
    }

    /// The order is said in a macro, or in something that is called like one.
    fn order_inside(&self, name: &str) -> Refusal {
        match self.spelling.defines_macro(name) {
            true => Refusal::OrderInMacro(name.to_owned()),
            false => Refusal::MacroOutsideTree(name.to_owned()),
        }
    }

    /// The suffix for `order`, and the name of the function that it makes.
    fn wrapper(&self, suffix: &Span, order: MemoryOrder) -> Result<(String, String), Refusal> {
        let new = self
            .spelling
            .vocabulary(self.site)
            .and_then(|vocabulary| vocabulary.spell(order))
            .ok_or_else(|| {
                Refusal::NoSuchWrapper(format!("{} that is {}", self.site.callee, order.name()))
            })?;
        let callee = &self.site.callee_span;
        let head = self
            .file
            .slice(&(callee.start..suffix.start.max(callee.start)));
        let tail = self.file.slice(&(suffix.end.min(callee.end)..callee.end));
        Ok((new.to_owned(), format!("{head}{new}{tail}")))
    }

    /// Writes an order that the operation leaves out.
    fn say(&self, order: MemoryOrder, draft: &mut Draft) -> Result<(), Refusal> {
        let site = self.site;
        let refusal = || Refusal::CannotSayOrder(site.callee.clone());
        let text = |span: &Span| self.file.slice(span).into_owned();
        let arguments = || -> Option<String> {
            let call = text(&(site.callee_span.end..site.span.end));
            let inner = call.trim().strip_prefix('(')?.strip_suffix(')')?;
            Some(inner.to_owned())
        };
        let suffix = self
            .spelling
            .vocabulary(site)
            .filter(|vocabulary| vocabulary.has_suffixes())
            .and_then(|vocabulary| vocabulary.spell(order));
        if let Some(suffix) = suffix {
            // The order that goes without a suffix.
            let name = format!("{}{suffix}", text(&site.callee_span));
            if !self.spelling.knows(&name) {
                return Err(Refusal::NoSuchWrapper(name));
            }
            draft.replace(site.callee_span.clone(), name);
            return Ok(());
        }
        let said = self.spelling.order(order, "gnu");
        let new = match (site.callee.as_str(), &*site.vocabulary) {
            ("__sync_lock_test_and_set", _) => {
                format!(
                    "__atomic_exchange_n({}, {said})",
                    arguments().ok_or_else(refusal)?
                )
            }
            ("__sync_lock_release", _) => {
                format!(
                    "__atomic_store_n({}, 0, {said})",
                    arguments().ok_or_else(refusal)?
                )
            }
            (_, "volatile" | "plain") => {
                let access = access_text(self.spelling, site, order).ok_or_else(refusal)?;
                match site.operation {
                    SiteOperation::Load => access.open + &access.close,
                    SiteOperation::Store if site.callee == "=" => {
                        // The value may have operations of its own.
                        let rest = text(&(site.callee_span.end..site.span.end));
                        let start = site.span.end - rest.trim_start().len();
                        draft.replace(site.span.start..start, access.open);
                        draft.wrap(&site.span, "", &access.close);
                        return Ok(());
                    }
                    _ => return Err(refusal()),
                }
            }
            (callee, _)
                if self.spelling.is_macro(callee) && !self.spelling.defines_macro(callee) =>
            {
                return Err(Refusal::MacroOutsideTree(callee.to_owned()));
            }
            _ => return Err(refusal()),
        };
        draft.replace(site.span.clone(), new);
        Ok(())
    }
}

/// The order on failure when only the order on success is written.
fn implied_failure(success: MemoryOrder) -> MemoryOrder {
    match success {
        MemoryOrder::Relaxed | MemoryOrder::Release => MemoryOrder::Relaxed,
        MemoryOrder::Acquire | MemoryOrder::AcqRel => MemoryOrder::Acquire,
        MemoryOrder::SeqCst => MemoryOrder::SeqCst,
    }
}
