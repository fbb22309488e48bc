/* Where ranks meet: a file of /dev/shm under the name that the unique id gives, mapped by all of them.
 *
 *     it grows, is zeros at first, and zeros mean "no one is here": so that no rank has to be the first
 *     its name goes away when all have come, or when they never will; what killed ranks left is removed by the next
 */
#define _GNU_SOURCE
#include "nccl_comm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/dev/shm/"
#define PREFIX "kernelwright-nccl-"

enum { PAGE = 4096, DATA = 2 << 20, YOUNG_S = 10 };

_Thread_local int kw_nccl_looks_closely;

static size_t in_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static void path_of(struct kw_nccl_name name, char *path, size_t room)
{
    snprintf(path, room, FOLDER PREFIX "%016llx%016llx", (unsigned long long)name.token[0],
             (unsigned long long)name.token[1]);
}

ncclResult_t kw_nccl_new_name(struct kw_nccl_name *name)
{
    int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, name, sizeof *name);
    if (file >= 0)
        close(file);
    return got == sizeof *name ? ncclSuccess : kw_nccl_error(ncclSystemError, "there are no random numbers for an id");
}

/* ---- whether processes live ---- */

/* When a process started, in ticks since the machine did; 0 when it has ended. One that its parent has not waited for has
   ended, but not one whose first thread alone has. */
static uint64_t start_of(int pid)
{
    char path[64], text[1024], state;
    unsigned long long threads, started;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got <= 0)
        return 0;
    text[got] = 0;
    /* The program's name is in parentheses and may hold some. Behind it come field 3 and on (proc(5)). */
    const char *fields = strrchr(text, ')');
    if (!fields ||
        sscanf(fields + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %*s %llu", &state,
               &threads, &started) != 3)
        return 0;
    return (state == 'Z' || state == 'X') && threads < 2 ? 0 : started;
}

static int has_ended(const struct kw_nccl_seat *seat)
{
    return start_of(seat->pid) != seat->started;
}

const char *kw_nccl_is_gone(const struct kw_nccl_meeting *meeting, int rank)
{
    const struct kw_nccl_seat *seat = &meeting->header->seat[rank];
    switch (atomic_load(&seat->presence)) {
    case KW_NCCL_LEFT:
        return "has left the communicator";
    case KW_NCCL_FAILED:
        return "has failed";
    case KW_NCCL_HERE:
        return kw_nccl_looks_closely && has_ended(seat) ? "has ended" : NULL;
    }
    return NULL;
}

