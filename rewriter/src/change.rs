//! What may be changed in a text: the order of a site, or a fence next to it. Says nothing about why, and nothing about how the text then looks.

use wmfix_frontend::{MemoryOrder, Site};

/// Something to be done at one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// The site, as it was found in the text that is to be changed.
    pub site: Site,
    /// What is to be done there.
    pub kind: TextChangeKind,
    /// What a trailing comment names if comments are wanted, usually the
    /// id of the violation that the change removes.
    pub label: Option<String>,
}

/// What is to be done at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextChangeKind {
    /// Makes the operation (an existing fence, too) at least as strong as this.
    Raise {
        /// The order to reach, of a compare-exchange on success.
        order: MemoryOrder,
        /// The order that a compare-exchange is to reach on failure; `None`
        /// leaves it as it is.
        failure: Option<MemoryOrder>,
    },
    /// Gives the operation (an existing fence, too) this order, be it weaker.
    Assign {
        /// The order, of a compare-exchange on success.
        order: MemoryOrder,
        /// The order of a compare-exchange on failure.
        failure: Option<MemoryOrder>,
    },
    /// Takes the fence, a statement of its own, away.
    Remove,
    /// Puts a fence of at least this order right before the operation.
    FenceBefore(MemoryOrder),
    /// Puts a fence of at least this order right after the operation.
    FenceAfter(MemoryOrder),
    /// Lets the fence, a statement of its own, change places with the statement
    /// next to it.
    Move(Side),
}

/// Which side of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Before it.
    Before,
    /// After it.
    After,
}

impl TextChange {
    /// Raises the order of `site`, on success if it is a compare-exchange.
    pub fn raise(site: Site, order: MemoryOrder) -> Self {
        Self::new(
            site,
            TextChangeKind::Raise {
                order,
                failure: None,
            },
        )
    }

    /// A full fence right before `site`.
    pub fn fence_before(site: Site) -> Self {
        Self::new(site, TextChangeKind::FenceBefore(MemoryOrder::SeqCst))
    }

    /// A full fence right after `site`.
    pub fn fence_after(site: Site) -> Self {
        Self::new(site, TextChangeKind::FenceAfter(MemoryOrder::SeqCst))
    }

    /// Any change at `site`.
    pub fn new(site: Site, kind: TextChangeKind) -> Self {
        Self {
            site,
            kind,
            label: None,
        }
    }

    /// The same change, to be labelled with `label` in the text.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}
