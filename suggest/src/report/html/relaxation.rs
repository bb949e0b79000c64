//! Weaker orders on the page: what is known of them, the changes and the patch.

use maud::{Markup, html};

use crate::report::dossier::Dossier;
use crate::report::text::{TextStyle, relaxation_text};

/// Weaker orders, if they were searched for.
pub(super) fn relaxation(dossier: &Dossier) -> Markup {
    html! {
        @if let Some(relaxation) = &dossier.report.relaxation {
            h2 id="relaxation" { "Weaker orders" }
            pre { (relaxation_text(dossier, TextStyle::default())) }
            @if !relaxation.patch.is_empty() { pre { (relaxation.patch) } }
        }
    }
}
