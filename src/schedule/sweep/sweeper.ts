import { describeError } from '../../core/errors.ts'
import type { Approval, ItemState } from '../../core/safety/approval.ts'
import { loadProof, MAX_VOTES } from '../../core/safety/votes/approval-proof.ts'
import type { FileEntry } from '../../core/service/file.ts'
import { canKnow, type FindingKey, type FindingState } from '../../core/service/sweep/judge-file.ts'
import { type SweepPlan, spacingOf } from '../../core/service/sweep/sweep-plan.ts'
import { beginSweep, isDue, isFromAhead, newState } from '../../core/service/sweep/sweep-state.ts'
import type { KeptSweep, ListedFile } from '../../core/store/sweeps.ts'
import { Loop } from '../../core/time.ts'
import { judgeNext, MAX_FOUND } from './judge-next.ts'
import { claimRequest, noteFailure, publishEnd, type SweepParts, type SweptFiles } from './sweep-parts.ts'

/** The longest time between two looks. */
const PERIOD_MS = 10_000

/**
 * Compares storages with events, one request at a time. Of several processes, one sweeps a storage;
 * another goes on where it ended. See decision 77.
 */
export class Sweeper extends Loop {
  readonly #parts: SweepParts
  readonly #plans: readonly SweepPlan[]
  #decidesAt = 0
  #decided: readonly Decided[] = []

  constructor(plans: readonly SweepPlan[], parts: SweepParts) {
    super(parts.clock, { everyMs: PERIOD_MS })
    this.#plans = plans
    const { signal } = this
    this.#parts = { ...parts, signal, filesOf: (account) => parts.filesOf(account, signal) }
  }

  override start(): void {
    if (this.#plans.length > 0) super.start()
  }

  protected async round(): Promise<number | undefined> {
    const { clock } = this.#parts
    let next = await this.#decide()
    for (const plan of this.#plans) {
      if (this.signal.aborted) return undefined
      const where = `sweeping ${plan.storage} of the account ${plan.account}`
      const due = await this.#attempt(where, () => stepSweep(plan, this.#parts))
      next = Math.min(next, due ?? next)
    }
    return Math.max(next - clock.now(), 1)
  }

  /** Reads all that waits for people, and so not at each request. Resolves with its next moment. */
  async #decide(): Promise<number> {
    const now = this.#parts.clock.now()
    if (this.#decidesAt <= now || this.#decidesAt > now + PERIOD_MS) {
      const known = this.#decided.length > 0 ? this.#decided : undefined
      const decide = () => decideHeld(this.#parts, known)
      this.#decided = (await this.#attempt('asking for approvals of made-up events', decide)) ?? []
      this.#decidesAt = this.#decided.length > 0 ? now : now + PERIOD_MS
    }
    return this.#decidesAt
  }

  async #attempt<T>(where: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (!this.signal.aborted) this.#parts.publish({ kind: 'fault', where, error: describeError(error) })
      return null
    }
  }
}

/**
 * Sends the next request of a storage's sweep. Resolves with the moment to go on at; null: that is
 * far away, or another process sweeps the storage.
 */
export async function stepSweep(plan: SweepPlan, parts: SweepParts): Promise<number | null> {
  const now = parts.clock.now()
  const kept = await openSweep(plan, parts, now)
  const { state } = kept
  if (state.owner !== parts.owner && state.owner !== null && now < state.leaseUntil) return null
  if (state.phase === 'idle' && !isDue(state, plan, now)) return state.startedAt + plan.everyMs
  if (now < state.nextAt) return state.nextAt
  if (state.phase === 'judging') return judgeNext(plan, parts, kept)
  const files = await parts.filesOf(plan.account)
  const begun = state.phase === 'idle' ? beginSweep(state, now) : state
  const claimed = await claimRequest({ ...kept, state: begun }, parts, spacingOf(plan, files.perMinute))
  return claimed && listPage(plan, parts, claimed, files)
}

async function openSweep(plan: SweepPlan, { store }: SweepParts, now: number): Promise<KeptSweep> {
  const { account, storage, path, recursive } = plan
  const kept = await store.loadSweep(account, storage)
  const found = kept?.state ?? null
  const isAhead = found !== null && isFromAhead(found, plan, now)
  const before = isAhead ? { ...found, nextAt: now, owner: null } : found
  const isSame = before?.scope.path === path && before.scope.recursive === recursive
  const state = before !== null && isSame && !isAhead ? before : newState(plan, before)
  return { account, storage, state, version: kept?.version ?? 0, forgottenTo: kept?.forgottenTo ?? null }
}

