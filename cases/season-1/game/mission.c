// The mission: its goals in their order, what lies about, the way out.
#include "game.h"

enum { AT_HAND = 15, IN_FRAME = 40, TOUCH = 8, EXIT_TOUCH = 10, ABORT_TICKS = 90 };

static const Goal *goal(i32 index) { return &LEVEL[S->level].goals[index]; }

void say(const char *words) {
    S->message = words;
    S->message_ticks = 150;
}

static u8 bit_of(i32 index) {
    u8 bit = 1;
    for (i32 i = 0; i < index; i++)
        if (goal(i)->kind != KEY) bit = (u8)(bit << 1);
    return bit;
}

static void finish(i32 index) {
    const Goal *g = goal(index);
    S->marks[index].done = 1;
    S->work_ticks = 0;
    tone(520 | 780 << 16, 20, 40, 1);
    if (g->kind == KEY) {
        S->keys |= (u8)(1 << (g->mark - 'd'));
        say("A KEY");
        return;
    }
    S->done |= bit_of(index);
    S->done_count++;
    say(S->done == S->wanted ? "NOW TO THE EXIT" : "OBJECTIVE DONE");
    if (g->opens_gate)
        for (i32 at = 0; at < MAP_W * MAP_H; at++)
            if (MAP[at] == T_GATE + g->opens_gate - 1) MAP[at] = T_PATH;
    if (g->kind == DESTROY && S->thing_count < THINGS)
        S->things[S->thing_count++] = (Thing){S->marks[index].x, S->marks[index].y, BLAST, 40, 0, 0};
    if (g->kind == DESTROY) hear_shot(S->marks[index].x, S->marks[index].y, 120);
}

// A shot struck a goal: what can be destroyed breaks after a few, and a person that was to be met is dead.
void strike_mark(i32 index) {
    if (goal(index)->kind == MEET) {
        say("YOU SHOT A FRIEND");
        S->mode = FAILED;
    } else if (--S->marks[index].health == 0) {
        finish(index);
    }
}

static i32 is_open(i32 index) {
    const Mark *m = &S->marks[index];
    u8 needs = goal(index)->needs;
    return m->present && !m->done && (!needs || S->keys & 1 << (needs - 1));
}

static i32 in_reach(i32 index) {
    const Mark *m = &S->marks[index];
    i32 far = distance(m->x - S->x, m->y - S->y);
    switch (goal(index)->kind) {
        case REACH: case TAKE: case KEY: return far < TOUCH;
        case PHOTOGRAPH: return far < IN_FRAME && clear_line(S->x, S->y, m->x, m->y);
        default: return far < AT_HAND;
    }
}

static void update_goals(u8 pad) {
    u8 working = 0;
    S->can_act = 0;
    for (i32 i = 0; i < LEVEL[S->level].goal_count; i++) {
        if (!is_open(i) || !in_reach(i)) continue;
        u8 kind = goal(i)->kind;
        if (kind == REACH || kind == TAKE || kind == KEY) {
            finish(i);
            continue;
        }
        S->can_act = kind;
        if (!(pad & PAD_Z) || working) continue;
        working = (u8)(i + 1);
        if (S->working_on != working) S->work_ticks = 0;
        if (++S->work_ticks >= goal(i)->hold) finish(i);
    }
    if (S->work_ticks && !working) S->work_ticks = 0;
    S->working_on = working;
    S->work = working ? (u8)(S->work_ticks * 100 / goal(working - 1)->hold) : 0;
}

static void update_things(void) {
    for (i32 i = 0; i < S->thing_count; i++) {
        Thing *t = &S->things[i];
        if (t->kind == BLAST && t->live) t->live--;
        if (t->kind > ARMOUR_BOX || !t->live || distance(t->x - S->x, t->y - S->y) >= TOUCH) continue;
        t->live = 0;
        tone(700, 6, 25, 1);
        if (t->kind == AMMO_BOX) S->ammo = (i16)smaller(99, S->ammo + 16);
        else S->armour = (i16)smaller(60, S->armour + 30);
    }
    for (i32 i = 0; i < S->guard_count; i++) {
        Guard *g = &S->guards[i];
        if (g->state != DOWN || g->looted || distance(g->x / UNIT - S->x, g->y / UNIT - S->y) >= TOUCH) continue;
        g->looted = 1;
        S->ammo = (i16)smaller(99, S->ammo + 5);
    }
}

static void update_exit(u8 pad) {
    S->exit_open = S->done == S->wanted;
    if (distance(S->exit_x - S->x, S->exit_y - S->y) >= EXIT_TOUCH) {
        S->abort = 0;
        return;
    }
    if (S->exit_open) {
        S->mode = COMPLETED;
        return;
    }
    say("HOLD Z TO GIVE UP");
    S->abort = pad & PAD_Z ? S->abort + 1 : 0;
    if (S->abort >= ABORT_TICKS) S->mode = FAILED;
}

// The step to take next: the first of the plan that is not done, then the exit.
static void next_goal(void) {
    S->goal_kind = EXIT;
    S->goal_index = 0xff;
    S->goal_x = S->exit_x, S->goal_y = S->exit_y;
    for (i32 i = 0; i < LEVEL[S->level].goal_count; i++) {
        if (!is_open(i)) continue;
        S->goal_kind = goal(i)->kind;
        S->goal_index = (u8)i;
        S->goal_x = S->marks[i].x, S->goal_y = S->marks[i].y;
        return;
    }
}

void update_mission(u8 pad) {
    if (S->message_ticks) S->message_ticks--;
    update_goals(pad);
    update_things();
    next_goal();
    if (S->mode == PLAYING) update_exit(pad);
}
