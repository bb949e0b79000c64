// Instantiates the containers with several ways of reclaiming memory.
#include <memory>
#include <xenium/chase_work_stealing_deque.hpp>
#include <xenium/harris_michael_hash_map.hpp>
#include <xenium/harris_michael_list_based_set.hpp>
#include <xenium/kirsch_bounded_kfifo_queue.hpp>
#include <xenium/kirsch_kfifo_queue.hpp>
#include <xenium/left_right.hpp>
#include <xenium/michael_scott_queue.hpp>
#include <xenium/ramalhete_queue.hpp>
#include <xenium/reclamation/generic_epoch_based.hpp>
#include <xenium/reclamation/hazard_eras.hpp>
#include <xenium/reclamation/hazard_pointer.hpp>
#include <xenium/reclamation/lock_free_ref_count.hpp>
#include <xenium/reclamation/quiescent_state_based.hpp>
#include <xenium/reclamation/stamp_it.hpp>
#include <xenium/seqlock.hpp>
#include <xenium/vyukov_bounded_queue.hpp>
#include <xenium/vyukov_hash_map.hpp>

using namespace xenium;
using namespace xenium::reclamation;

template <class Reclaimer> int use() {
  int out = 0;
  michael_scott_queue<int, policy::reclaimer<Reclaimer>> queue;
  queue.push(1);
  queue.try_pop(out);
  ramalhete_queue<int*, policy::reclaimer<Reclaimer>> other;
  int* pointer = &out;
  other.push(pointer);
  other.try_pop(pointer);
  harris_michael_list_based_set<int, policy::reclaimer<Reclaimer>> set;
  set.emplace(1);
  set.erase(1);
  out += set.contains(1);
  harris_michael_hash_map<int, int, policy::reclaimer<Reclaimer>> map;
  map.emplace(1, 2);
  map.erase(1);
  return out;
}

int all() {
  int out = 0;
  vyukov_bounded_queue<int> bounded(8);
  bounded.try_push(1);
  bounded.try_pop(out);
  chase_work_stealing_deque<int> deque;
  int item = 1;
  int* pointer = &item;
  deque.try_push(pointer);
  deque.try_pop(pointer);
  deque.try_steal(pointer);
  struct Wide {
    long long low, high;
  };
  seqlock<Wide> sequence;
  sequence.store({1, 2});
  sequence.update([](Wide& value) { value.low++; });
  out += static_cast<int>(sequence.load().high);
  left_right<int> pair(1, 1);
  pair.update([](int& value) { value++; });
  out += pair.read([](const int& value) { return value; });
  kirsch_bounded_kfifo_queue<int*> fifo(4, 2);
  fifo.try_push(pointer);
  fifo.try_pop(pointer);
  return out + use<hazard_pointer<>::with<policy::allocation_strategy<hp_allocation::static_strategy<8>>>>() +
         use<hazard_eras<>::with<policy::allocation_strategy<he_allocation::static_strategy<8>>>>() +
         use<epoch_based<>>() + use<quiescent_state_based>() + use<stamp_it>() +
         use<lock_free_ref_count<>>();
}
