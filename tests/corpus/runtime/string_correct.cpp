// Strings, streams and conversions in several threads, all of it in order.
#include <atomic>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <locale>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::map<std::string, std::string> table;
static const std::string shared = "a text that everybody reads and that is long";
static std::string handed_over;
static std::atomic<bool> ready{false};

static std::string made(int number) {
  std::ostringstream out;
  out << std::setw(8) << std::setfill('0') << number << ' ' << 1.5 * number << ' ' << shared;
  std::istringstream in(out.str());
  std::string first, rest;
  in >> first;
  std::getline(in, rest);
  return first + std::to_string(number) + rest + std::locale().name();
}

static void work(int number) {
  std::string text = made(number);
  std::string copy = shared;
  copy.replace(2, 4, text, 0, 30);
  copy.insert(0, "inserted ");
  copy.erase(3, 2);
  try {
    std::stoi("no number");
  } catch (const std::exception &error) {
    text += error.what();
  }
  std::wstring wide(text.begin(), text.end());
  wide += L" wide";
  {
    std::lock_guard<std::mutex> guard(lock);
    table[std::to_string(number)] = text;
    table["last"] += copy.substr(0, 20);
    std::cout << std::hex << number << ' ' << text.size() << ' ' << wide.size() << std::endl;
    std::cerr << copy << '\n';
  }
  if (number == 1) {
    handed_over = text;
    ready.store(true, std::memory_order_release);
  } else if (ready.load(std::memory_order_acquire)) {
    if (handed_over.find("00000001") != 0) std::abort();
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 1; i < 4; i++) threads.emplace_back(work, i);
  for (auto &thread : threads) thread.join();
  if (table.size() != 4 || table["1"] != handed_over) std::abort();
  std::stringstream all;
  for (auto &entry : table) all << entry.first << '=' << entry.second << '\n';
  if (all.str().empty()) std::abort();
}
