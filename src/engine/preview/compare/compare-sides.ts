import { isPlainObject } from '../../../core/json.ts'
import {
  type Change,
  type Differences,
  type Group,
  NO_DIFFERENCES,
  type Sample,
} from '../../../core/safety/differences.ts'
import { STORAGES } from '../../../core/service/storage.ts'
import { compareOrder } from './compare-order.ts'
import type { Deed, Ending, RunSide } from './deed.ts'
import { compareHeld } from './held.ts'

export type Comparison =
  | { kind: 'same' }
  | { kind: 'differs'; changes: Change[] }
  /** Nothing differs up to a step that nothing answers. */
  | { kind: 'unknown'; question: string }

interface Options {
  /** Results of runs are compared as well. Default false. */
  withOutputs?: boolean
  /** The run was ended from outside: what follows its last step is not known. Default false. */
  isCut?: boolean
}

/**
 * Compares what a run did with what other code would do. A preview that is open is compared as far
 * as it came, and is never the same.
 */
export function compareSides(
  before: RunSide,
  after: RunSide,
  { withOutputs = false, isCut = false }: Options = {},
): Comparison {
  const start = compareStart(before, after)
  if (start !== null) return start
  // Both may be open at the same place: then they are as comparable as ended ones.
  const isOpen = after.end.kind === 'open' && describeEnd(before.end) !== describeEnd(after.end)
  // An effect that an open preview has not reached yet is not missing; one behind a cut is not
  // more.
  const counts = ({ sign }: Change) => !(sign === '-' && isOpen) && !(sign === '+' && isCut)
  const pairs = pairDeeds(before.deeds, after.deeds)
  const twins = pairs.filter((pair): pair is [Deed, Deed] => pair[0] !== undefined && pair[1] !== undefined)
  const found = [
    ...pairs.flatMap(([one, other]) => compareDeed(one, other)),
    ...compareOrder(twins, { before: before.deeds, after: after.deeds }, nameKind),
    ...compareHeld(before.deeds, after.deeds, nameKind),
  ]
  const changes = found.filter(counts)
  if (!isOpen && !isCut) changes.push(...compareEnds(before.end, after.end, withOutputs))
  if (changes.length > 0) return { kind: 'differs', changes: merge(changes) }
  if (isOpen && !isCut) return { kind: 'unknown', question: generalize(after.end.text) }
  return { kind: 'same' }
}

/** Null where both sides start: only then, what they do is compared. */
function compareStart({ unstarted: old = null }: RunSide, { unstarted: fresh = null }: RunSide): Comparison | null {
  const found = old ?? fresh
  if (found === null) return null
  if (old !== null && fresh !== null) return { kind: 'same' }
  const words = {
    from: fresh ? 'starts it' : `starts ${found.on}`,
    to: fresh ? `starts none: it runs on ${found.on}` : 'starts it',
  }
  const about = { class: 'start', operation: found.by, target: null, bytes: 0 } as const
  return { kind: 'differs', changes: [{ sign: fresh ? '-' : '+', ...about, ...words }] }
}

type Pair = [old: Deed | undefined, fresh: Deed | undefined]

/** Pairs effects by what they are and act on; those of one identity by their steps. */
function pairDeeds(before: readonly Deed[], after: readonly Deed[]): Pair[] {
  const identityOf = (deed: Deed) => JSON.stringify([deed.class, deed.operation, identifyTarget(deed)])
  const [olds, news] = [Map.groupBy(before, identityOf), Map.groupBy(after, identityOf)]
  return [...new Set([...olds.keys(), ...news.keys()])].flatMap((identity) => {
    return pair(olds.get(identity) ?? [], news.get(identity) ?? [])
  })
}

/** Pairs effects of one step; what is left over is paired in order. */
function pair(old: readonly Deed[], fresh: readonly Deed[]): Pair[] {
  if (old.length === 1 && fresh.length === 1) return [[old[0], fresh[0]]]
  const byStep = new Map(fresh.map((deed) => [deed.step, deed]))
  const paired = old.filter(({ step }) => byStep.has(step))
  const steps = new Set(paired.map(({ step }) => step))
  const restOld = old.filter(({ step }) => !steps.has(step))
  const restNew = fresh.filter(({ step }) => !steps.has(step))
  const rest = Array.from({ length: Math.max(restOld.length, restNew.length) }, (_, index) => {
    return [restOld[index], restNew[index]] as Pair
  })
  return [...paired.map((deed): Pair => [deed, byStep.get(deed.step)]), ...rest]
}

function nameKind(deed: Deed): Pick<Change, 'operation' | 'target'> {
  return { operation: deed.operation, target: generalizeTarget(targetOf(deed)) }
}

function compareDeed(old: Deed | undefined, fresh: Deed | undefined): Change[] {
  const deed = fresh ?? old
  if (deed === undefined) return []
  const about = {
    class: deed.class,
    ...nameKind(deed),
    bytes: fresh?.bytes ?? old?.bytes ?? 0,
  }
  if (!old || !fresh) return [{ sign: old ? '-' : '+', ...about, from: null, to: null }]
  return [
    ...compareInvoked(old, fresh),
    ...compareParts('expect', old.expect, fresh.expect),
    ...compareParts(CONTENTS[deed.class] ?? 'data', old.content, fresh.content),
  ].map((part) => ({ sign: '~' as const, ...about, ...part }))
}

