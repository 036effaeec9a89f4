import { createHash } from 'node:crypto'
import type { AlertBook, Look, Sighting } from '../../core/alerts/alert-book.ts'
import type { AlertKind, AlertRule } from '../../core/alerts/alert-rule.ts'
import { formatTags } from '../../core/runs/annotations/tags.ts'
import { decideFailureState, type FailureState, groupFailure } from '../../core/runs/failure-group.ts'
import { describeBroken } from '../../core/runs/workflow-record.ts'
import type { Approval } from '../../core/safety/approval.ts'
import type { EffectRecord } from '../../core/safety/effect.ts'
import { readAct } from '../../core/safety/ledger/outside-act.ts'
import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import type { FindingState } from '../../core/service/sweep/judge-file.ts'
import { listBrokenModules } from '../../core/store/process-record.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { lookAtSecrets, lookAtSilence } from './look-at-endpoints.ts'
import { COMMIT_DELAY_MS, lookAtOperations } from './look-at-operations.ts'
import { lookAtShadows, type PreviewShadows } from './look-at-shadows.ts'

export interface LookParts {
  store: ReadStore
  /** Used share of the disk of the database, from 0 to 1; null where nothing tells. */
  readDiskUse: () => Promise<number | null>
  previewShadows: PreviewShadows
}

/** A look of a rule at the store, bounded and on an index. */
type Looker = (parts: LookParts, rule: AlertRule, position: string | null, now: number) => Promise<Look>

/** Rows of one look; what is left comes with the next one. */
const MAX_ROWS = 1_000
/** Characters of a title that holds words of an error. */
const MAX_TITLE = 300
/** Failed runs of one kind whose tags are named. */
const MAX_TAGGED = 3
/** A failure that is committed later still, behind a newer one, is found for so long. */
const LATE_MS = 60_000
/** Failures of that time that are told apart; of more, fewer may come late. */
const MAX_LATE = 200

const LOOKERS: Record<AlertKind, Looker> = {
  'run.failed': lookAtFailures,
  'run.waits': lookAtWaits,
  'approval.asked': lookAtApprovals,
  'endpoint.suspect': lookAtSecrets,
  'endpoint.silent': lookAtSilence,
  'queue.age': lookAtQueue,
  'tick.missed': lookAtTicks,
  'event.missing': lookAtLosses,
  'effect.outside': lookOutside,
  'module.broken': lookAtModules,
  'disk.low': lookAtDisk,
  'shadow.differs': lookAtShadows,
  'operation.done': lookAtOperations,
}

/** The topics of a rule now, which begins where the look before it ended, as its book says. */
export async function lookFor(
  parts: LookParts,
  rule: AlertRule,
  { position, topics }: Pick<AlertBook, 'position' | 'topics'>,
  now: number,
): Promise<Look> {
  const look = await LOOKERS[rule.when](parts, rule, position, now)
  if (rule.when === 'approval.asked' && look.sightings.length === MAX_ROWS)
    return {
      ...look,
      sightings: [...(await lookAgain(parts, { topics, seen: look.sightings }, now)), ...look.sightings],
    }
  if (rule.when !== 'run.failed' || topics.length === 0) return look
  const kinds = topics.map(({ id, since }) => ({ id, since }))
  return { ...look, settled: await parts.store.listSettledFailures(kinds) }
}

/**
 * A new rule begins with the failures that come after it. So does one whose position is ahead, as
 * the clock was set back. Snoozed kinds are left out. The position names those of the last minute,
 * which is read again: one of them may be committed late.
 */
