import { refuse, UpshotError } from '../../core/errors.ts'
import type { Approval, ApprovalItem } from '../../core/safety/approval.ts'
import type { ApprovalProof } from '../../core/safety/votes/approval-proof.ts'
import { type Clock, waitUntil } from '../../core/time.ts'
import type { AnswerOf } from '../contract/routes.ts'
import type { Foreseen } from '../ports/surroundings.ts'

/** How often the next list is looked for, and how long without one. */
const LOOK_MS = 250
const IDLE_MS = 60_000
/** A proxy may close a stream that is silent for longer. */
const SILENT_MS = 15_000

/** The effects that were approved ahead so far. */
export type AheadProgress = AnswerOf<'POST /approvals/:id/approve-ahead'>
export type AheadEffect = AheadProgress['latest'][number]

/** The part of a list of effects that has to be like the first one. */
type AheadList = Pick<Approval, 'id' | 'kind' | 'workflow' | 'account' | 'hash' | 'needs' | 'role'>

interface AheadDoor<List extends AheadList> {
  listOpen(workflow: string): Promise<readonly List[]>
  /** With a hash computed of the items, as the database may say another. */
  readList(list: List): Promise<{ items: readonly ApprovalItem[]; proof: Pick<ApprovalProof, 'hash' | 'find'> }>
  /** Gives the word of the person for the list up to this hash. */
  approve(list: List, hash: string): Promise<unknown>
  hasEnded(run: string): Promise<boolean>
}

/**
 * The first effects that a look ahead showed, at most so many of so many bytes. A delete whose size
 * nobody knows ends them where bytes are bounded.
 */
export function boundAhead({ ahead }: Pick<Foreseen, 'ahead'>, most: number, maxBytes: number): AheadEffect[] {
  const all = ahead.flatMap(({ run, list }) => list.map((effect) => ({ run, ...effect }))).slice(0, most)
  let left = maxBytes
  const end = all.findIndex(({ class: kind, bytes }) => {
    left -= bytes ?? (kind === 'delete' && Number.isFinite(maxBytes) ? Infinity : 0)
    return left < 0
  })
  return end === -1 ? all : all.slice(0, end)
}

/** Throws where the word of one person does not let a list begin. */
export function requireAhead({ kind, needs }: Pick<AheadList, 'kind' | 'needs'>): void {
  if (kind === 'guard' && needs === 1) return
  throw refuse('Only a list of effects that one person approves is approved ahead.', 'Approve each list as it comes.')
}

/**
 * Approves what the runs of a list ask for after it, with a word for each of their lists. One with
 * anything that was not foreseen stays open, and ends it.
 * Nothing is approved in advance: the end of this program, or of the signal, ends it, too.
 */
export async function* approveAhead<List extends AheadList>(
  door: AheadDoor<List>,
  {
    first,
    effects,
    clock,
    signal,
  }: { first: AheadList; effects: readonly AheadEffect[]; clock: Clock; signal: AbortSignal },
): AsyncGenerator<AheadProgress> {
  const expected = new Set(effects)
  const others = new Set<string>()
  const done: Pick<AheadProgress, 'approved' | 'approvals' | 'latest'> = { approved: 0, approvals: [], latest: [] }
  const tell = (stopped: string | null = null, held: string | null = null) => {
    const isOver = stopped !== null || expected.size === 0
    return { ...done, approvals: [...done.approvals], left: expected.size, stopped, held, isOver }
  }
  yield tell()
  let [idleSince, toldAt] = [clock.now(), clock.now()]
  while (expected.size > 0 && !signal.aborted) {
    const next = await findNext(door, first.workflow, { expected, others })
    if (next !== null) {
      const stopped = findUnforeseen(first, next, expected) ?? (await approve(door, next))
      if (stopped !== null) return yield tell(`Approval ${next.list.id} ${stopped}`, next.list.id)
      done.latest = next.items.flatMap((item) => take(expected, item))
      done.approved += next.items.length
      done.approvals.push(next.list.id)
      idleSince = clock.now()
    } else if (await haveEnded(door, expected)) {
      return yield tell(`Its runs have ended without the other ${expected.size}.`)
    } else if (clock.now() - idleSince >= IDLE_MS) {
      return yield tell('Its runs asked for nothing more within a minute.')
    }
    if (next !== null || clock.now() - toldAt >= SILENT_MS) {
      toldAt = clock.now()
      yield tell()
    }
    if (next === null) await waitUntil(clock, clock.now() + LOOK_MS, signal).catch(() => {})
  }
}

interface Next<List> {
  list: List
  items: ApprovalItem[]
  proof: Pick<ApprovalProof, 'hash' | 'find'>
}

/**
 * The next open list in which one of the runs asks for something. `others` keeps those in which
 * none does, as their items may be many: each is read once, until it changes.
 */
async function findNext<List extends AheadList>(
  door: AheadDoor<List>,
  workflow: string,
  { expected, others }: { expected: ReadonlySet<AheadEffect>; others: Set<string> },
): Promise<Next<List> | null> {
  const runs = new Set([...expected].map(({ run }) => run))
  for (const list of await door.listOpen(workflow)) {
    const state = `${list.id} ${list.hash}`
    if (list.kind !== 'guard' || others.has(state)) continue
    const { items, proof } = await door.readList(list)
    const asked = items.filter((item) => item.state === 'open')
    if (asked.some(({ runId }) => runs.has(runId))) return { list, items: asked, proof }
    others.add(state)
  }
  return null
}

/** Why a list is not what a person has seen ahead; null: it is. */
function findUnforeseen<List extends AheadList>(
  first: AheadList,
  { list, items, proof }: Next<List>,
  expected: ReadonlySet<AheadEffect>,
): string | null {
  // It may have grown since its hash was read.
  if (proof.find(list.hash).length === 0) return 'is not the list that its hash names.'
  const { needs, role, account } = list
  if (needs !== first.needs || role !== first.role || account !== first.account) return 'asks other people.'
  const strange = items.find((item) => findEffect(expected, item) === undefined)
  return strange ? `asks for ${strange.asked?.path ?? strange.target}, which the look ahead did not show so.` : null
}

/** Gives the word; answers why it does not count, where somebody else decided meanwhile. */
function approve<List extends AheadList>(door: AheadDoor<List>, { list, proof }: Next<List>): Promise<string | null> {
  return door.approve(list, proof.hash).then(
    () => null,
    (error: unknown) => {
      if (error instanceof UpshotError && error.status === 409) return `was not approved: ${error.message}`
      throw error
    },
  )
}

/** The same step, target, path, size and type; the hash of the list binds the rest. */
function findEffect(
  expected: ReadonlySet<AheadEffect>,
  { runId, step, target, asked }: ApprovalItem,
): AheadEffect | undefined {
  return [...expected].find((effect) => {
    const isSame = effect.run === runId && effect.step === step && effect.target === target
    const { path = null, bytes = null, isFolder = false } = asked ?? {}
    return isSame && effect.path === path && effect.bytes === bytes && effect.isFolder === isFolder
  })
}

function take(expected: Set<AheadEffect>, item: ApprovalItem): AheadEffect[] {
  const effect = findEffect(expected, item)
  if (effect === undefined) return []
  expected.delete(effect)
  return [effect]
}

async function haveEnded(
  door: Pick<AheadDoor<AheadList>, 'hasEnded'>,
  expected: ReadonlySet<AheadEffect>,
): Promise<boolean> {
  for (const run of new Set([...expected].map((effect) => effect.run))) if (!(await door.hasEnded(run))) return false
  return true
}
