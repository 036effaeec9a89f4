import { UpshotError } from '../errors.ts'
import { type FolderCount, foldersAbove } from './folders.ts'

/** Bounds on the deletes or writes of one scope. Left out: no bound. */
interface CountLimits {
  /** Effects of one run. */
  perRun?: number | undefined
  /** Effects within any hour. */
  perHour?: number | undefined
  /** Effects within any day. */
  perDay?: number | undefined
}

/** Bounds on deletes, also as a share of what the run has listed. */
interface DeleteLimits extends CountLimits {
  /** A part of the entries that the run has listed in the storage, from 0 to 1. */
  share?: number | undefined
  /** The share counts once the run has listed so many entries. */
  shareFrom?: number | undefined
}

/** Bounds of one scope. */
interface ScopeLimits {
  deletes?: DeleteLimits | undefined
  /** Bytes of deleted files. */
  bytes?: CountLimits | undefined
  writes?: CountLimits | undefined
}

/** The rule for an effect over a limit. */
export const OVER = ['approve', 'wait', 'fail'] as const
export type Over = (typeof OVER)[number]

/** The bounds of a workflow on its own effects. */
export interface WorkflowLimits extends ScopeLimits {
  over?: Over | undefined
}

/** The bounds of a project. A workflow's own replace `workflow`, and no other. */
export interface Guard {
  all: ScopeLimits
  account: ScopeLimits
  storage: ScopeLimits
  workflow: WorkflowLimits
}

/** The bounds of a project that sets none. */
export const DEFAULT_GUARD: Guard = {
  all: { deletes: { perHour: 300, perDay: 1_000 } },
  account: { deletes: { perHour: 300, perDay: 1_000 } },
  storage: { deletes: { perHour: 200, perDay: 500 } },
  workflow: { deletes: { perRun: 20, perHour: 100, perDay: 300, share: 0.1, shareFrom: 20 }, over: 'approve' },
}

/** The guard of a project, with the rules of the approvals that it opens. */
export interface GuardPolicy {
  /** Null where the guard is off: stops and the ledger stay. */
  limits: Guard | null
  approvals: { expireMs: number; needs: number }
  /** The writes that get a ledger row: those that name a target, or all of them. */
  ledger: 'targeted' | 'all'
}

/** The policy of a project that sets nothing. */
export const DEFAULT_POLICY: GuardPolicy = {
  limits: DEFAULT_GUARD,
  approvals: { expireMs: 7 * 86_400_000, needs: 1 },
  ledger: 'targeted',
}

/** Length of a window, and of the buckets that it is counted in, in milliseconds. */
export const WINDOWS = {
  hour: { ms: 3_600_000, bucketMs: 300_000 },
  day: { ms: 86_400_000, bucketMs: 3_600_000 },
} as const

export type Window = 'run' | keyof typeof WINDOWS
type Counted = 'deletes' | 'bytes' | 'writes'

/** A bound that an effect has to fit into. */
export interface Limit {
  /** The counter, such as `all` or `workflow/tidy`. */
  scope: string
  what: Counted
  window: Window
  /** Largest sum in the window, with this effect. */
  most: number
  /** The setting to raise, such as `guard.workflow.deletes.perHour`. */
  setting: string
  over: Over
}

/** The source of an effect, as far as the guard counts by it. */
export interface EffectSource {
  runId: string
  workflow: string
  account: string
  storage: string | null
  /** Folder of the file in its storage. Null or left out: not known. */
  folder?: string | null
}

/** The counter of a run's deletes in a folder and below it. `privacy` finds a path behind `:`. */
function shareScope(runId: string, storage: string, folder: string): string {
  return `run/${runId}/${storage}${folder === '/' ? '' : `:${folder}`}`
}

/** The counters of an effect. The last two kinds belong to its run alone. */
export function listScopes({ runId, workflow, account, storage, folder = null }: EffectSource) {
  return {
    all: 'all',
    account: `account/${account}`,
    storage: storage === null ? null : `storage/${account}/${storage}`,
    workflow: `workflow/${workflow}`,
    run: `run/${runId}`,
    shares: storage === null ? [] : foldersAbove(folder).map((each) => shareScope(runId, storage, each)),
  }
}

/**
 * The limits of an effect. `listed`: what the run has listed in each folder above its file. A share
 * counts in each of them, so that no other folder makes room in it.
 */