async function lookAtFailures({ store }: LookParts, rule: AlertRule, position: string | null, now: number) {
  const until = now - COMMIT_DELAY_MS
  const [at = '', run = '', ends = ''] = position?.split('/') ?? []
  if (position === null || Number(at) > now) return { sightings: [], position: `${until}/` }
  const seen = new Set(ends.split(','))
  const read = { after: { at: Number(at), run }, until, limit: MAX_ROWS + seen.size }
  const failures = await store.listEndedFailures(read)
  const isPast = ({ finishedAt }: { finishedAt: number }, index: number) =>
    finishedAt <= until - LATE_MS || index < failures.length - MAX_LATE
  const last = failures.findLastIndex(isPast)
  const edge = failures[last] ?? { finishedAt: at, run }
  const late = failures.slice(last + 1).map(nameEnd)
  const found = failures
    .filter((failure) => !seen.has(nameEnd(failure)) && [null, failure.workflow].includes(rule.workflow))
    .map(({ workflow, error, finishedAt, tags }) => ({
      ...groupFailure(workflow, error),
      finishedAt,
      tags: formatTags(tags),
    }))
  const states = await store.listFailureStates([...new Set(found.map(({ id }) => id))])
  const snoozed = new Set(states.filter((state) => isSnoozed(state, now)).map(({ group }) => group))
  const tagged = Map.groupBy(found, ({ id }) => id)
  const sightings = found
    .filter(({ id }) => !snoozed.has(id))
    .map(({ id, workflow, step, name, finishedAt }): Sighting => {
      const where = step === null ? '' : ` at “${step}”`
      const title = `${workflow} fails${where} with ${name}${nameTags(tagged.get(id) ?? [])}`.slice(0, MAX_TITLE)
      return { id, title, page: `/runs?group=${id}`, command: `runs list --group ${id}`, at: finishedAt, count: 1 }
    })
  return { sightings, position: `${edge.finishedAt}/${edge.run}${late.length > 0 ? `/${late}` : ''}` }
}

/** A run that is tried again may fail twice within that time. */
function nameEnd({ run, finishedAt }: { run: string; finishedAt: number }): string {
  return `${run} ${finishedAt}`
}

/** The tags of failed runs of one kind: those of up to three runs that differ. */
function nameTags(runs: readonly { tags: string }[]): string {
  const distinct = [...new Set(runs.map(({ tags }) => tags))].filter((tags) => tags !== '')
  const more = distinct.length > MAX_TAGGED ? `; and ${distinct.length - MAX_TAGGED} more` : ''
  return distinct.length === 0 ? '' : ` (${distinct.slice(0, MAX_TAGGED).join('; ')}${more})`
}

function isSnoozed(state: FailureState, now: number): boolean {
  return decideFailureState(state, { lastAt: now, now }) === 'snoozed'
}

async function lookAtWaits({ store }: LookParts, { workflow }: AlertRule, position: string | null, now: number) {
  const waiting = (await store.tallyForPerson()).filter((each) => workflow === null || each.workflow === workflow)
  const sightings = waiting.map(({ workflow: name, runs: count }) => ({
    id: name,
    title: `${name} waits for a person`,
    page: `/runs?status=person&workflow=${name}`,
    command: `runs list --waiting-for-me --workflow ${name}`,
    at: now,
    count,
  }))
  return { sightings, position }
}

async function lookAtApprovals({ store }: LookParts, { workflow }: AlertRule, position: string | null, now: number) {
  const filter = workflow === null ? {} : { workflow }
  const approvals = await store.listApprovals({ ...filter, status: 'open', limit: MAX_ROWS, now })
  return { sightings: approvals.map(sightApproval), position }
}

/** Topics that are older than those of a full look, and still open. */
async function lookAgain(
  { store }: LookParts,
  { topics, seen }: { topics: AlertBook['topics']; seen: readonly Sighting[] },
  now: number,
): Promise<Sighting[]> {
  const known = new Set(seen.map(({ id }) => id))
  const others = topics.filter(({ id, endedAt }) => endedAt === null && !known.has(id))
  const found = await Promise.all(others.map(({ id }) => store.findApproval(id, now)))
  return found.flatMap((approval) => (approval?.status === 'open' ? [sightApproval(approval)] : []))
}

function sightApproval(approval: Approval): Sighting {
  const { id, openedAt: at } = approval
  const title = nameApproval(approval)
  return { id, title, page: `/approvals/${id}`, command: `approvals show ${id}`, at, count: 1 }
}

function nameApproval({ kind, workflow, account, openItems }: Approval): string {
  switch (kind) {
    case 'guard':
      return `${workflow} asks to be allowed ${openItems} effects`
    case 'question':
      return `${workflow} asks a question`
    case 'repair':
      return `${openItems} lost events of account ${account} ask to be made up`
  }
}

async function lookAtQueue({ store }: LookParts, { over }: AlertRule, position: string | null, now: number) {
  const { oldestPendingAt, pending } = await store.countOpenRuns(now)
  const waitedMs = oldestPendingAt === null ? 0 : now - oldestPendingAt
  if (waitedMs <= over) return { sightings: [], position }
  const title = `the queue stands: ${pending} pending, the oldest for ${Math.round(waitedMs / 1_000)} s`
  const sighting = { id: 'queue', title, page: '/runs?status=pending', command: 'runs list --status pending', at: now }
  // The rule counts milliseconds, so the age is the count.
  return { sightings: [{ ...sighting, count: waitedMs }], position }
}

