/*
 * What the files of the runtime share. Every public function has the same shape:
 *
 *     cudaError_t cudaSomething(...)
 *     {
 *         KW_ENTER();                    // a device is there, and no earlier failure has taken it away
 *         ...                            // check arguments; kw_command or kw_request
 *         return kw_done(result);        // remembered for cudaGetLastError
 *     }
 */
#ifndef KERNELWRIGHT_CLIENT_H
#define KERNELWRIGHT_CLIENT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"
#include "protocol.h"

/* Public in the shared library, which hides everything else. */
#define KW_API __attribute__((visibility("default")))

/* ---- error.c ---- */

/* Remembers a failure for this thread's cudaGetLastError; returns its argument. */
#define kw_done(error) kw_done_in(__func__, error)
cudaError_t kw_done_in(const char *function, int error);

/* The call stack for KW_NOTE_ERROR and KW_HOST_ACCESS: FILE+0xOFFSET, by spaces; `first`, if any, in front. */
size_t kw_stack(char *to, size_t room, const void *first);

/* The function of the driver API under way in this thread; NULL while the program calls the runtime by itself. Functions of the
   runtime that it is made of leave their failures to it. */
extern _Thread_local const char *kw_driver_call;

/* Whether this thread has called the runtime by itself: its device then has a context, as CUDA has it. */
extern _Thread_local int kw_uses_runtime;

/* Tells tools of a failed call: `call` returned what is called `error_name`. */
void kw_note_failure(const char *call, const char *error_name, int error);

/* Forgets what was kept for kw_note_failure. */
void kw_call_is_over(void);

/* Where the launch that is under way is written in the program; NULL when none is. */
const void *kw_launched_from(void);
void kw_launch_is_over(void);

/* Why the call that is about to fail will fail, for KW_NOTE_ERROR. `kernel` may be empty. */
void kw_explain(const char *kernel, const char *reason);

/* ---- client.c ---- */

#define KW_ENTER()                          \
    do {                                    \
        if (!kw_driver_call)                \
            kw_uses_runtime = 1;            \
        int kw_entered = kw_connect();      \
        if (kw_entered)                     \
            return kw_done(kw_entered);     \
    } while (0)

/* 0 when a worker is there and healthy; otherwise the error that every call returns. */
int kw_connect(void);

/* 1 when a worker has been reached. Never starts one. */
int kw_is_connected(void);

/* Sends a command: no answer, and asynchronous errors come with the next request. Returns 0 or an error. */
int kw_command(uint16_t type, const void *body, size_t body_size, const void *tail, size_t tail_size);

/* As kw_request_tail; `sent` goes with the request. */
int kw_request_exchange(uint16_t type, const void *body, size_t body_size, const void *sent, size_t sent_size, void *reply,
                        size_t reply_size, void **tail, size_t *tail_size);

/* As kw_command without a tail, about another device than this thread's, perhaps. */
int kw_command_to(int device, uint16_t type, const void *body, size_t body_size);

/* Sends a request and waits; copies `reply_size` bytes of the reply's body. Returns its result. */
int kw_request(uint16_t type, const void *body, size_t body_size, void *reply, size_t reply_size);

/* As kw_request; the reply's bytes after `reply_size` come in `*tail`, to be freed, with a NUL behind them. */
int kw_request_tail(uint16_t type, const void *body, size_t body_size, void *reply, size_t reply_size, void **tail,
                    size_t *tail_size);

/* As kw_request; `tail` goes with the request. */
int kw_request_with(uint16_t type, const void *body, size_t body_size, const void *tail, size_t tail_size, void *reply,
                    size_t reply_size);

/* Tells the user, on standard error, with the project's name in front. */
void kw_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Commands have been sent since the device was last known to be idle: host copies must wait. */
int kw_is_busy(void);

/* The error that took the device away for good, 0 while all is well. A reset of the device clears it. */
int kw_failure(void);
void kw_forget_failure(void);

extern const struct kw_welcome *const kw_welcome;

enum { KW_DEVICES = 16 }; /* more than that are not looked at */