/* Removes what ranks left that were killed before all had come. */
static void sweep(void)
{
    DIR *folder = opendir(FOLDER);
    for (struct dirent *each; folder && (each = readdir(folder));) {
        char path[sizeof FOLDER + sizeof each->d_name];
        struct stat about;
        if (strncmp(each->d_name, PREFIX, sizeof PREFIX - 1))
            continue;
        snprintf(path, sizeof path, FOLDER "%s", each->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (file < 0)
            continue;
        /* A young one may just be on its way to have ranks. */
        int is_left = !fstat(file, &about) && about.st_uid == geteuid() && time(NULL) - about.st_mtime > YOUNG_S;
        if (is_left && (size_t)about.st_size >= sizeof(struct kw_nccl_header)) {
            const struct kw_nccl_header *header = mmap(NULL, sizeof *header, PROT_READ, MAP_SHARED, file, 0);
            is_left = header != MAP_FAILED;
            for (int i = 0; i < KW_NCCL_RANKS && is_left; i++)
                is_left = !atomic_load(&header->seat[i].presence) || has_ended(&header->seat[i]);
            if (header != MAP_FAILED)
                munmap((void *)header, sizeof *header);
        }
        close(file);
        if (is_left)
            unlink(path);
    }
    if (folder)
        closedir(folder);
}

/* ---- joining ---- */

/* As much data as fits: programs in containers may have but 64 MB of shared memory. */
static void divide(struct kw_nccl_meeting *meeting)
{
    size_t ranks = (size_t)meeting->ranks, pairs = ranks * ranks;
    size_t slot = 4 * DATA / ranks / PAGE * PAGE, box = 4 * DATA / pairs / PAGE * PAGE;
    meeting->slot_size = slot > DATA / 2 ? DATA / 2 : slot;
    meeting->box_size = box > DATA / 4 ? DATA / 4 : box < PAGE ? PAGE : box;
    size_t boxes_at = in_pages(sizeof(struct kw_nccl_header));
    size_t slots_at = boxes_at + in_pages(pairs * sizeof(struct kw_nccl_box));
    size_t data_at = slots_at + ranks * meeting->slot_size;
    meeting->size = data_at + pairs * meeting->box_size;
    char *start = (char *)meeting->header;
    meeting->box = (struct kw_nccl_box *)(start + boxes_at);
    meeting->slots = start + slots_at;
    meeting->boxes = start + data_at;
}

/* The first sentence counts. */
static ncclResult_t spoil(struct kw_nccl_header *header, const char *sentence)
{
    uint32_t not_yet = 0;
    if (atomic_compare_exchange_strong(&header->spoiled, &not_yet, 1)) {
        snprintf(header->sentence, sizeof header->sentence, "%s", sentence);
        atomic_store(&header->spoiled, 2);
    }
    return kw_nccl_error(ncclInvalidUsage, "%s", sentence);
}

static ncclResult_t take_seat(struct kw_nccl_meeting *meeting)
{
    struct kw_nccl_header *header = meeting->header;
    struct kw_nccl_seat *seat = &header->seat[meeting->rank];
    char sentence[KW_NCCL_SENTENCE];
    uint32_t ranks = 0, absent = KW_NCCL_ABSENT;
    if (!atomic_compare_exchange_strong(&header->ranks, &ranks, (uint32_t)meeting->ranks) &&
        ranks != (uint32_t)meeting->ranks) {
        snprintf(sentence, sizeof sentence, "one rank says there are %u ranks, another says %d", ranks, meeting->ranks);
        return spoil(header, sentence);
    }
    if (!atomic_compare_exchange_strong(&seat->presence, &absent, KW_NCCL_COMING)) {
        snprintf(sentence, sizeof sentence, "two ranks have the number %d", meeting->rank);
        return spoil(header, sentence);
    }
    seat->pid = getpid();
    seat->started = start_of(seat->pid);
    seat->device = kw_device;
    atomic_store(&seat->presence, KW_NCCL_HERE);
    return ncclSuccess;
}

ncclResult_t kw_nccl_join(struct kw_nccl_meeting *meeting, struct kw_nccl_name name, int ranks, int rank)
{
    char path[128];
    *meeting = (struct kw_nccl_meeting){.name = name, .ranks = ranks, .rank = rank};
    path_of(name, path, sizeof path);
    divide(meeting);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return kw_nccl_error(ncclSystemError, "%s cannot be opened: %s", path, strerror(errno));
    /* Allocated now: a full /dev/shm would be a SIGBUS later. A rank that has another idea of how many there are
       makes it larger, never smaller. */
    int error = posix_fallocate(file, 0, (off_t)meeting->size);
    void *at = error ? MAP_FAILED : mmap(NULL, meeting->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (!error && at == MAP_FAILED)
        error = errno;
    close(file);
    if (error) {
        unlink(path);
        return kw_nccl_error(ncclSystemError, "%zu bytes of shared memory for %d ranks: %s", meeting->size, ranks,
                             strerror(error));
    }
    meeting->header = at;
    divide(meeting);
    ncclResult_t result = take_seat(meeting);
    if (result) {
        munmap(at, meeting->size);
        meeting->header = NULL;
    } else
        sweep();
    return result;
}

static int check_devices(const struct kw_nccl_meeting *meeting)
{
    const struct kw_nccl_seat *seat = meeting->header->seat;
    for (int i = 0; i < meeting->ranks; i++)
        for (int j = 0; j < i; j++)
            if (seat[i].pid == seat[j].pid && seat[i].device == seat[j].device)
                return -(int)kw_nccl_error(ncclInvalidUsage, "ranks %d and %d have the same device, %d", j, i,
                                           seat[i].device);
    return 1;
}

int kw_nccl_all_came(struct kw_nccl_meeting *meeting)
{
    struct kw_nccl_header *header = meeting->header;
    int came = 0;
    if (atomic_load(&header->spoiled) == 2)
        return -(int)kw_nccl_error(ncclInvalidUsage, "%s", header->sentence);
    for (int i = 0; i < meeting->ranks; i++)
        came += atomic_load(&header->seat[i].presence) >= KW_NCCL_HERE;
    if (came == meeting->ranks) {
        char path[128];
        path_of(meeting->name, path, sizeof path);
        unlink(path);
        return check_devices(meeting);
    }
    for (int i = 0; i < meeting->ranks; i++) {
        const char *gone = kw_nccl_is_gone(meeting, i);
        /* It may have seen the last one come, which we have not yet. */
        for (int j = came = 0; gone && j < meeting->ranks; j++)
            came += atomic_load(&header->seat[j].presence) >= KW_NCCL_HERE;
        if (gone && came < meeting->ranks)
            return -(int)kw_nccl_error(ncclRemoteError, "rank %d %s before all had come", i, gone);
    }
    return 0;
}

void kw_nccl_leave(struct kw_nccl_meeting *meeting, enum kw_nccl_presence as)
{
    if (!meeting->header)
        return;
    int came = 0;
    for (int i = 0; i < meeting->ranks; i++)
        came += atomic_load(&meeting->header->seat[i].presence) >= KW_NCCL_HERE;
    atomic_store(&meeting->header->seat[meeting->rank].presence, (uint32_t)as);
    if (came < meeting->ranks) {
        char path[128];
        path_of(meeting->name, path, sizeof path);
        unlink(path);
    }
    munmap(meeting->header, meeting->size);
    meeting->header = NULL;
}
