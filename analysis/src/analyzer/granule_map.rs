//! Granules in a map, for what is analysed outside of the process that ran.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::granule::{Granule, GranuleStore, PAGE_GRANULES};
use crate::hash::FxHashMap;

/// With more pages than this in use, all are forgotten: races with what was before
/// are missed, none is invented.
const MAX_PAGES: usize = 1 << 15;

type Page = Box<[Granule; PAGE_GRANULES as usize]>;

/// Granules in pages, as far as they are asked for.
#[derive(Clone, Debug, Default)]
pub struct GranuleMap {
    pages: Vec<Page>,
    /// Which of `pages` a page is.
    index: FxHashMap<u64, u32>,
    /// Entries of `pages` that are empty.
    free: Vec<u32>,
    /// The page that was asked for last, and where it is.
    last: Option<(u64, u32)>,
}

impl GranuleMap {
    #[inline]
    fn find(&mut self, page: u64) -> Option<u32> {
        if let Some((last, at)) = self.last
            && last == page
        {
            return Some(at);
        }
        let at = *self.index.get(&page)?;
        self.last = Some((page, at));
        Some(at)
    }

    #[cold]
    fn add(&mut self, page: u64) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            self.pages.push(new_page());
            self.pages.len() as u32 - 1
        });
        self.index.insert(page, at);
        self.last = Some((page, at));
        at
    }

    #[inline]
    fn slice(&mut self, at: u32, first: u64, end: u64) -> &mut [Granule] {
        let start = (first % PAGE_GRANULES) as usize;
        let count = (end - first).min(PAGE_GRANULES - start as u64) as usize;
        &mut self.pages[at as usize][start..start + count]
    }
}

impl GranuleStore for GranuleMap {
    const NAMES_THREADS: bool = true;

    #[inline]
    fn granules(&mut self, first: u64, end: u64) -> Option<&mut [Granule]> {
        let page = first / PAGE_GRANULES;
        let at = match self.find(page) {
            Some(at) => at,
            None => self.add(page),
        };
        Some(self.slice(at, first, end))
    }

    #[inline]
    fn known_granules(&mut self, first: u64, end: u64) -> &mut [Granule] {
        match self.find(first / PAGE_GRANULES) {
            Some(at) => self.slice(at, first, end),
            None => &mut [],
        }
    }

    fn known_pages(&self, first: u64, end: u64) -> Vec<u64> {
        let within = |page: &u64| (first..end).contains(page);
        if end - first > self.index.len() as u64 {
            return self.index.keys().copied().filter(within).collect();
        }
        let known = |page: &u64| self.index.contains_key(page);
        (first..end).filter(known).collect()
    }

    fn release(&mut self, pages: &[u64]) {
        self.last = None;
        for page in pages {
            self.free.extend(self.index.remove(page));
        }
    }

    #[inline]
    fn clear_if_full(&mut self) -> bool {
        let is_full = self.index.len() >= MAX_PAGES;
        if is_full {
            *self = Self::default();
        }
        is_full
    }
}

fn new_page() -> Page {
    let page = alloc::vec![Granule::default(); PAGE_GRANULES as usize];
    match page.into_boxed_slice().try_into() {
        Ok(page) => page,
        Err(_) => unreachable!("a vector of this length"),
    }
}