/* The device of this thread, counted from 0. */
extern _Thread_local int kw_device;

/* What was asked for with KERNELWRIGHT_DEVICE, or the default built into the program: "none", "h200", "cuda:0". */
const char *kw_device_name(void);

/* ---- module.c ---- */

struct kw_kernel {
    const void *host; /* the address that stands for it in host code; NULL once its module is gone */
    const char *name; /* mangled */
    uint32_t number;
    uint32_t module;
    int has_layout; /* the next four are known */
    uint32_t parameter_count;
    uint32_t arguments_size;
    struct kw_parameter *parameter;
    uint64_t pointers; /* bit p: parameter p is a pointer; the first 64 */
    uint32_t max_threads; /* 0: as many as the device allows */
    uint32_t static_shared_bytes;
    uint32_t max_dynamic_shared_bytes[KW_DEVICES]; /* set by cudaFuncSetAttribute; 0: the device's default */
    uint64_t launches;
    int is_told; /* why a launch of it was refused */
    struct kw_kernel *next; /* with the same hash */
};

struct kw_variable {
    const void *host; /* NULL once its module is gone */
    const char *name;
    uint32_t number;
    uint32_t module;
    uint32_t flags; /* enum kw_symbol_flags */
    uint64_t size;
    uint64_t address[KW_DEVICES]; /* on each device; 0: not asked yet */
    uint64_t shared; /* where a managed one lies that was loaded while the program runs, else 0 */
    int read_mode;   /* cudaTextureReadMode of a texture reference */
};

struct kw_module {
    const void *data; /* NULL once the module is gone */
    size_t size;
    uint32_t format; /* enum kw_module_format; 0: bytes of a format we do not know */
    uint32_t number;
    uint8_t id[16];
    char source[256]; /* the file it was compiled from, as far as we know */
};

/* A module that is loaded while the program runs: `data` is a blob, or of nvcc's code a fat binary, and stays where it is until
   the module is gone. NULL for want of memory. */
struct kw_module *kw_load_module(const void *data, size_t size, uint32_t format);

/* A kernel or a variable of it by name. `host` is any address of its own; `shared`: where a managed variable lies, else 0. */
void kw_add_kernel(struct kw_module *module, const void *host, const char *name);
void kw_add_variable(struct kw_module *module, const void *host, const char *name, size_t size, uint32_t flags,
                     uint64_t shared);

/* NULL when nothing registered that address. */
struct kw_kernel *kw_find_kernel(const void *host);
struct kw_variable *kw_find_variable(const void *host);

/* Fills in how the kernel's arguments are packed: from its blob, or by asking the worker. A device must be there.
   Returns 0 or an error. */
int kw_know_layout(struct kw_kernel *kernel);

/* Tells a new worker all that was registered before it came. */
int kw_announce_modules(void);

/* After a reset of this thread's device: addresses of variables and settings of kernels are gone. */
void kw_reset_modules(void);

/* Everything ever registered, in order; a module's number is its index. */
struct kw_list {
    void **item;
    size_t count;
    size_t room;
};
extern struct kw_list kw_modules, kw_kernels, kw_variables;

/* ---- memory.c ---- */

struct kw_block {
    uint64_t address;
    uint64_t size;
    uint32_t kind; /* enum kw_memory_kind, or KW_BLOCK_REGISTERED */
    uint16_t device;
    uint8_t is_symbol; /* a variable: not to be freed */
    uint32_t flags;    /* of cudaHostAlloc and cudaHostRegister */
    uint64_t context;  /* in which it was allocated; 0: the device's own */
};

/* The context of the driver API that is current in this thread, by its id; 0: the device's own, or none. */
extern _Thread_local uint64_t kw_context;

/* The program's own memory under cudaHostRegister, which registered.c shares with the device when a pointer is asked for. */
#define KW_BLOCK_REGISTERED 100u

/* The block that holds `address`. Returns 0 when there is none. */
int kw_find_block(const void *address, struct kw_block *block);

/* Allocates on the worker and remembers the block. */
int kw_allocate(uint64_t size, uint32_t kind, uint32_t flags, void **address);
int kw_release(const void *address);
void kw_release_context(uint64_t context); /* all that was allocated in it */

