/*
 * The connection to the device worker: finding or starting one, the shared arena, sending and waiting.
 *
 *     KERNELWRIGHT_DEVICE   the device wanted: "none" (there is none, whatever else is set), "h200", "cuda:0", ...
 *     KERNELWRIGHT_SOCKET   path of the socket where a worker listens, or @ and a name that is no file; kw run sets it
 *     KERNELWRIGHT_WORKER   otherwise the shell command that starts a worker, which finds its end of the connection as
 *                           descriptor KERNELWRIGHT_FD
 *     KERNELWRIGHT_REPORT   a path, or 1 for standard error: what the program registered (report.c)
 */
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Where the kernel headers are older than the kernel. */
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

extern char **environ;

/* Built into the program by the linker step; defaults.c has the empty ones. */
extern const char kernelwright_default_device[];
extern const char kernelwright_default_worker[];

enum { UNTRIED, NO_DEVICE, LIVE, ENDED };
/* How long an answer is looked for: a launch and the wait for it are mostly over by then. */
enum { LOOKS_FOR_NS = 100000 };

static atomic_int state = UNTRIED;
static atomic_int failure;
static atomic_int busy;
static pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t wire = PTHREAD_MUTEX_INITIALIZER;
static int connection = -1;
static uint32_t sequence;
static struct kw_welcome welcome;
static char last_sentence[1024];

const struct kw_welcome *const kw_welcome = &welcome;
_Thread_local int kw_device;

void kw_say(const char *format, ...)
{
    char line[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "kw: %s\n", line);
}

const char *kw_device_name(void)
{
    const char *name = getenv("KERNELWRIGHT_DEVICE");
    if (!name)
        name = kernelwright_default_device;
    return *name ? name : "none";
}

int kw_failure(void)
{
    return failure;
}

void kw_forget_failure(void)
{
    if (connection >= 0)
        failure = 0;
}

int kw_is_connected(void)
{
    return state == LIVE && connection >= 0;
}

int kw_is_busy(void)
{
    return busy;
}

/* Errors after which CUDA refuses all further work in the process. */
static int is_fatal(int error)
{
    return error == cudaErrorIllegalAddress || error == cudaErrorLaunchTimeout || error == cudaErrorAssert ||
           (error >= cudaErrorHardwareStackError && error <= cudaErrorLaunchFailure) ||
           error == cudaErrorECCUncorrectable || error == cudaErrorNvlinkUncorrectable || error == cudaErrorContained;
}

/* ---- bytes on the wire; the caller holds `wire` ---- */

static int lost(const char *doing)
{
    if (connection >= 0) {
        kw_say("the device worker ended while the program was %s; every CUDA call fails from here on", doing);
        close(connection);
        connection = -1;
    }
    failure = cudaErrorDevicesUnavailable;
    return failure;
}

