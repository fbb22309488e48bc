/*
 * The wire between a CUDA program and its device worker: the one place that defines it.
 *
 * A program (the client) and a worker talk over a Unix stream socket and share one memory arena, a memfd that the
 * worker hands over with its welcome and that both map at the same address. Every message is
 *
 *     struct kw_header | fixed body of the type (see the tables below) | tail of header.size minus what came before
 *
 * in little-endian order, with natural alignment and no hidden padding. Three kinds of messages:
 *
 *   command   client -> worker, no answer. Commands run in the order they were sent; what goes wrong with one is told
 *             in the reply to the next request (its `result`), as CUDA tells asynchronous errors.
 *   request   client -> worker, answered by exactly one reply: type | KW_REPLY, the same sequence number, `result` a
 *             cudaError_t. With result 0 the reply's body follows; otherwise only a tail: a sentence for the user
 *             (UTF-8, no NUL), or nothing where the error says it all.
 *   output    worker -> client, only while a request waits: text that kernels printed; comes before the reply.
 *
 * At most one request is under way on a connection, and the worker speaks only when asked, so neither side can block
 * the other: the worker must read until it has the whole next message, the client until it has its reply. A worker
 * that a program started for itself ends when the connection does, in the middle of a kernel too.
 *
 * Handles (modules, kernels, variables, streams, events) are numbers the client chooses, so that creating one needs no
 * round trip. Stream 0 is the legacy default stream; a thread's own default stream is a stream like any other here.
 * Addresses are 64-bit. When the welcome says KW_ARENA_IS_DEVICE, device memory lies in the arena and the client copies
 * by itself after waiting for the stream; otherwise copies are messages and host bytes travel through the staging area.
 * Several devices share the arena. What is registered is so for all of them; a variable has a place of its own on each. A
 * reset forgets what one of them has, but for managed variables.
 * Arrays and textures need no messages: they are device memory that the client describes (texture_types.h).
 *
 * Changing anything here means raising KW_PROTOCOL_VERSION and src/kernelwright/cuda/wire/protocol.py with it; a test
 * compares the two field by field.
 */
#ifndef KERNELWRIGHT_PROTOCOL_H
#define KERNELWRIGHT_PROTOCOL_H

#include <stdint.h>

#define KW_PROTOCOL_VERSION 5u
#define KW_REPLY 0x8000u
#define KW_MESSAGE_LIMIT 0xffff0000u /* bytes of one message, tail and header included */

