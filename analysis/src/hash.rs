//! Hash tables that need no operating system: keys are small numbers of the run
//! itself, so nothing has to be drawn at random.

/// A hash table.
pub(crate) type FxHashMap<K, V> = hashbrown::HashMap<K, V, rustc_hash::FxBuildHasher>;
/// A set.
pub(crate) type FxHashSet<T> = hashbrown::HashSet<T, rustc_hash::FxBuildHasher>;