async function listPage(
  plan: SweepPlan,
  parts: SweepParts,
  kept: KeptSweep,
  files: SweptFiles,
): Promise<number | null> {
  const { storage: service, path, recursive } = plan
  const { page, token } = kept.state
  const place = { page, ...(token === null ? {} : { pageToken: token }) }
  let listed: Awaited<ReturnType<SweptFiles['list']>>
  try {
    listed = await files.list({ service, path, recursive, sort: 'createdAt', limit: 100, ...place })
  } catch (error) {
    return noteFailure(parts, kept, error)
  }
  const { items, nextPage, totalItems, nextToken } = listed
  const known = items.filter(({ id }) => canKnow(id))
  const passedOver = items.length - known.length
  const facts = { nextPage, totalItems, nextToken, entries: known.length, passedOver }
  const saved = await parts.store.savePage(kept, facts, known.map(asListed), parts.clock.now())
  if (saved?.state.phase === 'idle') publishEnd(parts.publish, saved)
  return saved === null ? null : saved.state.nextAt
}

function asListed({ id, path, size, type, createdAt, modifiedAt }: FileEntry): ListedFile {
  const moment = (text: string | null) => (text === null ? null : Date.parse(text))
  return {
    file: id,
    path,
    size,
    isFolder: type === 'folder',
    createdAt: moment(createdAt),
    modifiedAt: moment(modifiedAt),
  }
}

/** Findings that one look moves. */
const FINDINGS = 1_000
/** Approvals of one page. */
const APPROVALS = 100

const NEXT: Partial<Record<ItemState, FindingState>> = { approved: 'due', denied: 'denied', expired: 'denied' }

/** A held finding that people have decided about, with the state that their word gives it. */
interface Decided {
  finding: FindingKey
  state: ItemState
  to: FindingState
}

/**
 * Carries out what people decided about events to be made up. Resolves with what is left. That goes
 * into the next call: to read it again takes as long as the whole list.
 */
export async function decideHeld(
  parts: Pick<SweepParts, 'store' | 'clock'>,
  known?: readonly Decided[],
): Promise<readonly Decided[]> {
  const decided = known ?? (await listDecided(parts))
  for (const { finding, state, to } of decided.slice(0, FINDINGS)) {
    await parts.store.moveFinding(finding, 'held', to, to === 'denied' ? `the approval is ${state}` : null)
  }
  return decided.slice(FINDINGS)
}

async function listDecided({ store, clock }: Pick<SweepParts, 'store' | 'clock'>): Promise<Decided[]> {
  const held = await store.listFindings({ states: ['held'], limit: MAX_FOUND })
  if (held.length === 0) return []
  const states = await readItems({ store, clock }, new Set(held.map(nameOf)))
  return held.flatMap((finding) => {
    const state = states.get(nameOf(finding)) ?? 'open'
    const to = NEXT[state]
    return to === undefined ? [] : [{ finding, state, to }]
  })
}

/**
 * The newest state of each wanted item: one that has moved is in a later approval, too. Older
 * approvals than these need are not read.
 */
async function readItems(
  { store, clock }: Pick<SweepParts, 'store' | 'clock'>,
  wanted: Set<string>,
): Promise<Map<string, ItemState>> {
  const states = new Map<string, ItemState>()
  for await (const terms of approvalsOf(store, clock.now())) {
    const { id: approval, kind, account, status } = terms
    if (kind !== 'repair') continue
    const { proof, items } = await loadProof(store, terms)
    const votes = await store.listVotes({ approval, limit: MAX_VOTES })
    const facts = { votes, approvers: await store.listApprovers() }
    for (const item of items) {
      const { step, target, state, number } = item
      const isProven = () => proof.holds(terms, item) && proof.judge(number, facts).fault === null
      // An item that no words cover stays lost, whatever its row or its approval says.
      if (state === 'moved' || (state === 'approved' && !isProven())) continue
      const name = `${account} ${step} ${target}`
      if (wanted.delete(name)) states.set(name, status === 'expired' ? 'expired' : state)
    }
    if (wanted.size === 0) break
  }
  return states
}

/** Every approval without a workflow, newest first, read in pages. */
async function* approvalsOf(store: SweepParts['store'], now: number): AsyncGenerator<Approval> {
  for (let before = {}; ; ) {
    const approvals = await store.listApprovals({ workflow: '', limit: APPROVALS, now, ...before })
    yield* approvals
    const last = approvals.at(-1)
    if (last === undefined || approvals.length < APPROVALS) return
    before = { before: last.id }
  }
}

function nameOf({ account, storage, file, type }: FindingKey): string {
  return `${account} ${type} ${storage}:${file}`
}