enum kw_message {
    /* session */
    KW_HELLO = 1,                    /* request  kw_hello: device NUL program -> kw_welcome, with the arena's memfd */
    KW_MOVE_ARENA = 2,               /* request  kw_move_arena                -> kw_welcome, without the memfd */
    KW_GOODBYE = 3,                  /* command  - */
    KW_OUTPUT = 4,                   /* output   kw_output: text */
    /* registration */
    KW_REGISTER_MODULE = 10,         /* command  kw_register_module: the embedded bytes */
    KW_REGISTER_KERNEL = 11,         /* command  kw_register_symbol: mangled name */
    KW_REGISTER_VARIABLE = 12,       /* command  kw_register_symbol: mangled name */
    KW_UNREGISTER_MODULE = 14,       /* command  kw_handle */
    KW_READ_IMAGE = 15,              /* request  -: a module image          -> kw_handle, a kw_module_format: what to register */
    KW_COMPILE = 16,                 /* request  kw_compile: its texts        -> kw_compiled: what it made */
    /* memory */
    KW_ALLOCATE = 20,                /* request  kw_allocate                  -> kw_memory */
    KW_FREE = 21,                    /* request  kw_handle (an address)       -> -, after waiting for the device */
    KW_FILL = 22,                    /* command  kw_fill */
    KW_COPY = 23,                    /* command  kw_copy */
    KW_HOST_ACCESS = 24,             /* command  kw_host_access: only when the welcome says KW_NOTE_HOST_ACCESS; + 2: call stack */
    KW_MEMORY_INFO = 25,             /* request  -                            -> kw_memory_info */
    KW_SYMBOL_ADDRESS = 26,          /* request  kw_handle (a variable)       -> kw_memory */
    /* kernels */
    KW_LAUNCH = 40,                  /* command  kw_launch: packed arguments */
    KW_KERNEL_LAYOUT = 41,           /* request  kw_handle (a kernel)         -> kw_kernel_layout: kw_parameter[] */
    KW_FUNCTION_ATTRIBUTES = 42,     /* request  kw_handle                    -> kw_function_attributes */
    KW_SET_FUNCTION_ATTRIBUTE = 43,  /* request  kw_function_attribute        -> - */
    KW_OCCUPANCY = 44,               /* request  kw_occupancy                 -> kw_handle: resident blocks */
    /* libraries: a routine by its public name, carried out by the worker */
    KW_LIBRARY_CALL = 45,            /* command  kw_library_call: name NUL, kw_argument[] */
    KW_LIBRARY_QUESTION = 46,        /* request  kw_library_call: the same    -> kw_library_answer */
    /* streams, events, device */
    KW_STREAM_CREATE = 50,           /* command  kw_stream */
    KW_STREAM_DESTROY = 51,          /* command  kw_handle */
    KW_STREAM_SYNCHRONIZE = 52,      /* request  kw_handle                    -> - */
    KW_STREAM_QUERY = 53,            /* request  kw_handle                    -> -; result 600: not ready */
    KW_STREAM_WAIT = 54,             /* command  kw_event: the stream waits for the event */
    KW_EVENT_CREATE = 55,            /* command  kw_event */
    KW_EVENT_DESTROY = 56,           /* command  kw_handle */
    KW_EVENT_RECORD = 57,            /* command  kw_event */
    KW_EVENT_SYNCHRONIZE = 58,       /* request  kw_handle                    -> - */
    KW_EVENT_QUERY = 59,             /* request  kw_handle                    -> -; result 600: not ready */
    KW_EVENT_ELAPSED = 60,           /* request  kw_elapsed                   -> kw_milliseconds */
    KW_DEVICE_SYNCHRONIZE = 61,      /* request  -                            -> - */
    KW_DEVICE_RESET = 62,            /* request  -                            -> -; all is forgotten, as after HELLO */
    KW_DEVICE_PROPERTIES = 63,       /* request  -                            -> kw_device_properties */
    KW_PEER_ACCESS = 64,             /* command  kw_peer_access: kernels of the device reach the peer's memory, or no more */
    KW_STACK_LIMIT = 65,             /* request  kw_handle (bytes of a thread) -> - */
    /* what tools ask, not programs */
    KW_LAST_ERROR = 79,              /* request  -                            -> -; the oldest error not told yet */
    KW_SWAP_KERNEL = 80,             /* request  kw_swap: kernel name NUL, blob -> -; no blob restores the original */
    KW_COUNTERS = 81,                /* request  kw_handle: 1 resets          -> -: JSON text */
    KW_NOTE_ERROR = 82,              /* command  kw_note_error: sentence NUL kernel NUL reason NUL call stack; with KW_NOTE_ERRORS */
};

struct kw_header {
    uint32_t size;     /* bytes of the whole message, this header included */
    uint16_t type;     /* enum kw_message, | KW_REPLY in a reply */
    uint16_t device;   /* the device the message is about, counted from 0 */
    uint32_t sequence; /* of the client's messages, counted from 1; a reply repeats its request's */
    int32_t result;    /* cudaError_t in a reply, 0 otherwise */
};

struct kw_handle {
    uint64_t handle;
};

struct kw_hello {
    uint32_t version;
    uint32_t process;
};

enum kw_welcome_flags {
    KW_ARENA_IS_DEVICE = 1,  /* device, pinned and managed memory lie in the arena */
    KW_NOTE_HOST_ACCESS = 2, /* send KW_HOST_ACCESS for every byte range the client copies by itself */
    KW_NOTE_ERRORS = 4,      /* send KW_NOTE_ERROR for every call that fails */
    KW_NOTE_DIRECT_ACCESS = 8, /* send KW_HOST_ACCESS also when the program itself touches shared memory too early */
};

