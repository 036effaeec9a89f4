import { basename } from 'node:path/posix'
import { describeError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/service/file.ts'
import {
  type FileBook,
  type FileFinding,
  isFlood,
  judgeArrival,
  judgeDeparture,
  type KnownFile,
} from '../../core/service/sweep/judge-file.ts'
import { FILE_TYPES, type FileType, type SweepPlan, spacingOf } from '../../core/service/sweep/sweep-plan.ts'
import { type SweepState, sweepBefore } from '../../core/service/sweep/sweep-state.ts'
import type { FileMark, KeptSweep, SweepChange } from '../../core/store/sweeps.ts'
import { momentOf } from '../../core/time.ts'
import { claimRequest, MAX_FAILURES, noteFailure, publishEnd, type SweepParts } from './sweep-parts.ts'

/** Known files that one look reads. */
const FILES = 2_000

/** Findings of one look that are told one by one; the end of the sweep tells their number. */
const MAX_TOLD = 20

/** Findings that one approval lists at most. */
export const MAX_FOUND = 100_000

/** Requests for a file before it is passed over. */
const TRIES = 3

/** Pause while events wait to be matched. */
const WAIT_MS = 5_000

/** The facts of a look, beside the file. */
interface Court {
  plan: SweepPlan
  state: SweepState
  book: FileBook
  /** Of {@link KeptSweep}. */
  forgottenTo: number | null
  now: number
  isReported: (type: FileType, file: string) => Promise<boolean>
}

/** Marks and findings that need no request, or the word that the service has to be asked. */
type Verdict = { kind: 'known'; marks: FileMark[]; findings: FileFinding[] } | { kind: 'ask' }

/**
 * Judges files of the sweep that was listed, up to the first of which the service has to be asked.
 * Waits until every stored event is matched: one may tell of a file. Resolves with the moment to go
 * on at; null: all are judged, or another process goes on.
 */
export async function judgeNext(plan: SweepPlan, parts: SweepParts, kept: KeptSweep): Promise<number | null> {
  const { store, clock } = parts
  const { account, storage, state } = kept
  const now = clock.now()
  const book = (await store.loadFileBook())?.book ?? null
  const { newest } = await store.listMatchCursors()
  if (book === null || [...newest].some(([stream, seq]) => (book.read[stream] ?? 0) < seq)) return now + WAIT_MS
  const old = now - plan.graceMs
  const { files, next } = await store.listSuspects({
    account,
    storage,
    after: state.judged,
    limit: FILES,
    arrivedAfter: state.baseline ?? 0,
    seenUntil: old,
    lastBefore: sweepBefore(state)?.number ?? 0,
    goneUntil: old,
  })
  const isReported = await openReported(plan, parts, files)
  const court = { plan, state, book, forgottenTo: kept.forgottenTo, now, isReported }
  const change = { marks: [] as FileMark[], findings: [] as FileFinding[] }
  for (const file of files) {
    const verdict = await judgeFile(court, file)
    if (verdict.kind === 'ask') return askForFile(court, parts, { kept, change, file })
    change.marks.push(...verdict.marks)
    change.findings.push(...verdict.findings)
  }
  return save(court, parts, { kept, change, judged: next })
}

/** Whether an event, or a delete of ours, told of each of the files. */
async function openReported(
  { account, storage }: SweepPlan,
  { store, filesOf }: SweepParts,
  suspects: readonly KnownFile[],
): Promise<Court['isReported']> {
  const ids = suspects.map(({ file }) => file)
  const read = async (type: FileType) => new Set(await store.listReportedFiles({ account, storage, type, files: ids }))
  const told = { [FILE_TYPES.created]: await read('file.created'), [FILE_TYPES.deleted]: await read('file.deleted') }
  return async (type, file) => {
    if (told[type].has(file)) return true
    if (type === FILE_TYPES.created) return false
    const { spellings } = await filesOf(account)
    const names = [storage, spellings[storage] ?? []].flat()
    return store.hasOwnDelete(
      account,
      names.map((name) => `${name}:${file}`),
    )
  }
}

async function judgeFile(court: Court, file: KnownFile): Promise<Verdict> {
  const isOutside = file.isFolder === 1 || file.lastSweep < (court.state.baseline ?? 0)
  if (isOutside) return { ...NOTHING, marks: [{ file: file.file, kind: 'gone', at: 0 }] }
  const arrival = await judgeAsArrived(court, file)
  if (arrival.kind === 'ask') return arrival
  const departure = await judgeAsGone(court, file)
  if (departure.kind === 'ask') return departure
  return {
    kind: 'known',
    marks: [...arrival.marks, ...departure.marks],
    findings: [...arrival.findings, ...departure.findings],
  }
}

const NOTHING: Verdict & { kind: 'known' } = { kind: 'known', marks: [], findings: [] }

async function judgeAsArrived(court: Court, known: KnownFile): Promise<Verdict> {
  const { plan, state, book } = court
  const { file } = known
  const isArrival = known.isArrivalJudged === 0 && known.firstSweep > (state.baseline ?? Infinity)
  if (!isArrival || book.types[FILE_TYPES.created] === undefined) return NOTHING
  const marks: FileMark[] = [{ file, kind: 'arrival' }]
  if (await court.isReported(FILE_TYPES.created, file)) return { ...NOTHING, marks }
  if (known.goneAt !== null)
    return { ...NOTHING, marks, findings: [note(court, known, FILE_TYPES.created, 'it is gone again')] }
  if (known.lastSweep !== state.number) return NOTHING
  const unread = book.unread[`${plan.account} ${FILE_TYPES.created}`] ?? null
  const verdict = judgeArrival(known, plan, state, { unread, forgottenTo: court.forgottenTo })
  if (verdict === true) return { kind: 'ask' }
  return { ...NOTHING, marks, findings: [note(court, known, FILE_TYPES.created, verdict)] }
}

async function judgeAsGone(court: Court, known: KnownFile): Promise<Verdict> {
  const { plan, state, book, now } = court
  const { file } = known
  const isAbsent = known.goneAt === null && known.lastSweep < (sweepBefore(state)?.number ?? 0)
  const isGone = known.goneAt !== null && known.goneAt <= now - plan.graceMs
  if (known.isDepartureJudged !== 0 || (!isAbsent && !isGone)) return NOTHING
  const marks: FileMark[] = [{ file, kind: 'departure' }]
  if (await court.isReported(FILE_TYPES.deleted, file))
    return { ...NOTHING, marks: isAbsent ? [...marks, { file, kind: 'gone', at: now }] : marks }
  if (isAbsent) return { kind: 'ask' }
  if (book.types[FILE_TYPES.deleted] === undefined) return NOTHING
  const unread = book.unread[`${plan.account} ${FILE_TYPES.deleted}`] ?? null
  const verdict = judgeDeparture(known, state, unread)
  const reason = verdict === true ? null : verdict
  return { ...NOTHING, marks, findings: [note(court, known, FILE_TYPES.deleted, reason)] }
}

/** A finding. With a reason, it is unclear. */
function note(
  { plan, state, book, now }: Court,
  known: KnownFile,
  type: FileType,
  reason: string | null,
  entry: FileEntry = entryOf(plan, known),
): FileFinding {
  const canRepair = plan.repair === 'events' && book.types[type]?.canMakeUp === true
  return {
    account: plan.account,
    storage: plan.storage,
    file: known.file,
    type,
    state: reason !== null ? 'unclear' : canRepair ? 'found' : 'missing',
    sweep: state.number,
    foundAt: now,
    path: entry.path,
    entry: JSON.stringify(entry),
    reason,
    approval: null,
    event: null,
    lateEvent: null,
  }
}

/** The file as it was last seen. */
function entryOf({ storage: service }: SweepPlan, known: KnownFile): FileEntry {
  const { file: id, path, size } = known
  const dates = { createdAt: momentOf(known.createdAt), modifiedAt: momentOf(known.modifiedAt) }
  return { service, id, name: basename(path), type: 'file', mimeType: null, size, path, ...dates }
}

interface Asking {
  kept: KeptSweep
  change: { marks: FileMark[]; findings: FileFinding[] }
  file: KnownFile
}

/** Asks the service for the file itself, before anything is said of it. */
async function askForFile(court: Court, parts: SweepParts, { kept, change, file }: Asking): Promise<number | null> {
  const { plan, state, now } = court
  const files = await parts.filesOf(plan.account)
  const claimed = await claimRequest(kept, parts, spacingOf(plan, files.perMinute))
  if (claimed === null) return null
  const id = file.file
  let entry: FileEntry | null
  try {
    entry = await files.get({ service: plan.storage, id })
  } catch (error) {
    const passing = passOver(claimed.state, file, error)
    if (passing === null || parts.signal?.aborted) return noteFailure(parts, claimed, error)
    return save({ ...court, state: passing }, parts, { kept: claimed, change, judged: id })
  }
  if (entry === null) change.marks.push({ file: id, kind: 'gone', at: now })
  else if (file.lastSweep !== state.number) change.marks.push({ file: id, kind: 'present', sweep: state.number })
  else {
    change.marks.push({ file: id, kind: 'arrival' })
    // A listing may show a folder as a file, of which no event tells. Else the event may have come
    // while the service was asked.
    const { account, storage } = plan
    const type = FILE_TYPES.created
    const [reported] = await parts.store.listReportedFiles({ account, storage, type, files: [id] })
    if (reported === undefined && entry.type === 'file') change.findings.push(note(court, file, type, null, entry))
  }
  return save({ ...court, state: { ...claimed.state, failures: 0 } }, parts, { kept: claimed, change, judged: id })
}

/**
 * The state behind a file that cannot be asked for, so that it holds up no other. The next sweep
 * asks again. Null while that is not known, or where many requests failed.
 */
function passOver(state: SweepState, { file }: KnownFile, error: unknown): SweepState | null {
  const failures = state.failures + 1
  if (failures % TRIES !== 0 || failures >= MAX_FAILURES) return null
  const { name, message } = describeError(error)
  const fault = `some files could not be asked for, the last one ${file}: ${name}: ${message}`
  return { ...state, failures, ended: { at: state.ended?.at ?? state.startedAt, fault } }
}

/** Saves what is known by now; `judged` null: of every file. */
async function save(
  { plan, state, now }: Court,
  { store, publish, clock, approvals }: SweepParts,
  { kept, change, judged }: { kept: KeptSweep; change: Asking['change']; judged: string | null },
): Promise<number | null> {
  const count = (wanted: (finding: FileFinding) => boolean) => change.findings.filter(wanted).length
  const next: SweepState = {
    ...state,
    judged: judged ?? '',
    phase: judged === null ? 'idle' : 'judging',
    missing: state.missing + count((finding) => finding.state !== 'unclear'),
    unclear: state.unclear + count((finding) => finding.state === 'unclear'),
  }
  const { account, storage } = plan
  const waiting =
    judged === null ? await store.listFindings({ account, storage, states: ['found'], limit: MAX_FOUND }) : []
  // Those of this look are saved with the end, so that nobody reads them before.
  const found = waiting.length + count((finding) => finding.state === 'found')
  const isHeld = isFlood(found, next.files)
  const settled: SweepChange = judged !== null ? {} : { settle: settle(plan, next, { found, isHeld, now, approvals }) }
  const ended = { ...kept, state: next }
  if (!(await store.saveSweep(ended, { ...change, ...settled }))) return null
  const told = change.findings.filter((finding) => finding.state !== 'unclear').slice(0, MAX_TOLD)
  for (const { account, type, storage, file, path } of told)
    publish({ kind: 'event.missing', account, type, storage, file, path })
  if (judged === null) publishEnd(publish, ended, isHeld)
  return judged === null ? null : Math.max(next.nextAt, clock.now())
}

function settle(
  { storage }: SweepPlan,
  { files }: SweepState,
  given: { found: number; isHeld: boolean; now: number; approvals: SweepParts['approvals'] },
): NonNullable<SweepChange['settle']> {
  if (!given.isHeld) return { state: 'due', held: null }
  const { found, now, approvals } = given
  const many = found.toLocaleString('en')
  const why = `no event told of ${many} of the ${files.toLocaleString('en')} files of ${storage}: make their events up?`
  return { state: 'held', held: { why, needs: approvals.needs, now, expiresAt: now + approvals.expireMs } }
}