export function planLimits(
  guard: Guard,
  own: WorkflowLimits | undefined,
  { source, effect, listed }: { source: EffectSource; effect: 'delete' | 'write'; listed: readonly FolderCount[] },
): Limit[] {
  const scopes = listScopes(source)
  const workflow = own ?? guard.workflow
  const over = workflow.over ?? 'approve'
  const place = own === undefined ? 'guard.workflow' : `guard of ${source.workflow}`
  const planned = [
    ...planScope(scopes.workflow, place, { limits: workflow, run: scopes.run }),
    ...listed.flatMap((counted) => planShare(source, place, { limits: workflow.deletes, counted })),
    ...planScope(scopes.storage, 'guard.storage', { limits: guard.storage, run: scopes.run }),
    ...planScope(scopes.account, 'guard.account', { limits: guard.account, run: scopes.run }),
    ...planScope(scopes.all, 'guard.all', { limits: guard.all, run: scopes.run }),
  ]
  const counted: readonly Counted[] = effect === 'delete' ? ['deletes', 'bytes'] : ['writes']
  // No time makes room in a limit of one run.
  return planned
    .filter(({ what }) => counted.includes(what))
    .map((limit) => ({ ...limit, over: over === 'wait' && limit.window === 'run' ? 'approve' : over }))
}

type PlannedLimit = Omit<Limit, 'over'>

function planScope(
  scope: string | null,
  place: string,
  { limits, run }: { limits: ScopeLimits; run: string },
): PlannedLimit[] {
  if (scope === null) return []
  return (['deletes', 'bytes', 'writes'] as const).flatMap((what) => {
    const { perRun, perHour, perDay } = limits[what] ?? {}
    const plan = (most: number | undefined, window: Window, name: string, at: string): PlannedLimit[] =>
      most === undefined ? [] : [{ scope: at, what, window, most, setting: `${place}.${what}.${name}` }]
    return [
      ...plan(perRun, 'run', 'perRun', run),
      ...plan(perHour, 'hour', 'perHour', scope),
      ...plan(perDay, 'day', 'perDay', scope),
    ]
  })
}

function planShare(
  { runId, storage }: EffectSource,
  place: string,
  { limits = {}, counted: { folder, listed } }: { limits: DeleteLimits | undefined; counted: FolderCount },
): PlannedLimit[] {
  const { share, shareFrom = 1 } = limits
  if (storage === null || share === undefined || listed < shareFrom) return []
  const scope = shareScope(runId, storage, folder)
  // In floating point, 0.29 of 100 is a little less than 29.
  const most = Math.floor(share * listed + 1e-6)
  return [{ scope, what: 'deletes', window: 'run', most, setting: `${place}.deletes.share` }]
}

/** True where a limit counts the writes of a workflow, so that each of them asks. */
export function limitsWrites(guard: Guard, own: WorkflowLimits | undefined): boolean {
  const scopes = [own ?? guard.workflow, guard.storage, guard.account, guard.all]
  return scopes.some(({ writes }) => writes !== undefined)
}

export function measure({ what }: Pick<Limit, 'what'>, size: { count: number; bytes: number }): number {
  return what === 'bytes' ? size.bytes : size.count
}

/**
 * The first limit without room for `size` more; null where all have room. Time makes no room for
 * what is larger than the whole limit, so people decide that.
 */
export function findFull(
  limits: readonly Limit[],
  size: { count: number; bytes: number },
  usedOf: (limit: Limit) => number,
): Limit | null {
  const full = limits.find((limit) => usedOf(limit) + measure(limit, size) > limit.most)
  if (full === undefined) return null
  return full.over === 'wait' && measure(full, size) > full.most ? { ...full, over: 'approve' } : full
}

/**
 * The first bucket that counts at `now`. Those of the future count: a clock set back frees none.
 */
export function firstBucket(window: keyof typeof WINDOWS, now: number): number {
  const { ms, bucketMs } = WINDOWS[window]
  return Math.floor((now - ms) / bucketMs)
}

export function bucketOf(window: keyof typeof WINDOWS, now: number): number {
  return Math.floor(now / WINDOWS[window].bucketMs)
}

/** When the oldest bucket that counts at `now` leaves its window, in epoch milliseconds. */
export function nextRoomAt(window: Window, now: number): number {
  if (window === 'run') return now
  const { ms, bucketMs } = WINDOWS[window]
  return (firstBucket(window, now) + 1) * bucketMs + ms
}