/** The word for what an effect is made of, where it is not `data`. */
const CONTENTS: Partial<Record<Deed['class'], string>> = { write: 'input', approve: 'question' }

/** The names of what differs: values would make each run a group of its own. */
function compareParts(what: string, old?: string | null, fresh?: string | null): { from: string; to: string }[] {
  if (old === undefined || fresh === undefined || old === fresh) return []
  if (old === null || fresh === null) {
    const word = (text: string | null) => (text === null ? `no \`${what}\`` : `\`${what}\``)
    return [{ from: word(old), to: word(fresh) }]
  }
  const names = differingNames(JSON.parse(old), JSON.parse(fresh))
  return names === null ? [] : [{ from: `\`${what}\``, to: `other \`${what}\`${names}` }]
}

/** Null where both are equal but for the order of their properties. */
function differingNames(old: unknown, fresh: unknown): string | null {
  if (!isPlainObject(old) || !isPlainObject(fresh)) return isEqual(old, fresh) ? null : ''
  const names = new Set([...Object.keys(old), ...Object.keys(fresh)])
  const differing = [...names].filter((name) => !isEqual(old[name], fresh[name])).sort()
  return differing.length === 0 ? null : `: ${differing.slice(0, 10).map(generalize).join(', ')}`
}

function isEqual(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isPlainObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}

function compareEnds(old: Ending, fresh: Ending, withOutputs: boolean): Change[] {
  const about = { sign: '~', operation: '', target: null, bytes: 0 } as const
  const [from, to] = [describeEnd(old), describeEnd(fresh)]
  if (from !== to) return [{ ...about, class: 'end', from, to }]
  if (!withOutputs || old.output === null || fresh.output === null) return []
  return compareParts('output', old.output, fresh.output).map((part) => ({ ...about, class: 'output', ...part }))
}

function describeEnd({ kind, text }: Ending): string {
  return text === '' ? kind : `${kind}: ${generalize(text)}`
}

/** One change for each kind; their bytes are added. */
function merge(changes: readonly Change[]): Change[] {
  const merged = new Map<string, Change>()
  for (const change of changes) {
    const key = describeChange(change)
    const known = merged.get(key)
    if (known) known.bytes += change.bytes
    else merged.set(key, { ...change })
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
}

/** A change as a line, such as `+ delete files.delete storage_a`. */
export function describeChange({ sign, class: kind, operation, target, from, to }: Omit<Change, 'bytes'>): string {
  const words = [sign, kind, operation, target ?? '', from === null && to === null ? '' : `${from} → ${to}`]
  return words.filter((word) => word !== '').join(' ')
}

/** One run that differs so; without a sample, a difference of no run. */
export function groupOf(changes: readonly Change[], sample?: Sample): Group {
  const deletes = changes.filter(({ sign, class: kind }) => kind === 'delete' && sign !== '~')
  return {
    key: changes.map(describeChange).join('; '),
    count: sample === undefined ? 0 : 1,
    bytes: deletes.reduce((sum, { bytes }) => sum + bytes, 0),
    changes: changes.map(({ bytes: _, ...change }) => ({ ...change, text: describeChange(change) })),
    samples: sample === undefined ? [] : [sample],
  }
}

export function differencesOf(verdict: Comparison, sample: Sample): Differences {
  const none = { ...NO_DIFFERENCES, runs: 1 }
  if (verdict.kind === 'same') return { ...none, answered: 1, same: 1 }
  if (verdict.kind === 'differs') return { ...none, answered: 1, groups: [groupOf(verdict.changes, sample)] }
  return { ...none, cannotSay: [{ question: verdict.question, count: 1, samples: [sample] }] }
}

/** The words of a question are its content: they may name a file, so each run has its own. */
function targetOf({ class: kind, target }: Deed): string | null {
  return kind === 'approve' ? null : target
}

/** An invoked workflow is compared apart, as a record may have lost its name. */
function identifyTarget(deed: Deed): string | null {
  return deed.class === 'invoke' ? null : targetOf(deed)
}

function compareInvoked({ class: kind, target: from }: Deed, { target: to }: Deed): { from: string; to: string }[] {
  return kind !== 'invoke' || from === null || to === null || from === to ? [] : [{ from, to }]
}

/** The storage of a file; of anything else the target, without what tells one from another. */
function generalizeTarget(target: string | null): string | null {
  if (target === null) return null
  return STORAGES.find((storage) => target.startsWith(`${storage}:`)) ?? generalize(target)
}

/** Text without ids and numbers, so that one kind of difference is one group. */
function generalize(text: string): string {
  return text
    .replace(/\[[^\]]*\]/g, '[…]')
    .replace(/\b([a-z]{2,5})_[A-Za-z0-9]*\d[A-Za-z0-9]*\b/g, '$1_…')
    .replace(/\d+/g, 'N')
    .slice(0, 300)
}
