// Uses every part of the package, so that every template is compiled.
#include "concurrentqueue/blockingconcurrentqueue.h"
#include "concurrentqueue/concurrentqueue.h"
#include "concurrentqueue/lightweightsemaphore.h"

#include <cstdio>

template class moodycamel::ConcurrentQueue<int>;
template class moodycamel::BlockingConcurrentQueue<int>;

int main() {
    moodycamel::ConcurrentQueue<int> queue;
    moodycamel::ProducerToken producer(queue);
    moodycamel::ConsumerToken consumer(queue);
    int values[] = {1, 2, 3};
    int sum = 0;
    int value = 0;
    queue.enqueue(4);
    queue.enqueue(producer, 5);
    queue.enqueue_bulk(values, 3);
    queue.enqueue_bulk(producer, values, 3);
    while (queue.try_dequeue(value) || queue.try_dequeue(consumer, value)) {
        sum += value;
    }
    moodycamel::BlockingConcurrentQueue<int> blocking;
    blocking.enqueue(6);
    blocking.wait_dequeue(value);
    std::printf("%d %d\n", sum, value);
    return 0;
}