struct kw_welcome {
    uint32_t version;
    uint32_t device_count;
    uint32_t flags; /* enum kw_welcome_flags */
    uint32_t reserved;
    uint64_t arena_address;
    uint64_t arena_size;      /* bytes; 0: no arena, and no file descriptor with this message */
    uint64_t staging_address; /* inside the arena: host bytes on their way to or from device memory */
    uint64_t staging_size;
};

struct kw_move_arena {
    uint64_t address; /* arena_size bytes are free there in the client */
};

struct kw_output {
    uint32_t stream; /* 1 standard output, 2 standard error */
    uint32_t reserved;
};

enum kw_module_format {
    KW_FORMAT_BLOB = 1,   /* runtime/blob.h */
    KW_FORMAT_NVIDIA = 2, /* a fat binary that nvcc embedded */
};

struct kw_register_module {
    uint32_t module;
    uint32_t format; /* enum kw_module_format */
};

enum kw_symbol_flags {
    KW_SYMBOL_CONSTANT = 1,
    KW_SYMBOL_EXTERNAL = 2, /* declared here, defined in another module */
    KW_SYMBOL_MANAGED = 4,  /* its storage is already there, at `address`, shared with the host */
};

struct kw_register_symbol {
    uint32_t module;
    uint32_t symbol; /* kernels and variables are numbered apart, from 0, across all modules */
    uint32_t flags;  /* enum kw_symbol_flags */
    uint32_t reserved;
    uint64_t size; /* bytes of a variable as the host sees it */
    uint64_t address; /* of a managed variable, in the arena; 0 otherwise */
};

/* A program for NVRTC. Texts, each with its NUL: its name, the source, of each header its name and text, options, expressions that
   name kernels and variables. */
struct kw_compile {
    uint32_t headers;
    uint32_t options;
    uint32_t expressions;
    uint32_t reserved;
};

/* The log, PTX and names that the linker knows for the expressions, each with its NUL, in this order; then the image. */
struct kw_compiled {
    uint32_t result; /* nvrtcResult; other than 0: there is a log, and nothing else */
    uint32_t log_size;
    uint64_t ptx_size;
    uint64_t names_size;
    uint64_t image_size;
};

enum kw_memory_kind {
    KW_MEMORY_DEVICE = 0,
    KW_MEMORY_PINNED = 1,
    KW_MEMORY_MANAGED = 2,
};

struct kw_allocate {
    uint64_t size;
    uint32_t kind; /* enum kw_memory_kind */
    uint32_t reserved;
};

struct kw_memory {
    uint64_t address;
    uint64_t size;
};

struct kw_memory_info {
    uint64_t free;
    uint64_t total;
};

struct kw_fill {
    uint64_t address;
    uint64_t pitch; /* bytes from one row to the next */
    uint64_t width; /* bytes of a row */
    uint64_t height;
    uint64_t stream;
    uint32_t value; /* the byte */
    uint32_t reserved;
};

/* A box of `width` bytes x `height` rows x `depth` slices. Both ends lie on the device or in the arena. */
struct kw_copy {
    uint64_t to;
    uint64_t from;
    uint64_t to_pitch; /* bytes from one row to the next */
    uint64_t from_pitch;
    uint64_t to_slice; /* bytes from one slice to the next */
    uint64_t from_slice;
    uint64_t width;
    uint64_t height;
    uint64_t depth;
    uint64_t stream;
};

struct kw_host_access {
    uint64_t address;
    uint64_t size;
    uint64_t stream;
    uint32_t written; /* 1 the host wrote the range, 0 it read it; + 2: by itself, and we know only the first byte */
    uint32_t reserved;
};

struct kw_launch {
    uint64_t stream;
    uint32_t kernel;
    uint32_t cooperative; /* 1: all blocks run at the same time */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes; /* dynamic */
    uint32_t arguments_size;
};

struct kw_parameter {
    uint32_t offset;
    uint32_t size;
};

struct kw_kernel_layout {
    uint32_t parameter_count;
    uint32_t arguments_size; /* bytes of all parameters, packed at their offsets */
};

struct kw_function_attributes {
    uint64_t static_shared_bytes;
    uint64_t constant_bytes;
    uint64_t local_bytes;
    uint32_t max_threads;
    uint32_t registers;
    uint32_t ptx_version;    /* 80: compute capability 8.0 */
    uint32_t binary_version;
    uint32_t max_dynamic_shared_bytes;
    int32_t preferred_carveout;
};

