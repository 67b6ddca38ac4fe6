#include <stddef.h>
#include "dispatch.h"

#define OPCODE_LIST(X) X(push) X(drop)
#define DEFINE_HANDLER(name) static int handle_##name(struct vm *vm)
#define EXPORT __attribute__((visibility("default")))

typedef int (*handler_fn)(struct vm *vm);
typedef struct op_entry { const char *name; handler_fn fn; } op_entry;

struct vm {
    int stack[16];
    int top;
};

enum { VM_OK, VM_FULL };

DEFINE_HANDLER(push)
{
    return ++vm->top < 16 ? VM_OK : VM_FULL;
}

DEFINE_HANDLER(drop) { vm->top--; return VM_OK; }

static const op_entry op_table[] = {
    { "push", handle_push },
    { "drop", handle_drop },
};

int (*find_handler(const char *name))(struct vm *)
{
    return name[0] == 'p' ? op_table[0].fn : op_table[1].fn;
}

EXPORT void
vm_reset(struct vm *vm)
{
    vm->top = 0;
}

static inline handler_fn vm_first(void) { return op_table[0].fn; }
