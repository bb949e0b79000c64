// Instantiates containers, mutexes and algorithms: what of the library's atomics
// lives in its headers.
#include <tbb/combinable.h>
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_priority_queue.h>
#include <tbb/concurrent_queue.h>
#include <tbb/concurrent_set.h>
#include <tbb/concurrent_unordered_map.h>
#include <tbb/concurrent_vector.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_sort.h>
#include <tbb/queuing_mutex.h>
#include <tbb/queuing_rw_mutex.h>
#include <tbb/spin_mutex.h>
#include <tbb/spin_rw_mutex.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <functional>
#include <vector>

template <class Mutex> void hold(Mutex& mutex) {
  typename Mutex::scoped_lock lock(mutex);
  lock.release();
  typename Mutex::scoped_lock again;
  if (again.try_acquire(mutex)) again.release();
}

int all(std::vector<int>& numbers) {
  int out = 0;
  tbb::concurrent_queue<int> queue;
  queue.push(1);
  queue.try_pop(out);
  tbb::concurrent_bounded_queue<int> bounded;
  bounded.push(1);
  bounded.pop(out);
  tbb::concurrent_hash_map<int, int> map;
  tbb::concurrent_hash_map<int, int>::accessor accessor;
  map.insert(accessor, 1);
  accessor.release();
  map.find(accessor, 1);
  map.erase(1);
  map.rehash(64);
  tbb::concurrent_vector<int> vector;
  vector.push_back(1);
  vector.grow_by(4);
  vector.shrink_to_fit();
  tbb::concurrent_unordered_map<int, int> table;
  table.insert({1, 2});
  out += static_cast<int>(table.count(1));
  tbb::concurrent_set<int> set;
  set.insert(1);
  tbb::concurrent_priority_queue<int> heap;
  heap.push(1);
  heap.try_pop(out);
  tbb::enumerable_thread_specific<int> local;
  local.local()++;
  tbb::combinable<int> combined;
  combined.local()++;
  tbb::spin_mutex spin;
  tbb::queuing_mutex fair;
  hold(spin);
  hold(fair);
  tbb::spin_rw_mutex readers;
  {
    tbb::spin_rw_mutex::scoped_lock lock(readers, false);
    lock.upgrade_to_writer();
    lock.downgrade_to_reader();
  }
  tbb::parallel_for(0, 100, [&](int i) { numbers[i]++; });
  out += tbb::parallel_reduce(
      tbb::blocked_range<int>(0, 100), 0,
      [&](const tbb::blocked_range<int>& r, int sum) { return sum + numbers[r.begin()]; },
      std::plus<int>());
  tbb::parallel_sort(numbers.begin(), numbers.end());
  tbb::task_group group;
  group.run([] {});
  group.wait();
  tbb::task_arena arena(2);
  arena.execute([] {});
  tbb::flow::graph graph;
  tbb::flow::function_node<int, int> doubled(graph, tbb::flow::unlimited, [](int v) { return 2 * v; });
  tbb::flow::queue_node<int> results(graph);
  tbb::flow::make_edge(doubled, results);
  doubled.try_put(1);
  graph.wait_for_all();
  return out;
}
