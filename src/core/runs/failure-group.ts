import type { Failure } from '../errors.ts'
import { deriveGroupId } from '../ids.ts'
import { stepNameOf } from './step.ts'

interface FailureKind {
  /** `grp_…`: the same for failures of one kind, in every process. */
  id: string
  workflow: string
  /** Name of the failed step, without its key; null outside a step. */
  step: string | null
  /** Name of the error's class. */
  name: string
  /** First line of the message, with ids, numbers, moments and paths masked. */
  message: string
}

/** Failed runs of one kind. Times are epoch milliseconds. */
export interface FailureGroup extends FailureKind {
  runs: number
  /** Those that a person has resolved one by one. */
  resolved: number
  /** End of the first run and of the last one. */
  firstAt: number
  lastAt: number
  /** Id of the newest run. */
  lastRun: string
  /** Runs by the hour of their ends, in hours since 1970. */
  byHour: Record<string, number>
}

/** Characters of a masked message. */
const MESSAGE_LIMIT = 200

/**
 * Details by which failures of one kind differ, in the order of masking. An HTTP status stays,
 * because 404 and 503 need different answers.
 */
const MASKS: readonly [what: RegExp, mask: string][] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\bhttps?:\/\/[^\s"'<>]+/gi, '<url>'],
  // Quoted text that looks like a path, a file name or an id. A plain word in quotes stays. No
  // mark behind a word opens a quote, so what stands between two quoted texts stays.
  [/(?<=^|[\s([{<=:,;|])(["'`“])[^"'`”]*[/\\.\d][^"'`”]*(["'`”])/g, '$1<value>$2'],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, '<id>'],
  [/(?:\b[\w-]+:)?(?<![\w<])\/(?:[^\s"'`,;()<>]*[^\s"'`,;()<>.:])?/g, '<path>'],
  [/\b[a-z]{2,12}_(?=[\da-z]*\d)[\da-z]+\b/gi, '<id>'],
  [/\b(?=[a-f]*\d)[\da-f]{8,}\b/gi, '<id>'],
  [/\b[\w-]+\.(?:csv|docx?|gz|jpe?g|json|md|mp4|parquet|pdf|png|tar|tsv|txt|xlsx?|xml|ya?ml|zip)\b/gi, '<file>'],
  [/(?<!\bHTTP )(?<!\bstatus )(?<![\w<])\d+(?:[.,:]\d+)*/gi, '<n>'],
]

/** The kind of a run's failure. Two runs with the same `id` failed for the same reason. */
export function groupFailure(workflow: string, error: Failure): FailureKind {
  const step = error.step === undefined ? null : stepNameOf(error.step)
  const message = maskMessage(error.message)
  return { id: deriveGroupId(workflow, step ?? '', error.name, message), workflow, step, name: error.name, message }
}

function maskMessage(message: string): string {
  const line = message.split('\n', 1)[0] ?? ''
  return MASKS.reduce((text, [what, mask]) => text.replace(what, mask), line.slice(0, 2 * MESSAGE_LIMIT))
    .trim()
    .slice(0, MESSAGE_LIMIT)
}

const HOUR_MS = 3_600_000

/** The group of one failed run, which ended at `at`. */
export function groupOne({
  run,
  workflow,
  error,
  at,
  isResolved,
}: {
  run: string
  workflow: string
  error: Failure
  at: number
  isResolved: boolean
}): FailureGroup {
  const byHour = { [Math.floor(at / HOUR_MS)]: 1 }
  return {
    ...groupFailure(workflow, error),
    runs: 1,
    resolved: isResolved ? 1 : 0,
    firstAt: at,
    lastAt: at,
    lastRun: run,
    byHour,
  }
}

/** Joins groups of several slices; the one with the newest failure comes first. */
export function mergeFailureGroups(parts: readonly FailureGroup[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const part of parts) {
    const sum = groups.get(part.id)
    if (sum === undefined) {
      groups.set(part.id, { ...part, byHour: { ...part.byHour } })
      continue
    }
    sum.runs += part.runs
    sum.resolved += part.resolved
    sum.firstAt = Math.min(sum.firstAt, part.firstAt)
    sum.lastAt = Math.max(sum.lastAt, part.lastAt)
    if (part.lastRun > sum.lastRun) sum.lastRun = part.lastRun
    for (const [hour, runs] of Object.entries(part.byHour)) sum.byHour[hour] = (sum.byHour[hour] ?? 0) + runs
  }
  return [...groups.values()].sort((a, b) => b.lastAt - a.lastAt || (a.id < b.id ? -1 : 1))
}

/** A person's verdict on a kind of failure. Times are epoch milliseconds. */
export interface FailureState {
  /** Id of the kind; see `groupFailure`. */
  group: string
  kind: 'resolved' | 'snoozed'
  note: string | null
  /** The person, as the audit log names them. */
  by: string
  at: number
  /** End of a snooze; null for a resolution. */
  until: number | null
}

/**
 * A resolved kind opens again with the next failure, a snoozed one with the end of its time.
 * `left`: failed runs of it that are not resolved, by default 1; without any, it is resolved.
 */
export function decideFailureState(
  state: FailureState | null,
  { lastAt, now, left = 1 }: { lastAt: number; now: number; left?: number },
): 'open' | FailureState['kind'] {
  if (left === 0) return 'resolved'
  if (state === null) return 'open'
  const holds = state.kind === 'resolved' ? lastAt <= state.at : now < (state.until ?? 0)
  return holds ? state.kind : 'open'
}

/** A failure in one line: its step and the reason, without the words that say the step again. */
export function summarizeFailure({ step, message }: { step?: string | undefined; message: string }): string {
  if (step === undefined) return message
  const before = `step "${step}" failed after `
  const reason = message.startsWith(before) ? message.slice(before.length).replace(/^\d+ attempts?: /, '') : message
  return `${step}: ${reason}`
}
