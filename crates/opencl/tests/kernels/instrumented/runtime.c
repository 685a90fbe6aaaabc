/*
 * Runs an instrumented kernel on the host. Every access of the kernel to global, constant or local
 * memory comes here before it happens (see mod.rs for how), is counted for the item that makes it,
 * and is refused if it is outside of all buffers of its address space.
 *
 * The items of a group are fibers of one thread. An item runs until a barrier or its end, then the
 * next one does; groups run one after the other. That hides races, so local memory has a shadow:
 * two accesses of different items to one byte between the same barriers, at least one of them a
 * store, are refused, and so is a load of a byte that no item of the group has stored. Global
 * memory has no shadow.
 *
 * The arguments, the sizes and a call of the kernel are in a second C file that mod.rs writes.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { BUFFER, LOCAL, SCALAR };
enum { LOAD, STORE, ATOMIC };
enum { GLOBAL_SPACE = 1, CONSTANT_SPACE = 2, LOCAL_SPACE = 3, GENERIC_SPACE = 4 };
enum { GLOBAL_LOADS, GLOBAL_STORES, LOCAL_LOADS, LOCAL_STORES, CONSTANT_LOADS, ATOMICS,
       OPERATIONS, KINDS = OPERATIONS + 3 };

/* From the file that mod.rs writes. */
struct argument { int kind; uint64_t bytes; const char *name; const char *file; };
extern const struct argument tickbound_arguments[];
extern const unsigned tickbound_argument_count;
extern const uint64_t tickbound_global[3], tickbound_local[3];
extern const unsigned tickbound_dimensions;
void tickbound_call(void **arguments);

/* From the instrumented module: its local arrays and its constant tables. */
struct span { char *at; uint64_t bytes; const char *name; };
extern const struct span tickbound_local_arrays[], tickbound_constant_tables[];
extern const uint64_t tickbound_local_array_count, tickbound_constant_table_count;

/* What happened to a byte of local memory: who stored and who loaded it, after which barrier. */
struct shadow { uint64_t stored, loaded; uint32_t storer, loader; };
#define MANY UINT32_MAX

struct range { char *at; uint64_t bytes; const char *name; struct shadow *shadow; };
struct ranges { struct range *list; unsigned count, last; };
static struct ranges buffers, locals, constants;

struct fiber { jmp_buf context; char *stack; int started, finished; };
#define STACK_BYTES ((size_t)1 << 18)
static struct fiber *fibers;
static jmp_buf scheduler;
static void **arguments;

static uint64_t group_of[3], item_of[3], groups[3];
static uint32_t item;             /* linear local id of the running item */
static uint64_t group_first;      /* first interval between barriers of the running group */
static uint64_t interval = 1;     /* intervals between barriers are counted through all groups */
static uint64_t (*counts)[KINDS]; /* of every item, group by group */
static uint64_t (*now)[KINDS];    /* of the running group's items */

/* An access in the trace: where, by which item of the launch, group by group, and where in the source. */
struct touch { uint64_t at; uint32_t item, site, bytes, space; };
static FILE *trace;
static int pieces; /* whether a wide access counts once for each piece */

