// A string that one thread makes and another reads by its own characters, handed over by a
// flag of the orders ORDER_STORE and ORDER_LOAD. By LENGTH it is kept in place, or not.
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

static std::string message;
static std::atomic<bool> ready{false};

static void writer() {
  message.append(1, 'a');  // write
  message.push_back('b');
  for (int i = 0; i < LENGTH; i++) message.push_back('c');
  ready.store(true, ORDER_STORE);
}

static void reader() {
  if (ready.load(ORDER_LOAD)) {
    if (message.compare(0, 1, "a") != 0) std::abort();  // read
    if (message.find('b') != 1) std::abort();
  }
}

int main() {
  std::thread first(writer), second(reader);
  first.join();
  second.join();
  return 0;
}
