/* Memory that host and device share, closed to the program while work is under way: the program's own loads and stores
   make no call, so they are noticed by the fault on a page that may not be touched. Every page is opened at its first touch, and all of
   them when the program has waited; what was touched too early is for the worker to judge. */
#define _GNU_SOURCE
#include "client.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static atomic_int closed;
static atomic_int has_new; /* a block came since; the next piece of work closes it too */
static atomic_int is_ready;
static struct sigaction before;

static void protect(uint64_t address, uint64_t size, int protection)
{
    uint64_t page = (uint64_t)getpagesize(), start = address / page * page;
    mprotect((void *)start, address + size - start, protection);
}

static void close_block(uint64_t address, uint64_t size)
{
    protect(address, size, PROT_NONE);
}

static void open_block(uint64_t address, uint64_t size)
{
    protect(address, size, PROT_READ | PROT_WRITE);
}

static int is_write(const void *context)
{
#ifdef __x86_64__
    return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] >> 1 & 1;
#else
    return 0;
#endif
}

/* Behind the instruction, as calls are told by where they return to. */
static const void *interrupted_at(const void *context)
{
#ifdef __x86_64__
    return (const char *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] + 1;
#else
    return NULL;
#endif
}

/* Only code of the program gets here, which holds none of our locks. */
static void touched(int number, siginfo_t *info, void *context)
{
    struct kw_block found;
    if (closed && info->si_code == SEGV_ACCERR && kw_find_block(info->si_addr, &found) &&
        (found.kind == KW_MEMORY_PINNED || found.kind == KW_MEMORY_MANAGED)) {
        open_block((uint64_t)info->si_addr, 1);
        struct kw_host_access body = {
            .address = (uint64_t)info->si_addr, .size = 1, .written = 2u | (uint32_t)is_write(context)};
        char stack[2048];
        size_t size = kw_stack(stack, sizeof stack, interrupted_at(context));
        kw_command(KW_HOST_ACCESS, &body, sizeof body, stack, size);
        return;
    }
    /* Not ours: the handler that was set before gets it. */
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        signal(number, SIG_DFL);
}

void kw_guard_close(void)
{
    if (!(kw_welcome->flags & KW_NOTE_DIRECT_ACCESS) || (atomic_exchange(&closed, 1) && !has_new))
        return;
    has_new = 0;
    if (!atomic_exchange(&is_ready, 1)) {
        struct sigaction ours = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO | SA_NODEFER};
        sigaction(SIGSEGV, &ours, &before);
        /* The first call loads what it needs, which a handler must not. */
        char stack[64];
        kw_stack(stack, sizeof stack, NULL);
    }
    kw_each_shared_block(close_block);
}

void kw_guard_open(void)
{
    if (atomic_exchange(&closed, 0))
        kw_each_shared_block(open_block);
}

void kw_guard_renew(void)
{
    has_new = 1;
}
