/* SPDX-FileCopyrightText: The ringscope authors
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The ABI of ringscope: plain C11, the only thing that the program and a plugin share at run time.
 *
 * A plugin is a schedule: for a place (rank, ranks, channel, ...) it plays a sequence of ops into a sink. Ops
 * name peers and chunks; they know nothing of memory, flags, CUDA or MPI. Engines in the core interpret them.
 *
 * Rules of the ABI:
 *  - A plugin exports one symbol, `ringscope_entry`, a constant struct that begins with the ABI version.
 *  - Function tables are frozen: a changed function means a new ABI version, an addition means an extension.
 *  - Data structs begin with their own size in bytes and only grow at the end; who fills one sets the size.
 *  - No exception crosses: a function reports failure by its status, with the text handed to sink->fail.
 *  - All strings are UTF-8, NUL-terminated and live as long as the plugin.
 * Each function carries a tag: [any-thread] pure, may be called at any time by any thread. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RINGSCOPE_ABI_VERSION 1u

enum { RINGSCOPE_OK = 0, RINGSCOPE_FAILED = 1 };

/* Element types. Values are stable: they are stored in files. */
enum {
    RINGSCOPE_FLOAT32 = 0,
    RINGSCOPE_FLOAT64 = 1,
    RINGSCOPE_FLOAT16 = 2,
    RINGSCOPE_BFLOAT16 = 3,
    RINGSCOPE_INT32 = 4,
    RINGSCOPE_INT64 = 5,
    RINGSCOPE_UINT8 = 6,
    RINGSCOPE_INT8 = 7,
    RINGSCOPE_UINT32 = 8,
    RINGSCOPE_UINT64 = 9,
    RINGSCOPE_FLOAT8_E4M3 = 10, /* the 8-bit floats of the OCP: no engine reduces them, only NCCL does */
    RINGSCOPE_FLOAT8_E5M2 = 11,
    RINGSCOPE_DTYPE_COUNT = 12
};

/* Reduction operations. avg sums, and divides once where an op says `finish`. */
enum {
    RINGSCOPE_SUM = 0,
    RINGSCOPE_PROD = 1,
    RINGSCOPE_MIN = 2,
    RINGSCOPE_MAX = 3,
    RINGSCOPE_AVG = 4,
    RINGSCOPE_REDUCTION_COUNT = 5
};

/* Protocols of a link; see docs/glossary.md. */
enum { RINGSCOPE_LL = 0, RINGSCOPE_LL128 = 1, RINGSCOPE_SIMPLE = 2, RINGSCOPE_PROTOCOL_COUNT = 3 };

enum { RINGSCOPE_MOST_OPTIONS = 8 };

/* What an op belongs to: a label for traces and pictures, without effect on execution. */
enum {
    RINGSCOPE_REDUCE_SCATTER = 0,
    RINGSCOPE_ALL_GATHER = 1,
    RINGSCOPE_REDUCE = 2,
    RINGSCOPE_BROADCAST = 3,
    RINGSCOPE_PHASE_COUNT = 4
};

/* The rank's own contribution to an op. */
enum { RINGSCOPE_LOCAL_NONE = 0, RINGSCOPE_LOCAL_INPUT = 1, RINGSCOPE_LOCAL_OUTPUT = 2 };

/* Where a schedule is played: one sequential program per rank and channel. */
typedef struct ringscope_place {
    uint32_t size;          /* sizeof(ringscope_place) */
    int32_t ranks;          /* >= 2: a single rank needs no schedule */
    int32_t rank;           /* 0 .. ranks-1 */
    int32_t channels;       /* >= 1 */
    int32_t channel;        /* 0 .. channels-1 */
    int64_t slices;         /* >= 1: pieces that this channel's part of every chunk is cut into */
    int64_t in_flight;      /* >= 1: messages that a connection holds, for a schedule's own pipelining */
    const int64_t* options; /* the values of the algorithm's options, in their order; null where it has none
                             */
} ringscope_place;

/* One op: receive one message from each of `recv`, combine them in the listed order with the own contribution
 * at place `local_at`, then store the result to the output and send it to each of `send`.
 *
 * The op applies to slice `slice` of chunks first_chunk .. first_chunk+chunk_count-1, walked in this order,
 * one message per chunk and peer. Without recv and with a local contribution it reads; with neither it is an
 * error. Accumulation goes to the output, never to the input. */
typedef struct ringscope_op {
    uint32_t size;       /* sizeof(ringscope_op) */
    int32_t recv_count;  /* 0 .. ranks-1 */
    int32_t send_count;  /* 0 .. ranks-1 */
    int32_t local;       /* RINGSCOPE_LOCAL_* */
    int32_t local_at;    /* received messages that come before the own contribution: 0 .. recv_count */
    int32_t store;       /* 1: the result goes to the output */
    int32_t finish;      /* 1: this reduction completes the chunk (avg divides here, once) */
    int32_t phase;       /* RINGSCOPE_REDUCE_SCATTER ... */
    const int32_t* recv; /* distinct ranks, in the order of summation */
    const int32_t* send; /* distinct ranks, in the order of sending */
    int64_t slice;       /* 0 .. slices-1 */
    int32_t first_chunk; /* 0 .. chunks-1 */
    int32_t chunk_count; /* >= 1 */
} ringscope_op;

/* Receives the ops of one play. Both functions belong to the caller of `play`. */
typedef struct ringscope_sink {
    uint32_t size; /* sizeof(ringscope_sink) */
    void* self;
    /* Takes a copy of the op and its peers. A status other than RINGSCOPE_OK ends the play and is returned by
     * it. */
    int32_t (*op)(void* self, const ringscope_op* op);
    /* Hands over the reason before `play` returns RINGSCOPE_FAILED. Copies the text. */
    void (*fail)(void* self, const char* text);
} ringscope_sink;

