// SPDX-License-Identifier: Apache-2.0
//
// The protocol of one lock: what the statements of LockSql, and the engine around them, do to its row, step by step.
// docs/model.md explains it to someone who has never seen such a thing.
open util/ordering[Num]
// ---- What there is --------------------------------------------------------------------------------------------------
/** Numbers in their order: times of the database's clock, and fences. The two meet in GREATEST(fence + 1, now). */
sig Num {}
/** A secret is the random part of a lock id. */
sig Secret, Owner {}

/** Seen: acquire, tryLock; its lock id can guard. Unseen: run, call, asLock; may pass on. ByOwner: DistLock. */
abstract sig Kind {} one sig Seen, Unseen, ByOwner extends Kind {}
/** Granted: the answer is on its way. Late: nobody wants it any more; it is released until it is gone for certain. */
abstract sig State {} one sig Asking, Granted, Holding, Late, Closed, Lost extends State {}
/** One attempt to get the lock, and what became of it. Its first four fields never change. */
sig Holder {
  kind: one Kind, owner: one Owner, own: one Secret, sent: one Num,
  var state: one State, var key: lone Secret, var fence: lone Num,
  var deadline: lone Num,   // by its own clock
  var upTo: lone Num        // the last fence that its process may use, while the lock may pass on
}
/** Those who have heard, from the database or from their own clock, that the lock is gone. */
var sig Heard in Holder {}
/** A business transaction of a holder's. Its snapshot shows the transactions it sees, and the secret in the row. */
sig Tx { by: one Holder, var at: one Stage, var sees: set Tx, var snapshot: lone Secret }
abstract sig Stage {} one sig New, Open, Committed, RolledBack extends Stage {}
/** Asked: has called its guard. Pinned: has the row locked. Under: committed while the row had its holder's secret. */
var sig Asked, Pinned, Under in Tx {}

/** The lock's row; setAside is fence + reserved. Before the first grant, and after a sweep, there is nothing in it. */
one sig Row { var secret: lone Secret, var owner: lone Owner, var fence, setAside, expires, reentered: lone Num }
one sig Clock { var now: one Num }
/** What an operator took away, by a forced release or a take-over. */
var sig TakenAway in Secret {}

/** Each can be left out, and then a property breaks. SteadyClock is not a rule of ours; it is what we presume. */
abstract sig Rule {}
one sig DatabaseClock, FromSending, OwnSecret, MatchSecret, FenceGrows, SetAside, SettledRunEnds, SweepWaits,
  PinUntilCommit, GrantLocksRow, FreshSnapshot, GuardRollsBack, OnlyUnseenPass, LossIsTold, LeaveReentered,
  ResolveFirst, SteadyClock extends Rule {}
one sig Protocol { without: set Rule }
pred in_force[r: Rule] { r not in Protocol.without }
// ---- What can happen ------------------------------------------------------------------------------------------------
abstract sig Event {}
one sig Tick, Grant, Answer, GiveUp, Reenter, Renew, Close, PutOff, LateRelease, HandOver, PassOn, Settle, Force,
  TakeOver, Learn, Sweep, Begin, Guard, Commit, Save, Rest extends Event {}
one sig Step { var event: one Event, var who, to: lone Holder, var tx: lone Tx }

fun successor: Num -> Num { ordering/next }
fun not_after[n: lone Num]: set Num { n + prevs[n] }
/** A lease lasts for two units of time. If there is no such number, it does not end in this story. */
fun lasting[from: lone Num]: lone Num { from.successor.successor }
pred over[end: lone Num] { some end and end in not_after[Clock.now] }