static int send_message(uint16_t type, const void *body, size_t body_size, const void *tail, size_t tail_size)
{
    if (connection < 0)
        return lost("sending");
    if (tail_size > KW_MESSAGE_LIMIT - sizeof(struct kw_header) - body_size)
        return cudaErrorInvalidValue;
    struct kw_header header = {
        .size = (uint32_t)(sizeof header + body_size + tail_size),
        .type = type,
        .device = (uint16_t)kw_device,
        .sequence = ++sequence,
    };
    struct iovec piece[] = {{&header, sizeof header}, {(void *)body, body_size}, {(void *)tail, tail_size}};
    struct msghdr message = {.msg_iov = piece, .msg_iovlen = 3};
    while (message.msg_iovlen) {
        ssize_t sent = sendmsg(connection, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return lost("sending");
        while (message.msg_iovlen && (size_t)sent >= message.msg_iov->iov_len) {
            sent -= (ssize_t)message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
            message.msg_iov->iov_len -= (size_t)sent;
        }
    }
    return 0;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* recvmsg that looks for an answer over and over before it sleeps until one comes: to be woken takes longer than the worker takes
   for most of what it is asked. Whoever else wants the processor has it in between. */
static ssize_t receive_some(struct msghdr *message)
{
    int64_t until = 0;
    for (;;) {
        ssize_t got = recvmsg(connection, message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
            return got;
        int64_t now = now_ns();
        until = until ? until : now + LOOKS_FOR_NS;
        if (now > until)
            return recvmsg(connection, message, MSG_CMSG_CLOEXEC);
        sched_yield();
    }
}

/* Fills `bytes`; a file descriptor that comes along is left in `*descriptor`. */
static int receive_bytes(void *bytes, size_t size, int *descriptor)
{
    while (size) {
        char control[CMSG_SPACE(sizeof(int))];
        struct iovec piece = {bytes, size};
        struct msghdr message = {
            .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        ssize_t got = receive_some(&message);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return lost("waiting for an answer");
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
            if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                continue;
            int passed;
            memcpy(&passed, CMSG_DATA(c), sizeof passed);
            if (descriptor && *descriptor < 0)
                *descriptor = passed;
            else
                close(passed);
        }
        bytes = (char *)bytes + got;
        size -= (size_t)got;
    }
    return 0;
}

static int receive_tail(size_t size, char **tail)
{
    *tail = malloc(size + 1);
    if (!*tail)
        return lost("out of memory");
    (*tail)[size] = 0;
    return receive_bytes(*tail, size, NULL);
}

static int print_output(size_t size)
{
    struct kw_output output;
    char *text;
    if (size < sizeof output)
        return lost("reading a malformed answer");
    int result = receive_bytes(&output, sizeof output, NULL);
    if (!result)
        result = receive_tail(size - sizeof output, &text);
    if (result)
        return result;
    fwrite(text, 1, size - sizeof output, output.stream == 2 ? stderr : stdout);
    free(text);
    return 0;
}

/* Reads up to the reply of `type`. */
static int receive_reply(uint16_t type, void *reply, size_t reply_size, void **tail, size_t *tail_size, int *descriptor)
{
    for (;;) {
        struct kw_header header;
        int result = receive_bytes(&header, sizeof header, descriptor);
        if (result)
            return result;
        size_t rest = header.size - sizeof header;
        if (header.size < sizeof header)
            return lost("reading a malformed answer");
        if (header.type == KW_OUTPUT) {
            if ((result = print_output(rest)))
                return result;
            continue;
        }
        if (header.type != (type | KW_REPLY) || header.sequence != sequence)
            return lost("reading an answer to something else");
        if (header.result) {
            char *sentence;
            if ((result = receive_tail(rest, &sentence)))
                return result;
            if (*sentence && strncmp(sentence, last_sentence, sizeof last_sentence - 1)) {
                kw_say("%s", sentence);
                snprintf(last_sentence, sizeof last_sentence, "%s", sentence);
            }
            free(sentence);
            if (is_fatal(header.result))
                failure = header.result;
            return header.result;
        }
        if (rest < reply_size || (rest > reply_size && !tail))
            return lost("reading a malformed answer");
        result = receive_bytes(reply, reply_size, NULL);
        if (!result && tail) {
            *tail_size = rest - reply_size;
            result = receive_tail(*tail_size, (char **)tail);
        }
        return result;
    }
}

/* ---- what the rest of the runtime calls ---- */

int kw_command(uint16_t type, const void *body, size_t body_size, const void *tail, size_t tail_size)
{
    pthread_mutex_lock(&wire);
    /* A note is no work to wait for. */
    if (type != KW_HOST_ACCESS && type != KW_NOTE_ERROR)
        busy = 1;
    if (type == KW_LAUNCH || type == KW_COPY || type == KW_FILL || type == KW_LIBRARY_CALL)
        kw_guard_close();
    int result = send_message(type, body, body_size, tail, tail_size);
    pthread_mutex_unlock(&wire);
    return result;
}

int kw_command_to(int device, uint16_t type, const void *body, size_t body_size)
{
    int current = kw_device;
    kw_device = device;
    int result = kw_command(type, body, body_size, NULL, 0);
    kw_device = current;
    return result;
}

/* Whether some work is known to be over when the request has been answered. */
static int is_wait(uint16_t type)
{
    return type == KW_DEVICE_SYNCHRONIZE || type == KW_STREAM_SYNCHRONIZE || type == KW_EVENT_SYNCHRONIZE ||
           type == KW_STREAM_QUERY || type == KW_EVENT_QUERY || type == KW_FREE || type == KW_DEVICE_RESET ||
           type == KW_LIBRARY_QUESTION;
}

static int ask(uint16_t type, const void *body, size_t body_size, const void *sent, size_t sent_size, void *reply,
               size_t reply_size, void **tail, size_t *tail_size)
{
    pthread_mutex_lock(&wire);
    int result = send_message(type, body, body_size, sent, sent_size);
    if (!result)
        result = receive_reply(type, reply, reply_size, tail, tail_size, NULL);
    /* Under the lock, so that a launch by another thread is either waited for or still counted. */
    if (!result && type == KW_DEVICE_SYNCHRONIZE)
        busy = 0;
    if (is_wait(type))
        kw_guard_open();
    pthread_mutex_unlock(&wire);
    return result;
}

int kw_request_exchange(uint16_t type, const void *body, size_t body_size, const void *sent, size_t sent_size, void *reply,
                        size_t reply_size, void **tail, size_t *tail_size)
{
    return ask(type, body, body_size, sent, sent_size, reply, reply_size, tail, tail_size);
}

int kw_request_tail(uint16_t type, const void *body, size_t body_size, void *reply, size_t reply_size, void **tail,
                    size_t *tail_size)
{
    return ask(type, body, body_size, NULL, 0, reply, reply_size, tail, tail_size);
}

int kw_request(uint16_t type, const void *body, size_t body_size, void *reply, size_t reply_size)
{
    return ask(type, body, body_size, NULL, 0, reply, reply_size, NULL, NULL);
}

int kw_request_with(uint16_t type, const void *body, size_t body_size, const void *tail, size_t tail_size, void *reply,
                    size_t reply_size)
{
    return ask(type, body, body_size, tail, tail_size, reply, reply_size, NULL, NULL);
}

/* ---- starting ---- */

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        kw_say("KERNELWRIGHT_SOCKET is too long for a socket: %s", path);
        return -1;
    }
    strcpy(address.sun_path, path);
    /* A name of Linux's that is no file begins with a NUL and is as long as the address says (unix(7)). */
    if (*path == '@')
        address.sun_path[0] = 0;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + (*path != '@'));
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && connect(descriptor, (void *)&address, size) == 0)
        return descriptor;
    kw_say("no device worker answers at KERNELWRIGHT_SOCKET=%s: %s", path, strerror(errno));
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

