/* Names: see names.h. */
#include "lib/program/names.h"

#include <string.h>

/* FNV-1a with its constants for 64 bits: names are short, and mostly a letter with a number. */
static uint64_t hash(const char *name, size_t length) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) h = (h ^ (uint8_t)name[i]) * 1099511628211u;
    return h;
}

/* Where a name is, or may be put. The room is a power of 2, so a mask takes the remainder, and the next free place is
 * taken where one is not. */
static lam__binding *slot(const lam__names *n, const char *name, size_t length) {
    const uint64_t mask = (uint64_t)n->room - 1;
    uint64_t i = hash(name, length) & mask;
    while (n->list[i].name && (n->list[i].length != length || memcmp(n->list[i].name, name, length) != 0))
        i = (i + 1) & mask;
    return &n->list[i];
}

/* At most half of the places are taken, so every walk ends. Names move as they are: they are parts of the text. Places
 * depend on the room, so each name is put anew. On failure the table stays as it was. */
static bool widen(lam__names *n) {
    lam__names wider = {.ctx = n->ctx, .count = n->count, .room = n->room ? 2 * n->room : 64};
    const size_t bytes = (size_t)wider.room * sizeof *n->list;
    wider.list = lam__alloc_get(&n->ctx->pool, bytes);
    if (!wider.list) {
        lam__error_memory(n->ctx, bytes);
        return false;
    }
    memset(wider.list, 0, bytes);
    for (int64_t i = 0; i < n->room; i++)
        if (n->list[i].name) *slot(&wider, n->list[i].name, n->list[i].length) = n->list[i];
    if (n->list) lam__alloc_put(&n->ctx->pool, n->list, (size_t)n->room * sizeof *n->list);
    *n = wider;
    return true;
}

/* What it gives holds until the next name is bound. */
const lam__atom *lam__names_find(const lam__names *n, const char *name, size_t length) {
    const lam__binding *b = n->room ? slot(n, name, length) : NULL;
    return b && b->name ? &b->atom : NULL;
}

/* The caller has looked, so the place that is found is free. */
bool lam__names_put(lam__names *n, const char *name, size_t length, lam__atom atom) {
    if (2 * n->count >= n->room && !widen(n)) {
        lam__value_release(atom.constant);
        return false;
    }
    *slot(n, name, length) = (lam__binding){name, length, atom};
    n->count++;
    return true;
}

/* Equations and results that read constants hold them themselves, and do not need the table. */
void lam__names_close(lam__names *n) {
    for (int64_t i = 0; i < n->room; i++)
        if (n->list[i].name) lam__value_release(n->list[i].atom.constant);
    if (n->list) lam__alloc_put(&n->ctx->pool, n->list, (size_t)n->room * sizeof *n->list);
}