async function lookAtTicks({ store }: LookParts, { workflow }: AlertRule, position: string | null, now: number) {
  const missed = Object.fromEntries((await store.tallyMissed()).map((each) => [each.workflow, each.missed]))
  const known: Record<string, number> = position === null ? missed : JSON.parse(position)
  const sightings = Object.entries(missed).flatMap(([name, count]): Sighting[] => {
    const more = count - (known[name] ?? 0)
    if (more <= 0 || (workflow !== null && name !== workflow)) return []
    const title = `${name} missed ticks: no scheduler ran`
    return [{ id: name, title, page: '/schedules', command: 'schedules list', at: now, count: more }]
  })
  return { sightings, position: JSON.stringify(missed) }
}

/** States of a finding that its sweep has proven. */
const LOST: readonly FindingState[] = ['missing', 'held', 'due', 'made', 'denied']

/**
 * The position has the last sweep of each storage that was told; a new rule begins after it. One
 * that is under way may find more, and is told once it is over.
 */
async function lookAtLosses({ store }: LookParts, _rule: AlertRule, position: string | null, now: number) {
  const told: Record<string, number> = position === null ? {} : JSON.parse(position)
  const sightings: Sighting[] = []
  for (const { account, storage, state } of await store.listSweeps()) {
    const place = account === DEFAULT_ACCOUNT ? storage : `${account}/${storage}`
    const before = told[place] ?? 0
    const last = state.phase === 'idle' ? state.number : state.number - 1
    told[place] = Math.max(before, last)
    if (position === null || last <= before) continue
    const lost = await store.listFindings({ account, storage, states: LOST, limit: MAX_ROWS })
    const count = lost.filter(({ sweep }) => sweep > before && sweep <= last).length
    if (count === 0) continue
    const title = `no event told of files in ${place}`
    sightings.push({ id: place, title, page: '/system', command: 'coverage', at: now, count })
  }
  return { sightings, position: JSON.stringify(told) }
}

async function lookAtModules({ store }: LookParts, _rule: AlertRule, position: string | null, now: number) {
  // Of a module with two faults, one is enough.
  const modules = new Map((await listBrokenModules(store, now)).map((module) => [module.file, module]))
  const sightings = Array.from(modules, ([file, module]) => ({
    id: file,
    title: describeBroken(module).slice(0, MAX_TITLE),
    page: '/system',
    command: 'status',
    at: now,
    count: 1,
  }))
  return { sightings, position }
}

async function lookAtDisk({ readDiskUse }: LookParts, { over }: AlertRule, position: string | null, now: number) {
  const share = await readDiskUse()
  if (share === null || share <= over) return { sightings: [], position }
  const title = `${Math.round(share * 100)} % of the disk of the database is used`
  // Whole percents: nobody acts on less.
  const count = Math.ceil(share * 100) / 100
  return { sightings: [{ id: 'disk', title, page: '/system', command: 'doctor', at: now, count }], position }
}

/** Calls past the ledger since the row in `position`, by workflow, way and place in the code. */
async function lookOutside(
  { store }: { store: Pick<ReadStore, 'listEffects'> },
  { workflow }: AlertRule,
  position: string | null,
  now: number,
): Promise<Look> {
  const until = now - COMMIT_DELAY_MS
  const [newest] = await store.listEffects({ until, limit: 1 })
  if (position === null) return { sightings: [], position: String(newest?.seq ?? 0) }
  const range = { after: Number(position), until, phases: ['noted'] as const, limit: MAX_ROWS }
  const rows = await store.listEffects({ ...range, ...(workflow !== null && { workflow }) })
  const last = rows.length < MAX_ROWS ? newest : rows.at(-1)
  return { sightings: rows.flatMap(sight), position: String(Math.max(Number(position), last?.seq ?? 0)) }
}

function sight(row: EffectRecord): Sighting[] {
  const act = readAct(row)
  if (act === null) return []
  const { seq, at, workflow, operation, outcome, proof } = row
  const id = createHash('sha256')
    .update(JSON.stringify([workflow, operation, outcome, proof]))
    .digest('hex')
  const title = `${workflow ?? 'a module'} calls ${act}`
  const page = workflow === null ? '/effects' : `/effects?workflow=${encodeURIComponent(workflow)}`
  return [{ id: id.slice(0, 24), title, page, command: `effects show ${seq}`, at, count: 1 }]
}