/* Remembers memory that the worker placed. */
int kw_add_block(struct kw_block block);
void kw_drop_symbol(uint64_t address); /* forgets a variable's memory, which goes with its module */
void kw_drop_block(uint64_t address);
void kw_drop_all_blocks(void); /* of this thread's device */

/* No reset of a device drops the block at `address` any more. */
void kw_keep_block(uint64_t address);

/* Whether that device has the memory at `address`. */
int kw_is_of_this_device(const void *address);

/* ---- registered.c ---- */

uint64_t kw_registered_address(uint64_t address); /* where the arena has it; 0: nowhere */
void kw_take_registered_back(void);                /* all pages that are shared become the program's own again */

/* A box of bytes from one place to another; pitches in bytes, slice: bytes from one slice to the next. */
struct kw_box {
    void *to;
    const void *from;
    size_t to_pitch, from_pitch;
    size_t to_slice, from_slice;
    size_t width, height, depth;
};

/* Copies in stream order. `wait`: return only when the bytes have arrived. Returns 0 or an error. */
int kw_copy_box(const struct kw_box *box, enum cudaMemcpyKind kind, cudaStream_t stream, int wait);
int kw_copy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream, int wait);

/* The device address of a registered variable, with its size. Returns 0 or an error. */
int kw_symbol(const void *host, uint64_t *address, uint64_t *size);

/* Calls `each` for every block that host and device share. */
void kw_each_shared_block(void (*each)(uint64_t address, uint64_t size));

/* ---- guard.c ---- */

/* While work is under way, memory that host and device share is closed to the program, where the worker wants to know. */
void kw_guard_close(void);
void kw_guard_open(void);
void kw_guard_renew(void); /* there is a new block */

/* ---- managed.c ---- */

/* Shares the program's managed variables with the device, or with all of them at once; before modules are announced. */
int kw_share_managed(void);

/* 1 when the host's variable is a managed one. */
int kw_is_managed(const void *host);

/* The address by which the device knows a managed variable that the host knows as `address`; else `address`. */
uint64_t kw_managed_address(uint64_t address);

/* ---- stream.c ---- */

/* The number of a live stream on the wire. Returns 0 or cudaErrorInvalidResourceHandle: for a stream of another device, too. */
int kw_stream_number(cudaStream_t stream, uint64_t *number);

/* The same for what may be given to a stream of any device: copies and fills. */
int kw_stream_anywhere(cudaStream_t stream, uint64_t *number, int *device);
int kw_stream_wait(cudaStream_t stream);
void kw_drop_all_streams(void); /* and events: of this thread's device */

/* ---- properties.c ---- */

/* 0, or cudaErrorInvalidDevice for a number that is no device's. */
int kw_check_device(int device);
/* Whether kernels of a device reach the memory of another, and that they do or no longer do. */
int kw_reaches(int device, int peer);
int kw_let_reach(int device, int peer, int is_enabled);

/* Properties of this thread's device, asked once. NULL when the worker does not tell. */
const struct kw_device_properties *kw_properties(void);

/* Of any device. Returns 0 or an error. */
int kw_ask_properties(int device, const struct kw_device_properties **told);

/* ---- array.c ---- */

/* Linear device memory behind an array. */
struct cudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* elements; height and depth 0 where there is no such dimension */
    unsigned int flags;
    char *data;
    size_t pitch; /* bytes of a row */
    size_t slice; /* bytes of a slice */
};

/* 1 when the array was made by us and not freed yet. */
int kw_is_array(const struct cudaArray *array);
size_t kw_element_size(const struct cudaChannelFormatDesc *format);

/* How many channels a format has: 1, 2 or 4; 0 for a format that is none. */
int kw_channels(const struct cudaChannelFormatDesc *format);
void kw_drop_all_arrays(void); /* of this thread's device; before its blocks are dropped */

/* ---- texture.c ---- */

void kw_drop_all_textures(void);

/* ---- report.c ---- */

void kw_write_report(void);

#endif
