//! From sections to pages.

mod docs;
mod html;

pub(crate) use docs::write_docs;
pub(crate) use html::page;