/* What a plugin would set for a message size, engine and number of ranks; 0 leaves it to the program. */
typedef struct ringscope_tuning {
    uint32_t size; /* sizeof(ringscope_tuning) */
    int32_t channels;
    int64_t slot_bytes;
    int32_t protocol;   /* set to the algorithm's own before the call; another one of its `protocols` may be
                           put there */
    const char* engine; /* set before the call: what will play it: "host-shm", "cuda-p2p", ... */
} ringscope_tuning;

/* A whole number that a user may set for an algorithm (`params` in YAML). Frozen: it never grows. */
typedef struct ringscope_option {
    const char* name; /* lower-case letters, digits and underscores; not a name that all algorithms have */
    const char* description; /* one line */
    int64_t usual;           /* where the user sets none */
    int64_t least, most;     /* values outside are refused before any run */
} ringscope_option;

/* One algorithm: an id, the protocol of its links and its schedule. */
typedef struct ringscope_algorithm {
    uint32_t size;           /* sizeof(ringscope_algorithm) */
    const char* id;          /* lower case with hyphens, for example "ring-ll" */
    const char* description; /* one line */
    int32_t protocol;        /* RINGSCOPE_LL ... */
    /* [any-thread] Chunks that a message is cut into for this number of ranks (a ring: ranks); >= 1, or 0
     * when this number of ranks is not supported. May be null where chunks_at is given. */
    int32_t (*chunks)(int32_t ranks);
    /* [any-thread] Plays the program of one rank and channel into the sink. */
    int32_t (*play)(const ringscope_place* place, const ringscope_sink* sink);
    /* [any-thread] Optional, may be null. Payload bytes that src sends to dst for a message of `bytes`, by a
     * formula of its own, not by playing the schedule. place->rank and place->channel are not used. */
    int64_t (*closed_form)(const ringscope_place* place, int64_t bytes, int32_t src, int32_t dst);
    /* [any-thread] Optional, may be null. Fills `tuning`, whose size is set by the caller. */
    int32_t (*tune)(const ringscope_place* place, int64_t bytes, ringscope_tuning* tuning);
    /* [any-thread] Optional, may be null. A constant function table for the id, or null when not offered. */
    const void* (*get_extension)(const char* id);

    /* What follows may be missing in a plugin that was built before it was there: `size` tells. */

    int32_t option_count;            /* 0 .. RINGSCOPE_MOST_OPTIONS */
    const ringscope_option* options; /* option_count of them */
    /* [any-thread] Optional, may be null. As `chunks`, where the number depends on options. place->rank and
     * place->channel are not used. */
    int32_t (*chunks_at)(const ringscope_place* place);
    /* [any-thread] Optional, may be null: then all do. Whether place->rank takes part: 0 for a rank that only
     * serves the others: its input is in no sum, and its output is left alone. place->channel is not used. */
    int32_t (*takes_part)(const ringscope_place* place);
    /* Optional. Protocols that `tune` or a user may choose instead of `protocol`: bits 1 << RINGSCOPE_LL ...
     * 0: `protocol` alone. */
    uint32_t protocols;
    /* Optional, may be null. What engine `auto` means for this algorithm where there are GPUs. */
    const char* gpu_engine;
} ringscope_algorithm;

/* The exported symbol `ringscope_entry`. Nothing behind abi_version is read unless the version is known. */
typedef struct ringscope_plugin {
    uint32_t abi_version; /* RINGSCOPE_ABI_VERSION */
    uint32_t size;        /* sizeof(ringscope_plugin) */
    const char* name;
    const char* version;
    int32_t algorithm_count;
    /* [any-thread] The algorithm of an index 0 .. algorithm_count-1; lives as long as the plugin. */
    const ringscope_algorithm* (*algorithm)(int32_t index);
} ringscope_plugin;

/* Extension RINGSCOPE_HOST_KERNEL: a kernel of the plugin's own, for a pattern of ops that an interpreter
 * cannot play as fast. The schedule stays: it declares the traffic, is proved and described. What the kernel
 * moves is verified like any other result, but it is not traced. The core owns all memory; ranks meet in
 * windows only. Tags: [control] never timed, may allocate. [timed] no allocation, no output, no system call.
 */
#define RINGSCOPE_HOST_KERNEL "ringscope.kernel.host/1"

/* What a kernel is made for. Pointers stay valid until destroy. */
typedef struct ringscope_kernel_request {
    uint32_t size; /* sizeof(ringscope_kernel_request) */
    int32_t ranks;
    int32_t rank;
    int32_t dtype;
    int32_t reduction;
    int64_t count;        /* elements */
    void* const* windows; /* windows[r]: the window of rank r, aligned to 4096 bytes, zeroed before the first
                             execute */
    void* wait;           /* for keep_waiting */
    /* [timed] To be called in every loop that waits for a peer: 1 to go on, 0 when the time is up or another
     * rank gave up; then execute returns RINGSCOPE_FAILED at once. */
    int32_t (*keep_waiting)(void* wait, int32_t peer);
} ringscope_kernel_request;

typedef struct ringscope_host_kernel {
    /* [control] Bytes of the window that each rank owns. `windows` is not set yet. */
    int64_t (*window_bytes)(const ringscope_kernel_request* request);
    /* [control] Fills *kernel. */
    int32_t (*create)(const ringscope_kernel_request* request, void** kernel);
    /* [timed] All-reduces; input and output may be the same. Called by all ranks in the same order. */
    int32_t (*execute)(void* kernel, const void* input, void* output);
    /* [control] */
    void (*destroy)(void* kernel);
} ringscope_host_kernel;

#ifdef __cplusplus
}
#endif