struct kw_function_attribute {
    uint32_t kernel;
    uint32_t attribute; /* cudaFuncAttribute */
    int32_t value;
    uint32_t reserved;
};

struct kw_occupancy {
    uint64_t shared_bytes; /* dynamic */
    uint32_t kernel;
    uint32_t block_threads;
};

enum kw_argument_kind {
    KW_ARGUMENT_WORD = 0,   /* an integer, an enumerator or a device address */
    KW_ARGUMENT_VALUE = 1,  /* a number that the host gave: `size` bytes of `value` */
    KW_ARGUMENT_DEVICE = 2, /* a number in device memory at `word` */
    KW_ARGUMENT_ANSWER = 3, /* a number that the host is to get; `size` bytes of `value` are what it was before */
};

struct kw_library_call {
    uint64_t stream;
    uint32_t name_size; /* bytes, its NUL included */
    uint32_t count;     /* of arguments */
};

struct kw_argument {
    uint64_t word;
    uint32_t kind; /* enum kw_argument_kind */
    uint32_t size;
    uint8_t value[40];
};

enum { KW_ANSWERS = 4 };

/* What the arguments of kind KW_ARGUMENT_ANSWER are now, in their order, 40 bytes each. */
struct kw_library_answer {
    uint8_t value[160];
};

struct kw_stream {
    uint64_t stream;
    uint32_t flags; /* 1: does not wait for stream 0 */
    int32_t priority;
};

struct kw_event {
    uint64_t event;
    uint64_t stream;
    uint32_t flags; /* cudaEvent flags at creation */
    uint32_t reserved;
};

struct kw_elapsed {
    uint64_t start;
    uint64_t end;
};

struct kw_milliseconds {
    double milliseconds;
};

struct kw_device_properties {
    char name[256];
    uint8_t uuid[16];
    uint64_t global_bytes;
    uint64_t shared_bytes_per_block;
    uint64_t shared_bytes_per_block_optin;
    uint64_t shared_bytes_per_multiprocessor;
    uint64_t reserved_shared_bytes_per_block;
    uint64_t constant_bytes;
    uint64_t max_pitch;
    uint64_t texture_alignment;
    uint64_t texture_pitch_alignment;
    uint64_t surface_alignment;
    uint32_t major;
    uint32_t minor;
    uint32_t multiprocessors;
    uint32_t warp_size;
    uint32_t max_threads_per_block;
    uint32_t max_threads_per_multiprocessor;
    uint32_t max_blocks_per_multiprocessor;
    uint32_t max_block[3];
    uint32_t max_grid[3];
    uint32_t registers_per_block;
    uint32_t registers_per_multiprocessor;
    uint32_t clock_khz;
    uint32_t memory_clock_khz;
    uint32_t memory_bus_bits;
    uint32_t l2_bytes;
    uint32_t persisting_l2_bytes;
    uint32_t async_engines;
    uint32_t ecc;
    uint32_t integrated;
    uint32_t concurrent_kernels;
    uint32_t concurrent_managed_access;
    uint32_t pageable_memory_access;
    uint32_t cooperative_launch;
    uint32_t compute_preemption;
    uint32_t single_to_double_ratio;
    uint32_t max_texture_1d;
    uint32_t max_texture_1d_linear;
    uint32_t max_texture_2d[2];
    uint32_t max_texture_2d_linear[3]; /* width, height, pitch in bytes */
    uint32_t max_texture_3d[3];
    uint32_t pci_bus;
    uint32_t pci_device;
    uint32_t pci_domain;
    uint32_t kernel_timeout;
    uint32_t virtual_device; /* 1: the virtual GPU */
    uint32_t driver_version; /* 12080: CUDA 12.8 */
    uint32_t reserved;
};

struct kw_peer_access {
    uint32_t peer;
    uint32_t is_enabled;
};

struct kw_note_error {
    int32_t error; /* cudaError_t */
    uint32_t reserved;
};

struct kw_swap {
    uint32_t name_size; /* bytes, its NUL included */
    uint32_t reserved;
    uint64_t blob_size;
};

#endif
