/* In front of every C++ program of this folder. */
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <unistd.h>
#ifndef BROKEN
#define BROKEN 0
#endif
int data;
#define LATE if (BROKEN) data = 2;
static volatile int sink;
#define USE(value) (sink = (value))
