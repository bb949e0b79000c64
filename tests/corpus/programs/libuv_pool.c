/* libuv's thread pool and event loop: work items done off the loop, their
 * results counted on it, and a thread that wakes the loop up. */
#include <stdio.h>

#include <uv.h>

enum { items = 40 };
static uv_work_t work[items];
static long squares[items];
static int finished;
static uv_async_t wake;
static int woken;

static void square(uv_work_t *request)
{
    long n = (long)(request - work);
    squares[n] = n * n;
}

static void done(uv_work_t *request, int status)
{
    (void)request;
    if (status == 0)
        finished++;
}

static void woke(uv_async_t *handle)
{
    woken = 1;
    uv_close((uv_handle_t *)handle, 0);
}

static void waker(void *arg)
{
    (void)arg;
    uv_async_send(&wake);
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    uv_thread_t thread;
    uv_async_init(loop, &wake, woke);
    for (int i = 0; i < items; i++)
        uv_queue_work(loop, &work[i], square, done);
    uv_thread_create(&thread, waker, 0);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_thread_join(&thread);
    long sum = 0;
    for (int i = 0; i < items; i++)
        sum += squares[i];
    printf("finished %d, woken %d, sum %ld\n", finished, woken, sum);
    return finished == items && woken && sum == 20540 ? 0 : 1;
}