/* In the new process, between fork and exec: only calls that are safe there. The socket becomes descriptor 3. */
static void become_worker(int end, char *const command[], char *const environment[])
{
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    /* Signals to the whole process group are for the program to handle; its worker ends when it does. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    /* The program's standard output is its own: what kernels print comes over the wire. */
    dup2(2, 1);
    if (end == 3)
        fcntl(3, F_SETFD, 0);
    else
        dup2(end, 3);
    syscall(SYS_close_range, 4u, ~0u, 0u);
    execve("/bin/sh", command, environment);
    _exit(127);
}

/* Starts a worker that is no child of the program, so that the program's own wait() never returns it. */
static int start_worker(const char *worker)
{
    size_t count = 0;
    while (environ && environ[count])
        count++;
    char **environment = calloc(count + 3, sizeof *environment);
    char *device = malloc(strlen(kw_device_name()) + sizeof "KERNELWRIGHT_DEVICE=");
    int ends[2];
    if (!environment || !device || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        kw_say("cannot start a device worker: %s", strerror(errno));
        free(environment);
        free(device);
        return -1;
    }
    strcat(strcpy(device, "KERNELWRIGHT_DEVICE="), kw_device_name());
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "KERNELWRIGHT_FD=", 16) && strncmp(environ[i], "KERNELWRIGHT_DEVICE=", 20))
            environment[kept++] = environ[i];
    environment[kept++] = "KERNELWRIGHT_FD=3";
    environment[kept++] = device;
    char *const command[] = {"sh", "-c", (char *)worker, NULL};
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0)
            become_worker(ends[1], command, environment);
        _exit(0);
    }
    close(ends[1]);
    free(environment);
    free(device);
    if (child < 0) {
        kw_say("cannot start a device worker: %s", strerror(errno));
        close(ends[0]);
        return -1;
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return ends[0];
}

static int map_at(uint64_t address, uint64_t size, int descriptor)
{
    void *wanted = (void *)address;
    void *got = mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, descriptor, 0);
    if (got == wanted)
        return 1;
    /* A kernel before 4.17 takes the address as a hint. */
    if (got != MAP_FAILED)
        munmap(got, size);
    return 0;
}

