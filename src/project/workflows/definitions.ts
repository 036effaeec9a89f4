import type { z } from 'zod'
import type { EventDefinition } from '../../author/define-event.ts'
import { type DeclaredKeys, declaredKeys } from '../../author/event-keys.ts'
import { withStorageNames } from '../../author/storage-name.ts'
import { isDefinition, listTriggers } from '../../author/trigger.ts'
import { describeError, type Failure, UpshotError } from '../../core/errors.ts'
import { matchType } from '../../core/incoming/event.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import { type LoadedModule, loadWorkflows } from './load-workflows.ts'

/** A shape of events that authors rely on. */
export interface UsedDefinition {
  /** A type, or a family such as `file.*`. */
  type: string
  /** Workflows that it starts or cancels; none where it is only waited for. */
  workflows: string[]
  covers(type: string): boolean
  /** The first place of an event's `data` that does not fit; null if all fit. */
  findFault(data: unknown, spellings: StorageSpellings): Misfit | null
}

/**
 * The event definitions of a folder's modules, each once. Throws `invalid_workflow` for a module
 * that does not load: its definitions are unknown.
 */
export async function listDefinitions(folder: string): Promise<UsedDefinition[]> {
  const before = declaredKeys.snapshot()
  const modules = await loadWorkflows(folder)
  const awaited = listAwaited(declaredKeys.declaredSince(before))
  const used = new Map<unknown, UsedDefinition>()
  for (const [definition, workflow] of [...modules.flatMap(usesOf), ...awaited]) {
    const known = used.get(definition.data) ?? use(definition)
    if (workflow !== null && !known.workflows.includes(workflow)) known.workflows.push(workflow)
    used.set(definition.data, known)
  }
  return [...used.values()].sort((one, other) => (one.type < other.type ? -1 : 1))
}

/** The error of a module that does not load. */
export function describeUnknown(file: string, { message }: Pick<Failure, 'message'>): UpshotError {
  return new UpshotError('invalid_workflow', `${file} does not load, so its events are unknown: ${message}`)
}

type Use = [definition: Pick<EventDefinition, 'type' | 'data'>, workflow: string | null]

function usesOf(module: LoadedModule): Use[] {
  if (module.kind === 'broken') {
    throw describeUnknown(module.file, describeError(module.error))
  }
  const { id, on, cancelOn = [] } = module.workflow
  const triggers = [...listTriggers(on), ...[cancelOn].flat().map((rule) => rule.on)]
  return triggers.filter(isDefinition).map((definition) => [definition, id])
}

/** Definitions with keys, which `step.waitFor` finds events by. */
function listAwaited(declared: DeclaredKeys): Use[] {
  return [...declared.values()].map(({ definition }) => [definition, null])
}

function use({ type, data }: Use[0]): UsedDefinition {
  return {
    type,
    workflows: [],
    covers: (other) => matchType(type, other),
    findFault(value, spellings) {
      const [issue] = withStorageNames(spellings, () => data.safeParse(value)).error?.issues ?? []
      return issue === undefined ? null : describeMisfit(issue, value)
    },
  }
}

/** A place of an event's `data` that does not fit its definition. */
interface Misfit {
  /** Such as `data.file.size`. */
  at: string
  /** Holds no value of the event. */
  fault: string
  /** The definition's own words, and the value as JSON text: only for a terminal. */
  shown: string
}

/** Characters of a value that are shown. */
const SHOWN = 200

/** A message of the definition may hold values of the event, so the fault is told in our words. */
function describeMisfit(issue: z.core.$ZodIssue, data: unknown): Misfit {
  const value = issue.path.reduce<unknown>((inner, name) => (inner as Record<PropertyKey, unknown>)?.[name], data)
  const text = JSON.stringify(value) ?? 'missing'
  const cut = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
  return {
    at: ['data', ...issue.path].join('.'),
    fault: describeFault(issue, value),
    shown: `${issue.message} (it is ${cut})`,
  }
}

function describeFault(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected}, is ${kindOf(value)}`
    case 'invalid_value':
      return `is not one of the expected values: ${kindOf(value)}`
    case 'invalid_format':
      return `expected ${issue.format}, is another ${kindOf(value)}`
    case 'too_small':
    case 'too_big':
      return `is out of the expected bounds: ${kindOf(value)}`
    case 'unrecognized_keys':
      return `has ${issue.keys.length} names that were not expected`
    default:
      return `does not fit as expected: ${kindOf(value)}`
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value === 'string' ? 'text' : typeof value
}
