/* Layouts: see layout.h. Fields lie as a C compiler puts them: each at the next multiple of its size. Of
 * "#i rank, l dims[rank]" the walk gives `rank`, hidden, 4 bytes at 0, then `dims`, as many elements as the parameters
 * have at 0, 8 bytes each from 8 on; such parameters take 8 + 8 rank bytes. */
#include "lib/program/layout.h"

#include <stdlib.h>
#include <string.h>

/* A kind is a letter, for texts with the number of bytes behind it. Letters that are not named here, l and d, are of 8
 * bytes. A text is bytes, and needs no alignment. */
static size_t size_of(const char *kind, size_t *align) {
    size_t size = 8;
    if (*kind == 's') size = strtoul(kind + 1, NULL, 10);
    else if (*kind == 'b' || *kind == 'c') size = 1;
    else if (*kind == 'i' || *kind == 'T' || *kind == 'A') size = 4;
    *align = *kind == 's' ? 1 : size;
    return size;
}

/* Alignments are 1, 4 or 8. */
static size_t round_up(size_t at, size_t align) {
    return (at + align - 1) / align * align;
}

/* An elementwise row that does not say has one number, the member of a family: rows of users too. */
bool lam__layout_open(lam__layout *l, const lam_primitive *row) {
    *l = (lam__layout){.text = row->layout ? row->layout : row->elementwise ? "l member" : NULL, .align = 1};
    return l->text != NULL;
}

/* Names of parameters are parts of the layout's text. */
static bool same_name(const lam__parameter *p, const char *name, size_t length) {
    return (size_t)p->length == length && !memcmp(p->name, name, length);
}

/* "3", "rank", "m+n", "rank<3" up to the bracket; *room is what it takes place for. A name stands for the number of
 * that name which was met before. The number behind < is the length of a member that is an array in the struct: it has
 * that room however few of it are used, and more where a longer list is stored. */
static int64_t count_of(const lam__layout *l, const char *text, const void *params, int64_t *room) {
    int64_t sum = 0, least = 0;
    while (*text != ']') {
        const size_t length = strcspn(text, "+<]");
        if (*text >= '0' && *text <= '9') sum += strtol(text, NULL, 10);
        for (int k = 0; k < l->known; k++)
            if (same_name(&l->number[k], text, length)) sum += lam__layout_integer(&l->number[k], params, 0);
        text += length;
        if (*text == '<') least = strtol(text + 1, (char **)(void *)&text, 10);
        if (*text == '+') text++;
    }
    *room = sum > least ? sum : least;
    return sum;
}

/* A group begins: how large one of its structs is. Its fields are then met one by one, each as a list of as many
 * elements as there are structs, one struct apart. As in C a struct is as aligned as its widest member, and its size a
 * multiple of that. */
static void open_group(lam__layout *l) {
    size_t at = 0, align = 1, most = 1;
    l->group = ++l->text;
    for (const char *k = l->text; *k != '}';) {
        const size_t size = size_of(k, &align);
        at = round_up(at, align) + size;
        if (align > most) most = align;
        k += strcspn(k, ",}");
        k += strspn(k, ", ");
    }
    l->group_size = round_up(at, most);
    l->group_at = l->at = round_up(l->at, most);
    if (most > l->align) l->align = most;
}

/* Behind a parameter: the separator, or the end of a group. */
static void step_over(lam__layout *l, const void *params) {
    if (*l->text == '}') {
        int64_t room;
        (void)count_of(l, l->text + 2, params, &room);
        l->at = l->group_at + (size_t)room * l->group_size;
        l->end = l->at;
        l->group = NULL;
        l->text += strcspn(l->text, "]") + 1;
    }
    l->text += strspn(l->text, ", ");
}

/* One word of the text for each call, its place found as a C compiler would: aligned, behind the one before. Numbers
 * that stand alone are remembered by name, since counts of lists are such names. Where a group or list ends is kept in
 * `end`, since a list at the end of the parameters is no longer than what is in it. */
bool lam__layout_next(lam__layout *l, const void *params, lam__parameter *out) {
    size_t align;
    if (!*l->text) return false;
    *out = (lam__parameter){.hidden = *l->text == '#', .count = 1};
    l->text += out->hidden;
    if (*l->text == '{') open_group(l);
    const size_t size = size_of(l->text, &align);
    out->kind = *l->text;
    out->name = l->text + strcspn(l->text, " ") + 1;
    out->length = (int)strcspn(out->name, ",[}");
    l->text = out->name + out->length;
    out->at = l->at = round_up(l->at, align);
    out->step = l->group ? l->group_size : size;
    l->end = 0;
    if (align > l->align) l->align = align;
    if (l->group) {
        int64_t room;
        const char *end = strchr(l->text, '}');
        out->list = true;
        out->count = count_of(l, end + 2, params, &room);
        l->at += size;
    } else if (*l->text == '[') {
        int64_t room;
        out->list = true;
        out->count = count_of(l, l->text + 1, params, &room);
        l->end = l->at += (size_t)room * size;
        l->text += strcspn(l->text, "]") + 1;
    } else {
        l->at += size;
        if (l->known < LAM__LAYOUT_NAMES) l->number[l->known++] = *out;
    }
    step_over(l, params);
    return true;
}

/* A list at the end takes no more than it has. */
size_t lam__layout_bytes(const lam__layout *l) {
    return l->end ? l->end : round_up(l->at, l->align);
}

/* By copies: parameters that are read from a text lie in bytes of no type. Kinds of 4 bytes are the rest. */
int64_t lam__layout_integer(const lam__parameter *p, const void *params, int64_t i) {
    const char *at = (const char *)params + p->at + (size_t)i * p->step;
    int32_t narrow;
    int64_t wide;
    switch (p->kind) {
    case 'b': return *(const bool *)at;
    case 'c': return *(const int8_t *)at;
    case 'l': memcpy(&wide, at, sizeof wide); return wide;
    default: memcpy(&narrow, at, sizeof narrow); return narrow;
    }
}

/* Whether the number fits is seen by reading it back. A number that is too wide is cut here; the caller compares. */
void lam__layout_set_integer(const lam__parameter *p, void *params, int64_t i, int64_t value) {
    char *at = (char *)params + p->at + (size_t)i * p->step;
    const int32_t narrow = (int32_t)value;
    switch (p->kind) {
    case 'b': *(bool *)at = value != 0; break;
    case 'c': *(int8_t *)at = (int8_t)value; break;
    case 'l': memcpy(at, &value, sizeof value); break;
    default: memcpy(at, &narrow, sizeof narrow);
    }
}
