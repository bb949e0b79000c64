// Instantiates enough of the queues that their atomics are compiled.
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/concurrentqueue.h>

template <class Queue> int use() {
  Queue queue(64);
  typename Queue::producer_token_t producer(queue);
  typename Queue::consumer_token_t consumer(queue);
  int out = 0, many[4] = {1, 2, 3, 4};
  queue.enqueue(1);
  queue.try_enqueue(2);
  queue.enqueue(producer, 3);
  queue.try_enqueue(producer, 4);
  queue.enqueue_bulk(many, 4);
  queue.enqueue_bulk(producer, many, 4);
  queue.try_enqueue_bulk(many, 4);
  queue.try_enqueue_bulk(producer, many, 4);
  queue.try_dequeue(out);
  queue.try_dequeue(consumer, out);
  queue.try_dequeue_from_producer(producer, out);
  queue.try_dequeue_bulk(many, 4);
  queue.try_dequeue_bulk(consumer, many, 4);
  queue.try_dequeue_bulk_from_producer(producer, many, 4);
  Queue other(std::move(queue));
  queue.swap(other);
  return out + static_cast<int>(queue.size_approx());
}

int all() {
  moodycamel::BlockingConcurrentQueue<int> blocking(64);
  int out = 0;
  blocking.enqueue(1);
  blocking.wait_dequeue(out);
  blocking.wait_dequeue_timed(out, 10);
  blocking.try_dequeue(out);
  return use<moodycamel::ConcurrentQueue<int>>() + out;
}