static _Noreturn void fail(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    vfprintf(stderr, format, rest);
    va_end(rest);
    fprintf(stderr, " (item %u of group %lu, %lu, %lu)\n", item, (unsigned long)group_of[0],
            (unsigned long)group_of[1], (unsigned long)group_of[2]);
    exit(3);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static struct range *find(struct ranges *in, const char *at, uint64_t bytes)
{
    for (unsigned i = 0; i < in->count; i++) {
        struct range *r = &in->list[(in->last + i) % in->count];
        if (at >= r->at && at + bytes <= r->at + r->bytes) {
            in->last = (unsigned)(r - in->list);
            return r;
        }
    }
    return NULL;
}

/* The nearest range below an address, for messages. */
static const char *nearest(const struct ranges *in, const char *at, long *offset)
{
    const char *name = "no buffer";
    *offset = 0;
    for (unsigned i = 0; i < in->count; i++) {
        const long distance = at - in->list[i].at;
        if (i == 0 || labs(distance) < labs(*offset)) {
            *offset = distance;
            name = in->list[i].name;
        }
    }
    return name;
}

static void check_local(const struct range *in, const char *at, uint64_t bytes, int kind)
{
    for (uint64_t i = 0; i < bytes; i++) {
        struct shadow *s = &in->shadow[at - in->at + (ptrdiff_t)i];
        const long byte = (long)(at - in->at) + (long)i;
        if (kind == ATOMIC) {
            s->stored = group_first; /* ordered with all others: initialised, no race */
            s->storer = item;
            continue;
        }
        if (s->stored == interval && s->storer != item) {
            fail("race: byte %ld of local `%s` was stored by item %u since the last barrier", byte,
                 in->name, s->storer);
        }
        if (kind == STORE && s->loaded == interval && s->loader != item) {
            fail("race: byte %ld of local `%s` was loaded by another item since the last barrier",
                 byte, in->name);
        }
        if (kind == STORE) {
            s->stored = interval;
            s->storer = item;
        } else {
            if (s->stored < group_first) {
                fail("byte %ld of local `%s` is loaded, but nobody stored it", byte, in->name);
            }
            s->loader = s->loaded == interval && s->loader != item ? MANY : item;
            s->loaded = interval;
        }
    }
}

static void access(int space, char *at, uint64_t bytes, uint64_t alignment, int kind, int site)
{
    static const char *const verbs[] = {"load", "store", "atomic"};
    static const char *const names[] = {"", "global", "constant", "local", "generic"};
    struct range *r = NULL;
    int found = space;
    if (space == GLOBAL_SPACE || space == GENERIC_SPACE) {
        r = find(&buffers, at, bytes);
        found = GLOBAL_SPACE;
    } else if (space == CONSTANT_SPACE) {
        r = find(&buffers, at, bytes);
        r = r ? r : find(&constants, at, bytes);
    }
    if (space == LOCAL_SPACE || (space == GENERIC_SPACE && !r)) {
        r = find(&locals, at, bytes);
        found = LOCAL_SPACE;
    }
    if (!r && space == GENERIC_SPACE && at >= fibers[item].stack &&
        at + bytes <= fibers[item].stack + STACK_BYTES) {
        return; /* private */
    }
    if (!r) {
        struct ranges *in = space == LOCAL_SPACE ? &locals : &buffers;
        long offset;
        const char *name = nearest(in, at, &offset);
        fail("out of bounds: %s of %lu bytes in %s memory, %ld bytes from the start of `%s`",
             verbs[kind], (unsigned long)bytes, names[space], offset, name);
    }
    if ((uintptr_t)at % alignment != 0) {
        fail("misaligned: %s of %lu bytes at byte %ld of `%s`", verbs[kind], (unsigned long)bytes,
             (long)(at - r->at), r->name);
    }
    if (r->shadow) {
        check_local(r, at, bytes, kind);
    }
    if (trace && kind != ATOMIC) {
        const struct touch touch = {(uint64_t)(uintptr_t)at, (uint32_t)(now - counts) + item,
                                    (uint32_t)site, (uint32_t)bytes,
                                    (uint32_t)found | (kind == STORE ? 8u : 0u)};
        if (fwrite(&touch, sizeof touch, 1, trace) != 1) {
            fail("cannot write the trace");
        }
    }
    const uint64_t widest = alignment < 16 ? alignment : 16;
    const uint64_t times = pieces ? (bytes + widest - 1) / widest : 1;
    if (kind == ATOMIC) {
        now[item][ATOMICS]++;
    } else if (found == CONSTANT_SPACE) {
        if (kind == STORE) {
            fail("store to constant memory");
        }
        now[item][CONSTANT_LOADS] += times;
    } else {
        now[item][(found == LOCAL_SPACE ? LOCAL_LOADS : GLOBAL_LOADS) + kind] += times;
    }
}

/* One for each address space, named by its number in the compiler's intermediate code. */
void tickbound_access_1(char *at, uint64_t bytes, uint64_t alignment, int kind, int site)
{
    access(GLOBAL_SPACE, at, bytes, alignment, kind, site);
}
void tickbound_access_2(char *at, uint64_t bytes, uint64_t alignment, int kind, int site)
{
    access(CONSTANT_SPACE, at, bytes, alignment, kind, site);
}
void tickbound_access_3(char *at, uint64_t bytes, uint64_t alignment, int kind, int site)
{
    access(LOCAL_SPACE, at, bytes, alignment, kind, site);
}
void tickbound_access_4(char *at, uint64_t bytes, uint64_t alignment, int kind, int site)
{
    access(GENERIC_SPACE, at, bytes, alignment, kind, site);
}

/* Operations on real numbers (0), special ones (1) and conversions (2). */
void tickbound_operation(int kind, int count)
{
    now[item][OPERATIONS + kind] += (uint64_t)count;
}

/* ---- work items ------------------------------------------------------------------------------ */

/* The names are those that the compiler gives to OpenCL's functions. */
#define QUERY(name, symbol, value, otherwise)                                                      \
    size_t name(unsigned d) __asm__(symbol);                                                       \
    size_t name(unsigned d)                                                                        \
    {                                                                                              \
        return d < 3 ? (value) : (otherwise);                                                      \
    }
QUERY(global_id, "_Z13get_global_idj", group_of[d] * tickbound_local[d] + item_of[d], 0)
QUERY(local_id, "_Z12get_local_idj", item_of[d], 0)
QUERY(group_id, "_Z12get_group_idj", group_of[d], 0)
QUERY(global_size, "_Z15get_global_sizej", tickbound_global[d], 1)
QUERY(local_size, "_Z14get_local_sizej", tickbound_local[d], 1)
QUERY(enqueued_local_size, "_Z23get_enqueued_local_sizej", tickbound_local[d], 1)
QUERY(num_groups, "_Z14get_num_groupsj", groups[d], 1)
QUERY(global_offset, "_Z17get_global_offsetj", 0, 0)

unsigned work_dim(void) __asm__("_Z12get_work_dimv");
unsigned work_dim(void)
{
    return tickbound_dimensions;
}
size_t local_linear_id(void) __asm__("_Z19get_local_linear_idv");
size_t local_linear_id(void)
{
    return item;
}
size_t global_linear_id(void) __asm__("_Z20get_global_linear_idv");
size_t global_linear_id(void)
{
    return global_id(0) + tickbound_global[0] * (global_id(1) + tickbound_global[1] * global_id(2));
}

static void to_scheduler(void)
{
    if (_setjmp(fibers[item].context) == 0) {
        _longjmp(scheduler, 1);
    }
}

void barrier(unsigned flags) __asm__("_Z7barrierj");
void barrier(unsigned flags)
{
    (void)flags;
    to_scheduler();
}
void work_group_barrier(unsigned flags) __asm__("_Z18work_group_barrierj");
void work_group_barrier(unsigned flags)
{
    (void)flags;
    to_scheduler();
}
void work_group_barrier_scope(unsigned flags, int scope) __asm__(
    "_Z18work_group_barrierj12memory_scope");
void work_group_barrier_scope(unsigned flags, int scope)
{
    (void)flags;
    (void)scope;
    to_scheduler();
}
#define FENCE(name, symbol)                                                                        \
    void name(unsigned flags) __asm__(symbol);                                                     \
    void name(unsigned flags)                                                                      \
    {                                                                                              \
        (void)flags;                                                                               \
    }
FENCE(mem_fence, "_Z9mem_fencej")
FENCE(read_mem_fence, "_Z14read_mem_fencej")
FENCE(write_mem_fence, "_Z15write_mem_fencej")

/* A fiber runs the item with its local id in one group after the other. */
static void fiber(void)
{
    for (;;) {
        tickbound_call(arguments);
        fibers[item].finished = 1;
        to_scheduler();
    }
}

static void run_until_barrier(uint32_t next)
{
    struct fiber *f = &fibers[next];
    item = next;
    item_of[0] = next % tickbound_local[0];
    item_of[1] = next / tickbound_local[0] % tickbound_local[1];
    item_of[2] = next / tickbound_local[0] / tickbound_local[1];
    if (_setjmp(scheduler) != 0) {
        return;
    }
    if (f->started) {
        _longjmp(f->context, 1);
    }
    f->started = 1;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack;
    context.uc_stack.ss_size = STACK_BYTES;
    context.uc_link = NULL;
    makecontext(&context, fiber, 0);
    setcontext(&context);
}

static void run_group(uint32_t items)
{
    group_first = ++interval;
    for (unsigned i = 0; i < locals.count; i++) {
        memset(locals.list[i].at, 0xff, locals.list[i].bytes);
    }
    for (uint32_t i = 0; i < items; i++) {
        fibers[i].finished = 0;
    }
    for (uint32_t finished = 0; finished < items; interval++) {
        finished = 0;
        for (uint32_t i = 0; i < items; i++) {
            run_until_barrier(i);
            finished += (uint32_t)fibers[i].finished;
        }
        if (finished != 0 && finished != items) {
            fail("barrier: %u of %u items of the group have ended without it", finished, items);
        }
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static void *allocate(size_t count, size_t bytes)
{
    void *at = calloc(count + 1, bytes);
    if (!at) {
        fail("out of memory");
    }
    return at;
}

static void *reserve(size_t bytes, int protection)
{
    void *at = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        fail("cannot reserve memory");
    }
    return at;
}

/* So far apart that a wrong 32-bit index into one buffer does not end in another. */
static char *lonely(uint64_t bytes)
{
    const uint64_t gap = (uint64_t)1 << 35;
    char *at = (char *)reserve(gap + bytes + 4096, PROT_NONE) + gap / 2;
    if (mprotect(at, bytes + 4096, PROT_READ | PROT_WRITE) != 0) {
        fail("cannot use reserved memory");
    }
    return at;
}

static void transfer(const char *file, const char *mode, void *at, uint64_t bytes)
{
    FILE *f = fopen(file, mode);
    if (!f || (*mode == 'r' ? fread(at, 1, bytes, f) : fwrite(at, 1, bytes, f)) != bytes ||
        fclose(f) != 0) {
        fail("cannot transfer %s", file);
    }
}

static void add(struct ranges *to, char *at, uint64_t bytes, const char *name, int shadowed)
{
    struct shadow *shadow = shadowed ? allocate(bytes, sizeof(struct shadow)) : NULL;
    to->list[to->count++] = (struct range){at, bytes, name, shadow};
}

int main(void)
{
    const uint64_t items = tickbound_local[0] * tickbound_local[1] * tickbound_local[2];
    uint64_t all = items;
    for (int d = 0; d < 3; d++) {
        groups[d] = tickbound_global[d] / tickbound_local[d];
        all *= groups[d];
    }
    counts = allocate(all, sizeof *counts);
    fibers = allocate(items, sizeof *fibers);
    for (uint64_t i = 0; i < items; i++) {
        fibers[i].stack = reserve(STACK_BYTES, PROT_READ | PROT_WRITE);
        mprotect(fibers[i].stack, 4096, PROT_NONE); /* an overflow ends the program */
    }

    const unsigned n = tickbound_argument_count;
    arguments = allocate(n, sizeof *arguments);
    buffers.list = allocate(n, sizeof(struct range));
    locals.list = allocate(n + tickbound_local_array_count, sizeof(struct range));
    constants.list = allocate(tickbound_constant_table_count, sizeof(struct range));
    for (unsigned i = 0; i < n; i++) {
        const struct argument *a = &tickbound_arguments[i];
        arguments[i] = lonely(a->bytes);
        if (a->kind != LOCAL) {
            transfer(a->file, "r", arguments[i], a->bytes);
        }
        if (a->kind != SCALAR) {
            add(a->kind == LOCAL ? &locals : &buffers, arguments[i], a->bytes, a->name,
                a->kind == LOCAL);
        }
    }
    for (uint64_t i = 0; i < tickbound_local_array_count; i++) {
        const struct span *array = &tickbound_local_arrays[i];
        add(&locals, array->at, array->bytes, array->name, 1);
    }
    for (uint64_t i = 0; i < tickbound_constant_table_count; i++) {
        const struct span *table = &tickbound_constant_tables[i];
        add(&constants, table->at, table->bytes, table->name, 0);
    }

    /* The variable says that a trace is wanted. */
    if (getenv("TICKBOUND_TRACE")) {
        trace = fopen("trace", "w");
        if (!trace) {
            fail("cannot make the trace");
        }
    }
    pieces = getenv("TICKBOUND_PIECES") != NULL;
    now = counts;
    for (group_of[2] = 0; group_of[2] < groups[2]; group_of[2]++) {
        for (group_of[1] = 0; group_of[1] < groups[1]; group_of[1]++) {
            for (group_of[0] = 0; group_of[0] < groups[0]; group_of[0]++) {
                run_group((uint32_t)items);
                now += items;
            }
        }
    }

    if (trace && fclose(trace) != 0) {
        fail("cannot write the trace");
    }
    transfer("counts", "w", counts, all * sizeof *counts);
    for (unsigned i = 0; i < n; i++) {
        if (tickbound_arguments[i].kind == BUFFER) {
            transfer(tickbound_arguments[i].file, "w", arguments[i], tickbound_arguments[i].bytes);
        }
    }
    return 0;
}
