// Uses every part of the package, so that every template is compiled.
#include "xenium/chase_work_stealing_deque.hpp"
#include "xenium/harris_michael_hash_map.hpp"
#include "xenium/harris_michael_list_based_set.hpp"
#include "xenium/kirsch_bounded_kfifo_queue.hpp"
#include "xenium/kirsch_kfifo_queue.hpp"
#include "xenium/left_right.hpp"
#include "xenium/michael_scott_queue.hpp"
#include "xenium/ramalhete_queue.hpp"
#include "xenium/reclamation/generic_epoch_based.hpp"
#include "xenium/reclamation/hazard_eras.hpp"
#include "xenium/reclamation/hazard_pointer.hpp"
#include "xenium/reclamation/lock_free_ref_count.hpp"
#include "xenium/reclamation/quiescent_state_based.hpp"
#include "xenium/reclamation/stamp_it.hpp"
#include "xenium/seqlock.hpp"
#include "xenium/vyukov_bounded_queue.hpp"
#include "xenium/vyukov_hash_map.hpp"

#include <cstdio>

template <class Reclaimer>
int use() {
    xenium::michael_scott_queue<int, xenium::policy::reclaimer<Reclaimer>> queue;
    queue.push(1);
    int value = 0;
    queue.try_pop(value);
    xenium::ramalhete_queue<int *, xenium::policy::reclaimer<Reclaimer>> pointers;
    pointers.push(&value);
    int *pointer = nullptr;
    pointers.try_pop(pointer);
    xenium::harris_michael_list_based_set<int, xenium::policy::reclaimer<Reclaimer>> set;
    set.emplace(3);
    set.erase(3);
    return value + set.contains(3);
}

int main() {
    int sum = use<xenium::reclamation::generic_epoch_based<>>();
    sum += use<xenium::reclamation::hazard_pointer<>>();
    sum += use<xenium::reclamation::hazard_eras<>>();
    sum += use<xenium::reclamation::quiescent_state_based>();
    sum += use<xenium::reclamation::stamp_it>();
    xenium::vyukov_bounded_queue<int> bounded(8);
    bounded.try_push(2);
    int value = 0;
    bounded.try_pop(value);
    xenium::vyukov_hash_map<int, int, xenium::policy::reclaimer<xenium::reclamation::generic_epoch_based<>>> map;
    map.emplace(1, 2);
    map.erase(1);
    struct Large {
        long parts[4];
    };
    xenium::seqlock<Large> lock(Large{});
    lock.store(Large{{4, 3, 2, 1}});
    lock.update([](Large &large) { large.parts[0]++; });
    xenium::left_right<int> sides(5);
    sides.update([](int &v) { v++; });
    xenium::chase_work_stealing_deque<int> deque;
    deque.try_push(&value);
    std::printf("%d %d %d\n", sum, value, static_cast<int>(lock.load().parts[0]));
    return 0;
}