pred becomes[h: Holder, s: State, k: lone Secret, f, d, u: lone Num] {
  h.state' = s and h.key' = k and h.fence' = f and h.deadline' = d and h.upTo' = u
}
pred stays[h: Holder] { becomes[h, h.state, h.key, h.fence, h.deadline, h.upTo] }
pred moves[h: Holder, s: State] { becomes[h, s, h.key, h.fence, h.deadline, none] }
pred row[s: lone Secret, o: lone Owner, f, a, e, r: lone Num] {
  Row.secret' = s and Row.owner' = o and Row.fence' = f and Row.setAside' = a
  Row.expires' = e and Row.reentered' = r
}
pred row_stays { row[Row.secret, Row.owner, Row.fence, Row.setAside, Row.expires, Row.reentered] }
pred freed { row[none, Row.owner, Row.fence, Row.setAside, none, Row.reentered] }
pred prolonged[r: lone Num] { let end = lasting[Clock.now] |  // GREATEST(expires_at, now + duration)
  row[Row.secret, Row.owner, Row.fence, Row.setAside, (some Row.expires and some end) => max[Row.expires + end] else none, r] }
/** The row's lock, which a guard's pin keeps others from. */
pred exclusive { in_force[GrantLocksRow] implies no Pinned }
pred mine[h: Holder] { some Row.secret and (in_force[MatchSecret] => Row.secret = h.key else Row.owner = h.owner) }
fun deadline_of[h: Holder]: lone Num { lasting[in_force[FromSending] => h.sent else Clock.now] }
fun next_fence: lone Num {
  let least = (in_force[SetAside] => Row.setAside else Row.fence).successor |
    in_force[FenceGrows] => max[least + Clock.now] else Clock.now
}
/** The answer arrives at once or later; nobody waits for it any more if the holder is Late. */
pred answered[h: Holder, k: Secret, f, u: lone Num] {
  h.state = Late => becomes[h, Late, k, f, none, none]
  else (becomes[h, Granted, k, f, none, u] or becomes[h, Holding, k, f, deadline_of[h], u])
}
/** Whatever gives the lock to someone new. */
pred given[h: Holder] {
  no h.fence and h.sent in not_after[Clock.now] and exclusive
  some Row.setAside implies some Row.setAside.successor
  let f = next_fence, a = ((h.kind = Unseen or not in_force[OnlyUnseenPass]) => max[f + f.successor] else f) {
    row[h.own, h.owner, f, a, lasting[Clock.now], Row.reentered]
    answered[h, h.own, f, a - f]
  }
}
pred tick { in_force[SteadyClock] => Clock.now' in nexts[Clock.now] else Clock.now' != Clock.now }
pred grant[h: Holder] {
  h.state in Asking + Late and given[h]
  no Row.secret or over[Row.expires] or not in_force[DatabaseClock]
}
pred reenter[h: Holder] {
  h.kind = ByOwner and h.state in Asking + Late and no h.fence and h.sent in not_after[Clock.now] and exclusive
  some Row.secret and Row.owner = h.owner and not over[Row.expires] and prolonged[Row.fence]
  h.state = Late => stays[h] else answered[h, Row.secret, Row.fence, none]
}
pred answer[h: Holder] { h.state = Granted and becomes[h, Holding, h.key, h.fence, deadline_of[h], h.upTo] }
/** No answer. What became of the request is not known, or was resolved: not mine. It may still be on its way. */
pred give_up[h: Holder] {
  h.state in Asking + Granted and becomes[h, Late, h.own, h.key = h.own => h.fence else none, none, none]
}
pred renew[h: Holder] {
  h.state = Holding and not over[h.deadline] and Row.secret = h.key and not over[Row.expires]
  prolonged[Row.reentered] and becomes[h, Holding, h.key, h.fence, lasting[Clock.now], h.upTo]
}
pred close[h: Holder] {
  h.state = Holding
  (mine[h] and not over[h.deadline]) => (freed and moves[h, Closed] and Heard' = Heard)
  else (row_stays and moves[h, in_force[LossIsTold] => Lost else Closed] and Heard' = Heard + h)
}
pred learn[h: Holder] {
  h.state = Holding and (over[h.deadline] or Row.secret != h.key or over[Row.expires]) and Heard' = Heard + h
  in_force[LossIsTold] => moves[h, Lost] else stays[h]
}
/** Closed, but the database can't be reached, or its row is locked. */
pred put_off[h: Holder] { h.state = Holding and h.kind != ByOwner and moves[h, Late] }
pred late_release[h: Holder] {
  h.state = Late or (h.state = Lost and h.kind != ByOwner) or (h.state = Granted and not in_force[ResolveFirst])
  mine[h] and (in_force[LeaveReentered] implies Row.reentered != Row.fence) and freed and stays[h]
}
pred hand_over[h, g: Holder] {
  h.state = Holding and not over[h.deadline] and mine[h] and moves[h, Closed]
  g != h and g.state = Asking and given[g]
}
pred pass_on[h, g: Holder] {
  h.state = Holding and not over[h.deadline] and some h.upTo & nexts[h.fence] and moves[h, Closed]
  g != h and g.state = Asking and g.sent in not_after[Clock.now]
  in_force[OnlyUnseenPass] implies g.kind = Unseen
  becomes[g, Holding, h.key, h.fence.successor, h.deadline, h.upTo]
}
pred settle[h: Holder] {
  h.state = Holding and some h.upTo and Row.secret = h.key
  row[Row.secret, Row.owner, h.fence, h.fence, Row.expires, Row.reentered]
  becomes[h, Holding, h.key, h.fence, h.deadline, in_force[SettledRunEnds] => none else h.upTo]
}
pred force { some Row.secret and exclusive and freed and TakenAway' = TakenAway + Row.secret }
pred take_over[h: Holder] { h.state = Asking and some Row.secret and given[h] and TakenAway' = TakenAway + Row.secret }
pred sweep {
  some Row.fence and no Pinned and (no Row.secret or over[Row.expires]) and in_force[SteadyClock]
  (in_force[SweepWaits] implies Row.setAside in prevs[Clock.now]) and row[none, none, none, none, none, none]
}
pred begin[t: Tx] {
  t.at = New and at' = at ++ t -> Open and sees' = sees + t -> at.Committed and snapshot' = snapshot + t -> Row.secret
  Asked' = Asked and Pinned' = Pinned and Under' = Under
}
pred guard[t: Tx] {
  t.at = Open and t not in Asked and t.by.kind = Seen and t.by.state in Holding + Closed + Lost
  (Row.secret = t.by.key and (in_force[FreshSnapshot] implies t.snapshot = t.by.key))
    => (at' = at and Pinned' = (in_force[PinUntilCommit] => Pinned + t else Pinned))
    else (at' = (in_force[GuardRollsBack] => at ++ t -> RolledBack else at) and Pinned' = Pinned)
  Asked' = Asked + t and sees' = sees and snapshot' = snapshot and Under' = Under
}
/** One without a guard commits whenever it likes; when it began makes no difference to others. */
pred commit[t: Tx] {
  (t.at = Open and t in Asked) or (t.at = New and t.by.state in Holding + Closed + Lost)
  at' = at ++ t -> Committed and Asked' = Asked and Pinned' = Pinned - t and sees' = sees and snapshot' = snapshot
  Under' = ((t in Asked or Row.secret = t.by.key) => Under + t else Under)
}
/** releaseLock(connection, lockId): the release is part of the transaction. */
pred save[t: Tx] { t in Pinned and mine[t.by] and t.by.state = Holding and commit[t] and freed and moves[t.by, Closed] }

pred step {
  let e = Step.event, h = Step.who, g = Step.to, t = Step.tx {
    e in Tick + Force + Sweep + Begin + Guard + Commit + Rest => no h else one h
    e in HandOver + PassOn => one g else no g
    e in Begin + Guard + Commit + Save => one t else no t
    (e = Tick => tick else Clock.now' = Clock.now) and (e = Save implies (h = t.by and save[t]))
    (e = Grant implies grant[h]) and (e = Answer implies answer[h]) and (e = GiveUp implies give_up[h])
    (e = Reenter implies reenter[h]) and (e = Renew implies renew[h]) and (e = Close implies close[h])
    (e = PutOff implies put_off[h]) and (e = LateRelease implies late_release[h]) and (e = Settle implies settle[h])
    (e = HandOver implies hand_over[h, g]) and (e = PassOn implies pass_on[h, g]) and (e = Learn implies learn[h])
    (e = Force implies force) and (e = TakeOver implies take_over[h]) and (e = Sweep implies sweep)
    (e = Begin implies begin[t]) and (e = Guard implies guard[t]) and (e = Commit implies commit[t])
    // what an event does not speak of stays as it was
    all other: Holder - h - g | stays[other]
    e in Tick + Answer + GiveUp + PutOff + PassOn + Learn + Begin + Guard + Commit + Rest implies row_stays
    e not in Force + TakeOver implies TakenAway' = TakenAway
    e not in Close + Learn implies Heard' = Heard
    e not in Begin + Guard + Commit + Save implies (at' = at and sees' = sees and snapshot' = snapshot and
      Asked' = Asked and Pinned' = Pinned and Under' = Under)
  }
}
pred start {
  all h: Holder | h.state = Asking and no h.key and no h.fence + h.deadline + h.upTo
  Tx.at in New and no sees and no snapshot and no Asked + Pinned + Under and no TakenAway and no Heard
  no Row.secret and no Row.owner and no Row.fence + Row.setAside + Row.expires + Row.reentered
}
/** The names of DistLock are its own. */
fact { Holder.kind = ByOwner or ByOwner not in Holder.kind }
fact { in_force[OwnSecret] implies all disj g, h: Holder | g.own != h.own }
pred story { start and always step and always (Step.event = Rest implies after Step.event = Rest) }

// ---- What must be true, in every state or of every step -------------------------------------------------------------
pred believes[h: Holder] { h.state = Holding and not over[h.deadline] }
pred commits[t: Tx] { t in Asked and t.at != Committed and t.at' = Committed }
/** A lock that has not run out goes to another only from its holder's hand, or by an operator. */
pred OneHolder { (some Row.secret and not over[Row.expires] and some Row.secret' and Row.secret' != Row.secret) implies
  (Row.secret in TakenAway' or some h: Holder | h.key = Row.secret and h.state = Holding and h.state' = Closed) }
pred FencesGrow { all h: Holder | (Step.event in Grant + TakeOver + HandOver and h.fence' != h.fence) implies
  (Holder - h).fence in prevs[h.fence'] }
pred FencesUnique { all disj g, h: Holder | some g.fence & h.fence implies g.kind = ByOwner }
pred GuardHolds { all t: Tx | commits[t] implies (t.by.key not in TakenAway and no Holder.fence & nexts[t.by.fence]) }
pred SeesAll { all t: Tx, u: Under | (commits[t] and u.by.fence in prevs[t.by.fence]) implies u in t.sees }
/** Nobody frees what another holds; an owner's unlock does, for all who go by that owner's name. */
pred KeepsHeld { (Step.event in LateRelease + Close and some Row.secret and no Row.secret') implies
  no g: Holder - Step.who | believes[g] and g.key = Row.secret and (Step.event = LateRelease or g.kind != ByOwner) }
pred excused[h: Holder] {
  h.key in TakenAway or (h.kind = ByOwner and some g: Holder - h | g.state = Closed and g.key = h.key)
}
pred BeliefIsTrue { all h: Holder | believes[h] implies (Row.secret = h.key and not over[Row.expires]) or excused[h] }
pred LossTold { Heard.state in Lost }
pred Safe { OneHolder and FencesGrow and FencesUnique and GuardHolds and SeesAll and KeepsHeld and LossTold
  in_force[SteadyClock] implies BeliefIsTrue }

// ---- Why any story is safe, however long: this is true at the start, every step keeps it, and it makes a step safe -
pred has[h: Holder] { h.state in Granted + Holding }
fun end[h: Holder]: lone Num { h.state = Holding => h.deadline else lasting[h.sent] }
pred Kept {
  Row.fence in not_after[Row.setAside] and (some Row.fence <=> some Row.setAside) and no Row.secret & TakenAway
  no Row.secret => no Row.expires else some h: Holder {
    h.own = Row.secret and h.key = h.own and h.owner = Row.owner
    some h.fence and some Row.fence and (h.kind != Unseen implies h.fence = Row.fence)
  }
  all h: Holder {
    h.state = Asking => (no h.key and no h.fence + h.deadline + h.upTo) else some h.key
    h.state not in Asking + Late implies some h.fence
    (h.kind = Seen or no h.fence or h.state = (h.kind = ByOwner => Late else Granted)) implies h.key in h.own
    (no h.fence or h.key != h.own) implies h.own not in Row.secret + TakenAway + Tx.snapshot + (Holder - h).key
    some Row.fence implies h.fence + h.upTo in not_after[Row.setAside]
    (some h.fence and some Row.secret & h.key) implies ((h.kind != Unseen implies h.fence = Row.fence) and
      all g: Holder | g.key != Row.secret implies g.fence + g.upTo in prevs[h.fence] & prevs[Row.fence])
    some h.upTo implies (h.kind = Unseen and has[h] and h.upTo in h.fence + nexts[h.fence] and
      no (Holder - h).(fence + upTo) & (h.fence + nexts[h.fence]) & not_after[h.upTo] and
      (h.key = Row.secret implies (Holder.fence in not_after[h.fence] and h.upTo = Row.setAside)))
    (has[h] and h.kind = ByOwner and h.key != h.own and Row.secret = h.key) implies Row.reentered = Row.fence
    all g: Holder - h | (some h.fence and some g.fence and g.key = h.key) implies
      (h.kind = ByOwner => g.fence = h.fence else (h.kind + g.kind = Unseen and Closed in h.state + g.state))
  }
  FencesUnique and LossTold
  all t: Tx {
    t.at = New implies (t not in Asked and no t.sees and no t.snapshot)
    (t in Asked and t.at = Open) <=> t in Pinned
    t in Pinned implies (t.by.kind = Seen and t.snapshot = t.by.key and Row.secret in t.by.key and some Row.fence and
      t.by.state not in Asking + Granted and t.by.key not in TakenAway and no Holder.fence & nexts[t.by.fence])
    t in Under implies (t.at = Committed and t.by.state not in Asking + Granted and some t.by.fence)
    all u: Under - t.sees, h: Holder | (t.at != New and h.kind = Seen and some h.fence and h.key = t.snapshot) implies
      u.by.fence not in prevs[h.fence]
  }
  in_force[SteadyClock] => Timely else (no Row.fence implies no Holder.(fence + upTo))
}
pred Timely {
  no Row.fence implies Holder.(fence + upTo) in prevs[Clock.now]
  all h: Holder | some h.fence implies h.sent in not_after[Clock.now]
  some Row.secret and some lasting[Clock.now] implies some Row.expires & not_after[lasting[Clock.now]]
  all h: Holder | (has[h] and not over[end[h]]) implies (excused[h] or
    (Row.secret = h.key and (no Row.expires or some end[h] & not_after[Row.expires])))
}

// ---- What is checked: expect 0 must find nothing, expect 1 must find a story ----------------------------------------
pred presumed { Protocol.without in SteadyClock }
pred told { no Protocol.without and story }
pred less[r: Rule] { Protocol.without = r and story and always Step.event not in Force + TakeOver }
pred happen[events: set Event] { all e: events | eventually Step.event = e }
Begins: check { (presumed and start) implies Kept } for 3 but 5 Num, 2 Tx, 1..1 steps expect 0
GoesOn: check { (presumed and Kept and step) implies after Kept }
  for exactly 3 Holder, exactly 3 Secret, exactly 2 Owner, exactly 5 Num, exactly 2 Tx, 2..2 steps expect 0
IsSafe: check { (presumed and Kept and step) implies Safe }
  for exactly 3 Holder, exactly 3 Secret, exactly 2 Owner, exactly 5 Num, exactly 2 Tx, 2..2 steps expect 0
SoakGoesOn: check { (presumed and Kept and step) implies (Safe and after Kept) }
  for exactly 4 Holder, exactly 4 Secret, exactly 2 Owner, exactly 6 Num, exactly 3 Tx, 2..2 steps expect 0
SoakStory: check { told implies always Safe } for 3 but 4 Num, 2 Owner, 2 Tx, 6..6 steps expect 0
Saves: run { told and happen[Answer + Renew + Save] } for 1 but 4 Num, 7..9 steps expect 1
SeesFormer: run { told and some t, u: Tx | t.by != u.by and eventually (u in Pinned and t in Asked & u.sees) }
  for 2 but 3 Num, 8..9 steps expect 1
HandsOn: run { told and happen[HandOver + PassOn + Settle + Close] } for 3 but 4 Num, 0 Tx, 6..9 steps expect 1
LosesIt: run { told and happen[TakeOver + Force + Learn + Commit] } for 2 but 3 Num, 1 Tx, 6..9 steps expect 1
TidiesUp: run { told and happen[GiveUp + LateRelease + PutOff + Sweep] } for 2 but 4 Num, 0 Tx, 7..9 steps expect 1
Reenters: run { told and happen[Reenter + Close] } for 2 but 3 Num, 0 Tx, 4..9 steps expect 1

WithoutDatabaseClock: check { less[DatabaseClock] implies always OneHolder } for 2 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutFromSending: check { less[FromSending] implies always BeliefIsTrue } for 2 but 4 Num, 0 Tx, 3..9 steps expect 1
WithoutOwnSecret: check { less[OwnSecret] implies always KeepsHeld } for 2 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutMatchSecret: check { less[MatchSecret] implies always KeepsHeld } for 2 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutFenceGrows: check { less[FenceGrows] implies always FencesGrow } for 2 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutSetAside: check { less[SetAside] implies always FencesUnique } for 3 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutSettledRunEnds: check { less[SettledRunEnds] implies always FencesUnique } for 3 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutSweepWaits: check { less[SweepWaits] implies always FencesGrow } for 2 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutPinUntilCommit: check { less[PinUntilCommit] implies always GuardHolds } for 2 but 3 Num, 1 Tx, 3..9 steps expect 1
WithoutGrantLocksRow: check { less[GrantLocksRow] implies always GuardHolds } for 2 but 3 Num, 1 Tx, 3..9 steps expect 1
WithoutFreshSnapshot: check { less[FreshSnapshot] implies always SeesAll } for 2 but 3 Num, 2 Tx, 3..9 steps expect 1
WithoutGuardRollsBack: check { less[GuardRollsBack] implies always GuardHolds } for 2 but 3 Num, 1 Tx, 3..9 steps expect 1
WithoutOnlyUnseenPass: check { less[OnlyUnseenPass] implies always GuardHolds } for 2 but 3 Num, 1 Tx, 3..9 steps expect 1
WithoutLossIsTold: check { less[LossIsTold] implies always LossTold } for 2 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutLeaveReentered: check { less[LeaveReentered] implies always KeepsHeld } for 2 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutResolveFirst: check { less[ResolveFirst] implies always BeliefIsTrue } for 2 but 3 Num, 0 Tx, 3..9 steps expect 1
WithoutSteadyClock: check { less[SteadyClock] implies always BeliefIsTrue } for 2 but 4 Num, 0 Tx, 3..9 steps expect 1