/* Maps the arena where the worker has it; when that place is taken here, the worker moves to one that is free. */
static int map_arena(int descriptor)
{
    enum { ATTEMPTS = 8 };
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (map_at(welcome.arena_address, welcome.arena_size, descriptor))
            return 0;
        void *hole = mmap(NULL, welcome.arena_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (hole == MAP_FAILED)
            break;
        munmap(hole, welcome.arena_size);
        struct kw_move_arena move = {.address = (uint64_t)hole};
        int result = kw_request(KW_MOVE_ARENA, &move, sizeof move, &welcome, sizeof welcome);
        if (result)
            return result;
    }
    kw_say("the device's memory (%llu MiB) fits nowhere in this program's address space",
           (unsigned long long)(welcome.arena_size >> 20));
    return cudaErrorInitializationError;
}

/* Who we are, for the worker: the device wanted, then the program's path. */
static size_t introduction(char *text, size_t size)
{
    int length = snprintf(text, size - 1, "%s", kw_device_name());
    size_t used = (size_t)length < size - 2 ? (size_t)length + 1 : size - 1;
    ssize_t path = readlink("/proc/self/exe", text + used, size - used - 1);
    used += path > 0 ? (size_t)path : 0;
    text[used] = 0;
    return used + 1;
}

static int shake_hands(void)
{
    struct kw_hello hello = {.version = KW_PROTOCOL_VERSION, .process = (uint32_t)getpid()};
    char text[4352];
    size_t text_size = introduction(text, sizeof text);
    int arena = -1;
    pthread_mutex_lock(&wire);
    int result = send_message(KW_HELLO, &hello, sizeof hello, text, text_size);
    if (!result)
        result = receive_reply(KW_HELLO, &welcome, sizeof welcome, NULL, NULL, &arena);
    pthread_mutex_unlock(&wire);
    if (!result && welcome.version != KW_PROTOCOL_VERSION) {
        kw_say("the device worker speaks version %u of the protocol, this program version %u; "
               "compile the program again", welcome.version, KW_PROTOCOL_VERSION);
        result = cudaErrorInsufficientDriver;
    }
    if (!result && !welcome.device_count)
        result = cudaErrorNoDevice;
    if (!result && welcome.arena_size)
        result = arena < 0 ? lost("waiting for the arena") : map_arena(arena);
    if (arena >= 0)
        close(arena);
    return result ? result : kw_share_managed();
}

static void forked(void)
{
    /* As in CUDA, a device does not survive fork: the child must not speak on its parent's connection. */
    if (state != LIVE)
        return;
    close(connection);
    connection = -1;
    state = ENDED;
    failure = cudaErrorInitializationError;
}

/* Returns a connected socket, or -1 when this program is to have no device. */
static int find_worker(void)
{
    const char *path = getenv("KERNELWRIGHT_SOCKET");
    const char *worker = getenv("KERNELWRIGHT_WORKER");
    if (!strcmp(kw_device_name(), "none") && !(path && *path && !getenv("KERNELWRIGHT_DEVICE")))
        return -1;
    if (path && *path)
        return connect_to(path);
    if (!worker)
        worker = kernelwright_default_worker;
    if (*worker)
        return start_worker(worker);
    kw_say("KERNELWRIGHT_DEVICE=%s asks for a device, but no worker is known: set KERNELWRIGHT_WORKER to the command "
           "that starts one, or run the program with kw run",
           kw_device_name());
    return -1;
}

int kw_connect(void)
{
    if (state == LIVE)
        return failure;
    if (state == ENDED)
        return failure ? failure : cudaErrorCudartUnloading;
    if (state == NO_DEVICE)
        return cudaErrorNoDevice;
    pthread_mutex_lock(&connecting);
    if (state == UNTRIED) {
        connection = find_worker();
        if (connection < 0) {
            state = NO_DEVICE;
        } else {
            int result = shake_hands();
            if (!result)
                result = kw_announce_modules();
            if (result) {
                /* There is no worker left, so that a reset does not clear the error either. */
                failure = result;
                if (connection >= 0)
                    close(connection);
                connection = -1;
            }
            busy = 0;
            pthread_atfork(NULL, NULL, forked);
            state = LIVE;
        }
    }
    pthread_mutex_unlock(&connecting);
    return kw_connect();
}

/* After every destructor of the program, so that a destructor may still call CUDA. */
__attribute__((destructor)) static void say_goodbye(void)
{
    kw_write_report();
    if (state == LIVE && connection >= 0) {
        kw_command(KW_GOODBYE, NULL, 0, NULL, 0);
        close(connection);
        connection = -1;
    }
    state = ENDED;
}
