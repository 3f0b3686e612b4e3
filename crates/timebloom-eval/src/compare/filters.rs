//! The filters that are compared.

use super::stream::{StreamKind, WindowKind};
use crate::baselines::{
    Window, Windowed, a2::A2, apbf::Apbf, cuckoo::Cuckoo, dcba::Dcba, double_buffering::DoubleBuffering,
    landmark::Landmark, map::ExpiringMap, morton::Morton, ours, rotating::Rotating, stable::Stable, swamp::Swamp,
};

/// When a filter reports every item of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// It may miss some at any time.
    Never,
    /// As long as a window has no more items than it was told.
    ExpectedItems,
    /// Whatever the rate.
    Always,
}

/// A filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// `TimeBloom` with its default policy.
    TimeBloom,
    /// `TimeBloom` with the paper's rules.
    TimeBloomPaper,
    /// `CountBloom`.
    CountBloom,
    /// Age-Partitioned Bloom Filter.
    Apbf,
    /// Bloom filter emptied at landmarks.
    Landmark,
    /// Stable Bloom Filter.
    Stable,
    /// Double Buffering.
    DoubleBuffering,
    /// A² Buffering.
    A2,
    /// Detached Counting Bloom filter Array.
    Dcba,
    /// Cuckoo filter with stamps.
    Cuckoo,
    /// Morton filter with stamps.
    Morton,
    /// SWAMP.
    Swamp,
    /// Two `fastbloom` in turns.
    Rotating,
    /// Hash map with times.
    Map,
}

impl Filter {
    /// All of them, ours first.
    pub const ALL: [Filter; 14] = [
        Filter::TimeBloom,
        Filter::TimeBloomPaper,
        Filter::CountBloom,
        Filter::Apbf,
        Filter::Landmark,
        Filter::Stable,
        Filter::DoubleBuffering,
        Filter::A2,
        Filter::Dcba,
        Filter::Cuckoo,
        Filter::Morton,
        Filter::Swamp,
        Filter::Rotating,
        Filter::Map,
    ];

    /// Those that can have such a window.
    pub fn on(kind: WindowKind) -> impl Iterator<Item = Filter> + Clone {
        let by_time_only = |filter: &Filter| matches!(filter, Filter::TimeBloom | Filter::TimeBloomPaper);
        Filter::ALL.into_iter().filter(move |filter| kind == WindowKind::Time || !by_time_only(filter))
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Filter::TimeBloom => "TimeBloom",
            Filter::TimeBloomPaper => "TimeBloom, paper's rules",
            Filter::CountBloom => "CountBloom",
            Filter::Apbf => "APBF",
            Filter::Landmark => "Bloom per landmark",
            Filter::Stable => "Stable Bloom",
            Filter::DoubleBuffering => "Double Buffering",
            Filter::A2 => "A² Buffering",
            Filter::Dcba => "DCBA",
            Filter::Cuckoo => "Cuckoo with stamps",
            Filter::Morton => "Morton with stamps",
            Filter::Swamp => "SWAMP",
            Filter::Rotating => "fastbloom in turns",
            Filter::Map => "hash map",
        }
    }

    /// Where it comes from.
    pub fn source(self) -> &'static str {
        match self {
            Filter::TimeBloom | Filter::CountBloom => "timebloom",
            Filter::TimeBloomPaper => "Rodrigues, Shtul, Baquero, Almeida 2023",
            Filter::Apbf => "Shtul, Baquero, Almeida 2020",
            Filter::Landmark => "Bloom 1970",
            Filter::Stable => "Deng, Rafiei 2006",
            Filter::DoubleBuffering => "Chang, Feng, Li 2004",
            Filter::A2 => "Yoon 2010",
            Filter::Dcba => "Wei, Jiang, Zhou, Feng, Wang 2011",
            Filter::Cuckoo => "Fan, Andersen, Kaminsky, Mitzenmacher 2014",
            Filter::Morton => "Breslow, Jayasena 2018",
            Filter::Swamp => "Assaf, Ben Basat, Einziger, Friedman 2018",
            Filter::Rotating => "crate fastbloom",
            Filter::Map => "std::collections::HashMap",
        }
    }

    /// When it reports every item of the window.
    pub fn promise(self) -> Promise {
        match self {
            Filter::Landmark | Filter::Stable => Promise::Never,
            Filter::TimeBloom | Filter::TimeBloomPaper | Filter::Dcba | Filter::Rotating | Filter::Map => {
                Promise::Always
            }
            Filter::CountBloom | Filter::Apbf | Filter::DoubleBuffering | Filter::A2 => Promise::ExpectedItems,
            Filter::Cuckoo | Filter::Morton | Filter::Swamp => Promise::ExpectedItems,
        }
    }

    /// Whether it promises to report every item of the window on such a stream.
    pub fn promises_window_on(self, kind: StreamKind) -> bool {
        match self.promise() {
            Promise::Never => false,
            Promise::ExpectedItems => kind != StreamKind::TenfoldUp,
            Promise::Always => true,
        }
    }

    /// The filter, empty, sized for the window and the rate. The Stable Bloom Filter gets as much memory as the APBF.
    pub fn build(self, window: Window, eps: f64) -> Box<dyn Windowed> {
        match self {
            Filter::TimeBloom => Box::new(ours::Time::guarded(window, eps)),
            Filter::TimeBloomPaper => Box::new(ours::Time::paper(window, eps)),
            Filter::CountBloom => Box::new(ours::Count::new(window, eps)),
            Filter::Apbf => Box::new(Apbf::new(window, eps)),
            Filter::Landmark => Box::new(Landmark::new(window, eps)),
            Filter::Stable => Box::new(Stable::new(window, eps, 8 * Apbf::new(window, eps).bytes())),
            Filter::DoubleBuffering => Box::new(DoubleBuffering::new(window, eps)),
            Filter::A2 => Box::new(A2::new(window, eps)),
            Filter::Dcba => Box::new(Dcba::new(window, eps)),
            Filter::Cuckoo => Box::new(Cuckoo::new(window, eps)),
            Filter::Morton => Box::new(Morton::new(window, eps)),
            Filter::Swamp => Box::new(Swamp::new(window, eps)),
            Filter::Rotating => Box::new(Rotating::new(window, eps)),
            Filter::Map => Box::new(ExpiringMap::new(window)),
        }
    }
}