/** The limit of a folder, which goes with everything in it: a person decides each of them. */
export function folderLimit({ runId }: Pick<EffectSource, 'runId'>): Limit {
  const what = { what: 'deletes', window: 'run', most: 0, over: 'approve' } as const
  return { scope: listScopes({ runId, workflow: '', account: '', storage: null }).run, ...what, setting: FOLDER }
}

/** The limit of a run that was started with a plan: a person decides what is not in its list. */
export function planLimit({ runId }: Pick<EffectSource, 'runId'>, effect: 'delete' | 'write'): Limit {
  const what = effect === 'delete' ? 'deletes' : 'writes'
  return { scope: `run/${runId}`, what, window: 'run', most: 0, over: 'approve', setting: PLAN }
}

/** The `askedBy` of the approval of a run that was started with a list. */
export function planAskedBy({ runId, account }: Pick<EffectSource, 'runId' | 'account'>): string {
  return `run/${runId}/${account}/${PLAN}`
}

const FOLDER = 'a folder always asks'
const FOLDER_WORDS = 'the delete of a folder with everything in it'
const PLAN = 'a plan is for its list'

/** The setting of a limit without a workflow's id, as metrics name it; else `folder` or `plan`. */
export function ruleOf({ setting }: Pick<Limit, 'setting'>): string {
  if (setting === PLAN) return 'plan'
  return setting === FOLDER ? 'folder' : setting.replace(/^guard of .*\.(\w+\.\w+)$/, 'guard.workflow.$1')
}

export function listRules(guard: Guard): string[] {
  const source = { runId: '', workflow: '', account: '', storage: 'storage_a' }
  const limits = (['delete', 'write'] as const).flatMap((effect) =>
    planLimits(guard, undefined, { source, effect, listed: [{ folder: '/', listed: Infinity }] }),
  )
  return ['folder', 'plan', ...new Set(limits.map(ruleOf))]
}

const WORDS = { run: 'in one run', hour: 'an hour', day: 'a day' } as const

/** The limit in words, with the setting that was too small. */
export function describeLimit({ scope, what, window, most, setting }: Limit): string {
  if (setting === FOLDER) return `${FOLDER_WORDS}, which always asks`
  if (setting === PLAN) return 'outside of the plan that the run was started with'
  const whose = scope.startsWith('run/') ? '' : ` of ${scope === 'all' ? 'all workflows' : scope.replace('/', ' ')}`
  const folder = scope.split('/').slice(3).join('/')
  const share = `, the allowed share of what it listed${folder === '' ? '' : ` in /${folder}`}`
  const part = setting.endsWith('.share') ? share : ''
  return `over the limit of ${most} ${what}${whose} ${WORDS[window]}${part} (${setting})`
}

/** The setting that {@link describeLimit} names in a text; null without one. */
export function settingIn(words: string): string | null {
  if (words.includes(FOLDER_WORDS)) return FOLDER
  return /\((guard[^()]*)\)$/.exec(words)?.[1] ?? null
}

/** Whether a setting bounds each run by itself, so that no other run has a part in it. */
export function isOfOneRun(setting: string): boolean {
  return setting === FOLDER || /\.(perRun|share)$/.test(setting)
}

const UNITS: Record<string, number> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }

/** Bytes of a size such as `50 GB` or `1.5 MB`, or a number. Throws `invalid_config`. */
export function parseSize(given: number | string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?) ?(B|kB|MB|GB|TB)$/.exec(String(given)) ?? []
  const bytes = typeof given === 'number' ? given : Number(number || Number.NaN) * (UNITS[unit] ?? Number.NaN)
  if (Number.isFinite(bytes) && bytes >= 0) return Math.round(bytes)
  throw new UpshotError('invalid_config', `"${given}" is not a size. Write one such as "50 GB" or "200 MB".`)
}

/** The part from 0 to 1 of a text such as `10%`. Throws `invalid_config`. */
export function parseShare(given: string): number {
  const [, number] = /^(\d+(?:\.\d+)?)%$/.exec(given) ?? []
  if (number !== undefined && Number(number) <= 100) return Number(number) / 100
  throw new UpshotError('invalid_config', `"${given}" is not a share. Write a percentage such as "10%".`)
}
